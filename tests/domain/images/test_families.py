"""What holds for every family, read back by the sandbox's own parser, which shares no code with the writers."""

import pytest

from nodewright.domain.images import FAMILIES, USER_DATA_LIMIT_BYTES, Family, family, family_of_alias
from nodewright.domain.nodeclasses import Kubelet
from sandbox.nodes.user_data import Joining, read
from tests.domain.images.bootstraps import ALL_SETTINGS, TAINTS, bootstrap

#: All but Custom, whose user data is its author's.
each_family = pytest.mark.parametrize("of", [f for f in FAMILIES if f.alias], ids=lambda each: each.name)
#: The last version that every family has images for.
KUBERNETES = "1.32"
IMAGE_NAMES = {
    "AL2": "amazon-eks-node-1.32-v20261109",
    "AL2023": "amazon-eks-node-al2023-x86_64-standard-1.32-v20261109",
    "Bottlerocket": "bottlerocket-aws-k8s-1.32-x86_64-v1.45.0",
}


def told(of: Family, **changes: object) -> Joining:
    return read(of.user_data(bootstrap(**changes)), IMAGE_NAMES[of.name])


@each_family
def test_a_node_reads_which_cluster_to_join(of: Family) -> None:
    joining = told(of)
    assert joining.cluster == "prod"
    assert joining.endpoint == "https://k8s.example"
    assert joining.certificate_authority == "Q0E="


@each_family
def test_a_node_reads_its_labels(of: Family) -> None:
    assert told(of).labels == {"team": "a", "example.com/disk": "fast"}
    assert told(of, labels={}).labels == {}


@each_family
def test_a_node_reads_its_taints_also_two_of_one_key(of: Family) -> None:
    wanted = [
        {"key": taint.key, "effect": taint.effect} | ({"value": taint.value} if taint.value else {}) for taint in TAINTS
    ]
    read_back = [dict(taint) for taint in told(of, taints=TAINTS).taints]
    assert sorted(sorted(each.items()) for each in read_back) == sorted(sorted(each.items()) for each in wanted)
    assert told(of).taints == ()


@each_family
def test_a_node_reads_its_kubelet_settings(of: Family) -> None:
    joining = told(of, kubelet=ALL_SETTINGS)
    assert joining.max_pods == 58
    assert joining.system_reserved == {"cpu": "100m"}
    assert joining.kube_reserved == {"memory": "300Mi"}
    assert joining.eviction_hard == {"memory.available": "5%"}


@each_family
def test_what_is_unset_is_left_to_the_node(of: Family) -> None:
    joining = told(of)
    assert joining.max_pods is None
    assert joining.kube_reserved == joining.system_reserved == joining.eviction_hard == {}


@each_family
def test_equal_bootstraps_give_equal_bytes(of: Family) -> None:
    one = of.user_data(bootstrap(labels={"a": "1", "b": "2"}, kubelet=Kubelet(max_pods=5)))
    other = of.user_data(bootstrap(labels={"b": "2", "a": "1"}, kubelet=Kubelet(max_pods=5)))
    assert one == other
    assert one != of.user_data(bootstrap(labels={"a": "1", "b": "3"}, kubelet=Kubelet(max_pods=5)))


@each_family
def test_a_node_of_thirty_labels_stays_far_below_ec2s_limit(of: Family) -> None:
    labels = {f"karpenter.k8s.aws/instance-label-{number}": "some value" for number in range(30)}
    text = of.user_data(bootstrap(labels=labels, taints=TAINTS, kubelet=ALL_SETTINGS, certificate_authority="x" * 1500))
    assert len(text.encode()) < USER_DATA_LIMIT_BYTES / 2


@each_family
def test_each_architecture_has_a_standard_image_and_no_pair_two(of: Family) -> None:
    pairs = [(query.arch, query.variant) for query in of.queries(KUBERNETES, "latest")]
    assert {("amd64", "standard"), ("arm64", "standard")} <= set(pairs)
    assert len(pairs) == len(set(pairs))


@each_family
def test_a_pinned_version_is_another_parameter(of: Family) -> None:
    latest = {query.parameter for query in of.queries(KUBERNETES, "latest")}
    pinned = {query.parameter for query in of.queries(KUBERNETES, "v1.62.0")}
    assert not latest & pinned


@each_family
def test_a_family_has_disks_for_its_pods(of: Family) -> None:
    assert max(device.volume_size_gib or 0 for device in of.block_devices) == 20


@each_family
def test_a_family_is_found_by_name(of: Family) -> None:
    assert family(of.name) is of


@each_family
def test_a_family_is_found_by_its_alias(of: Family) -> None:
    assert family_of_alias(f"{of.alias}@latest") is of


@pytest.mark.parametrize("name", ["Ubuntu", "al2023", ""])
def test_another_family_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(ValueError, match="use one of AL2023, Bottlerocket, AL2, Custom"):
        family(name)


@pytest.mark.parametrize("alias", ["ubuntu@latest", "AL2023", "@latest", ""])
def test_another_alias_is_refused_with_those_there_are(alias: str) -> None:
    with pytest.raises(ValueError, match="use one like al2023@latest, bottlerocket@latest, al2@latest"):
        family_of_alias(alias)


def test_names_and_aliases_are_different() -> None:
    assert len({each.name for each in FAMILIES}) == len({each.alias for each in FAMILIES}) == len(FAMILIES)
