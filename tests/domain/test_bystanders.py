"""Nodes that take no pods."""

from dataclasses import replace

from nodewright.domain.bystanders import bystanders, stepping_back
from nodewright.domain.nodes import NAME_FIELD
from nodewright.domain.pods import PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.rooms import rooms
from tests.builders import NOW, node, pod, room, snapshot, taint


def test_every_node_that_is_no_room_stands_by() -> None:
    nodes = [
        node("taking"),
        replace(node("cordoned"), unschedulable=True),
        node("broken", ready=False),
        replace(node("going"), terminating=True),
    ]
    found = bystanders(nodes, rooms(nodes, [], [], [], NOW), [], ())
    assert [each.name for each in found] == ["broken", "cordoned", "going"]


def test_it_keeps_labels_taints_and_pods_and_has_no_room() -> None:
    closed = node("n", labels={"zone": "a"}, taints=(taint("x"),), unschedulable=True)
    there = pod("a", node_name="n", phase="Running")
    (found,) = bystanders([closed], [], [there, pod("done", node_name="n", phase="Succeeded"), pod("waits")], ())
    assert (found.labels["zone"], found.labels[NAME_FIELD]) == ("a", "n")
    assert found.taints == (taint("x"),)
    assert found.pods == (there,)
    assert found.available == Resources()


def test_pods_that_are_planned_anew_are_not_counted_there() -> None:
    there = [pod("a", node_name="n"), pod("b", node_name="n")]
    (found,) = bystanders([node("n")], [], there, {PodKey("default", "a")})
    assert [each.key.name for each in found.pods] == ["b"]


def test_rooms_that_step_back_keep_their_pods() -> None:
    found = stepping_back(replace(snapshot(rooms=[room("a"), room("b")]), bystanders=(room("c"),)), {"a"})
    assert [each.name for each in found.rooms] == ["b"]
    assert [each.name for each in found.bystanders] == ["c", "a"]
