"""The first seed's manifests, as they stand."""

from nodewright.adapters.manifests.configuration import Configuration, read_configuration
from nodewright.adapters.manifests.pods import read_pod
from nodewright.domain.nodeclasses import BlockDevice, SelectorTerm
from nodewright.domain.pods import Pod
from tests.adapters.manifests.raw import Json, seed_one


def configuration() -> Configuration:
    return read_configuration([seed_one("node_pool")], [seed_one("node_class")])


def nginx() -> Pod:
    spec = seed_one("deployment")["spec"]
    assert isinstance(spec, dict)
    template: Json = spec["template"]
    return read_pod({**template, "metadata": {"name": "nginx-0", "labels": {"app": "nginx"}}})


def test_nothing_in_them_needs_a_warning() -> None:
    assert configuration().warnings == ()


def test_the_pool_allows_what_it_lists() -> None:
    (pool,) = configuration().pools
    assert (pool.name, pool.node_class, pool.weight) == ("karpenter-node-pool", "default", 50)
    assert pool.labels == {"scope": "karpenter-service"}
    assert dict(pool.limits or {}) == {"cpu": 20_000, "memory": 100 * 2**30}
    cpu = pool.requirements["karpenter.k8s.aws/instance-cpu"]
    assert cpu.allows("7")
    assert not cpu.allows("8")
    assert pool.requirements["karpenter.sh/capacity-type"].values == {"on-demand", "spot"}
    assert pool.requirements["topology.kubernetes.io/zone"].values == {"ap-northeast-2a", "ap-northeast-2b"}


def test_the_class_is_the_latest_bottlerocket_on_its_two_subnets() -> None:
    (node_class,) = configuration().node_classes
    assert node_class.ami_family == "Bottlerocket"
    assert node_class.ami_terms == (SelectorTerm(alias="bottlerocket@latest"),)
    assert [t.id for t in node_class.subnet_terms] == ["subnet-01aaaaaaaaaaaaaaa", "subnet-02aaaaaaaaaaaaaaa"]
    assert node_class.security_group_terms == (SelectorTerm(tags={"kubernetes.io/cluster/my-cluster": "owned"}),)
    assert node_class.role == "AmazonEKSNodeRole"
    assert node_class.metadata_options.http_put_response_hop_limit == 2
    assert node_class.block_devices == (
        BlockDevice("/dev/xvda", 2, "gp3", delete_on_termination=True),
        BlockDevice("/dev/xvdb", 20, "gp3", delete_on_termination=True),
    )


def test_a_pod_of_the_deployment_asks_for_its_limits_on_an_arm64_spot_node() -> None:
    pod = nginx()
    assert dict(pod.requests) == {"cpu": 250, "memory": 2**29, "pods": 1}
    assert pod.problems == ()
    (asked,) = pod.alternatives
    assert asked["kubernetes.io/arch"].values == {"arm64"}
    assert asked["karpenter.sh/capacity-type"].values == {"spot"}
    assert asked["karpenter.k8s.aws/instance-cpu"].values == {"2", "4"}


def test_pool_and_pod_can_be_met_together() -> None:
    (pool,) = configuration().pools
    (asked,) = nginx().alternatives
    assert not any(each.is_empty for each in pool.requirements.intersect(asked).values())
