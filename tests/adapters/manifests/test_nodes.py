import json

from nodewright.adapters.manifests.nodes import NodeAmounts, read_nodes, read_one_node
from nodewright.domain.nodes import Node
from nodewright.domain.quantities import LARGEST
from nodewright.domain.taints import Taint
from tests.adapters.manifests.raw import Json


def node(**status: object) -> Json:
    return {
        "kind": "Node",
        "metadata": {
            "name": "n-1",
            "uid": "u-1",
            "labels": {"karpenter.sh/nodepool": "default"},
            "annotations": {"a": "b"},
            "creationTimestamp": "2026-01-02T03:04:05Z",
        },
        "spec": {
            "providerID": "aws:///eu-west-1a/i-0abc",
            "taints": [{"key": "a", "value": "b", "effect": "NoSchedule", "timeAdded": "2026-01-02T03:04:05Z"}],
            "unschedulable": True,
        },
        "status": {
            "capacity": {"cpu": "2", "memory": "4Gi"},
            "allocatable": {"cpu": "1930m", "memory": "3Gi", "pods": "30"},
            "conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": "True"}],
            **status,
        },
    }


def read(raw: Json) -> Node:
    return read_one_node(json.dumps(raw).encode())


def test_a_node_is_read_field_by_field() -> None:
    found = read(node())
    assert (found.name, found.uid, found.instance_id) == ("n-1", "u-1", "i-0abc")
    assert found.labels == {"karpenter.sh/nodepool": "default"}
    assert found.annotations == {"a": "b"}
    assert found.taints == (Taint("a", "b", "NoSchedule"),)
    assert dict(found.capacity) == {"cpu": 2000, "memory": 4 * 2**30}
    assert dict(found.allocatable) == {"cpu": 1930, "memory": 3 * 2**30, "pods": 30}
    assert found.ready
    assert found.unschedulable
    assert not found.terminating


def test_a_node_whose_kubelet_is_silent_is_not_ready() -> None:
    assert not read(node(conditions=[{"type": "Ready", "status": "Unknown"}])).ready


def test_a_node_that_has_just_been_created_has_nothing_yet() -> None:
    found = read({"metadata": {"name": "n-2"}, "spec": {}, "status": {}})
    assert not found.ready
    assert dict(found.allocatable) == {}


def test_unreadable_amounts_count_as_none_so_nothing_is_placed_there() -> None:
    assert dict(read(node(allocatable={"cpu": "lots"})).allocatable) == {}


def test_amounts_beyond_counting_are_more_than_enough() -> None:
    found = read(node(allocatable={"cpu": "4", "a.io/x": "1e30"})).allocatable
    assert dict(found) == {"cpu": 4000, "a.io/x": LARGEST}


def test_nodes_of_one_type_share_their_amounts() -> None:
    body = json.dumps({"items": [node(), node(), node(allocatable={"cpu": "1"})]}).encode()
    first, second, third = read_nodes(body, NodeAmounts()).items
    assert first.allocatable is second.allocatable
    assert dict(third.allocatable) == {"cpu": 1000}
