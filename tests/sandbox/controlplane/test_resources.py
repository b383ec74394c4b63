import pytest

from sandbox.controlplane.resources import Resource, read_discovery, read_group_version

PODS = Resource("", "v1", "pods", "Pod", namespaced=True, verbs=frozenset({"get", "list"}))
NODES = Resource("", "v1", "nodes", "Node", namespaced=False, verbs=frozenset({"get"}))
POOLS = Resource("karpenter.sh", "v1", "nodepools", "NodePool", namespaced=False, verbs=frozenset({"get"}))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (PODS.path(None), "/api/v1/pods"),
        (PODS.path("default"), "/api/v1/namespaces/default/pods"),
        (PODS.path("default", "web"), "/api/v1/namespaces/default/pods/web"),
        (PODS.path("default", "web", "eviction"), "/api/v1/namespaces/default/pods/web/eviction"),
        (NODES.path("default", "n1", "status"), "/api/v1/nodes/n1/status"),
        (POOLS.path(None, "pool"), "/apis/karpenter.sh/v1/nodepools/pool"),
    ],
)
def test_paths_follow_group_scope_and_subresource(path: str, expected: str) -> None:
    assert path == expected


def test_subresources_are_no_resources_of_their_own() -> None:
    pod = {"name": "pods", "kind": "Pod", "namespaced": True, "verbs": ["get", "list"]}
    answer = {"groupVersion": "v1", "resources": [pod, {**pod, "name": "pods/status"}]}

    assert list(read_group_version(answer)) == [PODS]


def test_a_kind_served_in_two_versions_is_listed_in_the_preferred_one() -> None:
    def entry(plural: str, kind: str) -> dict[str, object]:
        return {"resource": plural, "responseKind": {"kind": kind}, "scope": "Cluster", "verbs": ["get"]}

    versions = [
        {"version": "v1", "resources": [entry("nodepools", "NodePool")]},
        {"version": "v1beta1", "resources": [entry("nodepools", "NodePool"), entry("machines", "Machine")]},
    ]
    found = list(read_discovery({"items": [{"metadata": {"name": "karpenter.sh"}, "versions": versions}]}))

    assert [(resource.kind, resource.version) for resource in found] == [("NodePool", "v1"), ("Machine", "v1beta1")]
