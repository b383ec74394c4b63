"""The second seed's manifests, as they stand."""

from datetime import timedelta

import pytest

from nodewright.adapters.manifests.configuration import Configuration, read_configuration
from nodewright.adapters.manifests.pods import read_pod
from nodewright.domain.nodeclasses import BlockDevice, NodeClass, SelectorTerm
from nodewright.domain.pods import Pod
from nodewright.domain.pools import NodePool
from tests.adapters.manifests.raw import Json, seed_one, seed_two

GENERAL, PROMETHEUS = "general", "prometheus-provisioner"


def configuration() -> Configuration:
    return read_configuration(
        [seed_two("general-provisioner"), seed_two("prometheus-provisioner")],
        [seed_two("general-awsnodetemplate"), seed_two("prometheus-awsnodetemplate")],
    )


def pool(name: str) -> NodePool:
    return next(each for each in configuration().pools if each.name == name)


def node_class(name: str) -> NodeClass:
    return next(each for each in configuration().node_classes if each.name == name)


def pod_of(name: str) -> Pod:
    spec = seed_two(name)["spec"]
    assert isinstance(spec, dict)
    template: Json = spec["template"]
    metadata = {"name": f"{name}-0", **template["metadata"]}  # type: ignore[dict-item]
    return read_pod({**template, "metadata": metadata})


def test_nothing_in_them_needs_a_warning() -> None:
    """That AL2 becomes AL2023 depends on the cluster, so it is said where the class is resolved."""
    assert configuration().warnings == ()


def test_pools_sell_the_types_they_list_on_demand() -> None:
    assert [(p.name, p.kind, p.node_class) for p in configuration().pools] == [
        (GENERAL, "Provisioner", "general"),
        (PROMETHEUS, "Provisioner", "prometheus-node-template"),
    ]
    asked = {name: pool(name).requirements for name in (GENERAL, PROMETHEUS)}
    assert asked[GENERAL]["node.kubernetes.io/instance-type"].values == {"c6i.8xlarge", "c6i.4xlarge"}
    assert asked[PROMETHEUS]["node.kubernetes.io/instance-type"].values == {"t4g.medium"}
    assert asked[PROMETHEUS]["kubernetes.io/arch"].values == {"arm64"}
    for each in asked.values():
        assert each["karpenter.sh/capacity-type"].values == {"on-demand"}
        assert each["topology.kubernetes.io/zone"].values == {"ap-northeast-2a", "ap-northeast-2c"}
        assert "karpenter.k8s.aws/instance-category" not in each


def test_nodes_are_consolidated_and_live_for_thirty_days() -> None:
    for each in configuration().pools:
        assert (each.consolidation_policy, each.consolidate_after) == ("WhenEmptyOrUnderutilized", timedelta(0))
        assert each.expire_after == timedelta(days=30)


def test_the_comma_list_is_either_subnet() -> None:
    assert node_class("prometheus-node-template").subnet_terms == (
        SelectorTerm(tags={"Name": "subnet-private-a"}),
        SelectorTerm(tags={"Name": "subnet-private-c"}),
    )
    assert node_class("general").subnet_terms == (SelectorTerm(tags={"karpenter.sh/discovery": "my-cluster"}),)


def test_templates_are_the_latest_al2_on_a_disk_of_their_own() -> None:
    general, prometheus = node_class("general"), node_class("prometheus-node-template")
    for each in (general, prometheus):
        assert (each.ami_family, each.ami_terms) == ("AL2", (SelectorTerm(alias="al2@latest"),))
        assert each.metadata_options.http_put_response_hop_limit == 2
    assert general.instance_profile == "KarpenterNodeInstanceProfile-my-cluster"
    assert prometheus.instance_profile == prometheus.role == ""
    assert prometheus.block_devices == (BlockDevice("/dev/xvda", 47, "gp3", 3000, 125, delete_on_termination=True),)
    assert prometheus.tags == {"Name": "prometheus", "nodegroup-role": "worker", "Team": "devops"}
    assert general.tags == {"Name": "general"}


@pytest.mark.parametrize(("workload", "name"), [("prometheus", PROMETHEUS), ("my-svc", GENERAL)])
def test_each_workload_fits_its_pool(workload: str, name: str) -> None:
    pod = pod_of(workload)
    (asked,) = pod.alternatives
    assert pod.problems == ()
    assert not any(each.is_empty for each in pool(name).requirements.intersect(asked).values())


def test_the_old_annotation_keeps_pods_from_being_disrupted() -> None:
    assert pod_of("prometheus").annotations["karpenter.sh/do-not-disrupt"] == "true"


def test_both_seeds_can_be_read_from_one_cluster() -> None:
    together = read_configuration(
        [seed_one("node_pool"), seed_two("general-provisioner"), seed_two("prometheus-provisioner")],
        [seed_one("node_class"), seed_two("general-awsnodetemplate"), seed_two("prometheus-awsnodetemplate")],
    )
    assert together.warnings == ()
    assert len(together.pools) == len(together.node_classes) == 3
