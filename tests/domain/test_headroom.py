"""Room that is kept free."""

from dataclasses import replace
from fractions import Fraction

import pytest

from nodewright.domain.headroom import HEADROOM, CapacityBuffer, headroom, parse_headroom
from nodewright.domain.pods import Owner, Pod, PodKey
from nodewright.domain.pools import NodePool
from nodewright.domain.quantities import Resources
from nodewright.domain.taints import untolerated
from tests.builders import NOW, node, pod, pool, resources, taint


def kept(value: str, *running: Pod, **changes: object) -> tuple[Pod, ...]:
    of = pool("default", settings={HEADROOM: value}, **changes)
    return headroom((of,), (), NODES, running, NOW)


def on(name: str, of: str, **changes: object) -> Pod:
    return pod(name, node_name=of, phase="Running", **changes)  # type: ignore[arg-type]


NODES = (
    node("n", labels={"karpenter.sh/nodepool": "default"}),
    node("leaving", labels={"karpenter.sh/nodepool": "default"}, unschedulable=True),
    node("m", labels={"karpenter.sh/nodepool": "other"}),
    node("stranger"),
)


def total(units: tuple[Pod, ...]) -> Resources:
    return sum((each.requests for each in units), Resources())


def buffer(**changes: object) -> CapacityBuffer:
    made = CapacityBuffer(PodKey("default", "spare"), pod("unit", cpu="500m", memory="1Gi"))
    return replace(made, **changes)  # type: ignore[arg-type]


def test_resources_are_kept_in_units_of_a_core() -> None:
    units = kept("cpu=4,memory=8Gi")
    assert {each.requests for each in units} == {resources(cpu=1, memory="2Gi", pods=1)}
    assert [str(each.key) for each in units][:2] == [
        "nodewright.dev/default-headroom-0",
        "nodewright.dev/default-headroom-1",
    ]


@pytest.mark.parametrize(
    ("value", "units"),
    [("cpu=500m", 1), ("cpu=2500m,memory=1Gi", 3), ("memory=9Gi", 3), ("nvidia.com/gpu=2", 2), ("cpu=4,pods=2", 2)],
)
def test_units_add_up_to_what_was_said(value: str, units: int) -> None:
    found = kept(value)
    said = {name: amount for name, _, amount in (part.partition("=") for part in value.split(","))}
    assert total(found) == Resources({**resources(**said), "pods": units})


def test_a_share_is_of_what_the_pools_pods_request_but_for_daemons() -> None:
    daemon = on("agent", "n", cpu="1", memory="1Gi", owner=Owner("DaemonSet", "agent", "u"))
    mine = (on("a", "n", cpu="3", memory="4Gi"), on("b", "leaving", cpu="2", memory="2Gi"), daemon)
    others = (on("c", "m", cpu="9", memory="9Gi"), pod("waiting", cpu="9"), on("lost", "nowhere", cpu="9"))
    assert total(kept("10%", *mine, *others)) == resources(cpu="500m", memory=6 * 2**30 // 10 + 1, pods=1)
    assert kept("10%") == ()


def test_it_is_for_one_pool_whatever_its_taints_and_for_none_that_ends() -> None:
    (unit,) = kept("cpu=1")
    assert unit.alternatives[0].admits({"karpenter.sh/nodepool": "default"})
    assert not unit.alternatives[0].admits({"karpenter.sh/nodepool": "other"})
    assert not untolerated(unit.tolerations, (taint("team", "a"),))
    assert unit.stands_for == "headroom"
    assert kept("cpu=1", terminating=True) == ()


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("cpu=4,memory=8Gi", resources(cpu=4, memory="8Gi")),
        ("cpu=4, memory=8Gi", resources(cpu=4, memory="8Gi")),
        ("10%", Fraction(1, 10)),
        ("2.5%", Fraction(1, 40)),
        ("0%", Fraction(0)),
    ],
)
def test_what_can_be_said(value: str, read: object) -> None:
    assert parse_headroom(value) == read


@pytest.mark.parametrize(
    "value",
    ["", "4", "cpu", "cpu=", "cpu=x", "cpu=-1", "cpu=1,cpu=2", "101%", "-1%", "x%", "%", "cpu=1e30", "pods=2"],
)
def test_what_cannot_be_said_is_told_with_an_example(value: str) -> None:
    with pytest.raises(ValueError, match="write"):
        parse_headroom(value)


@pytest.mark.parametrize(("value", "meant"), [("CPU=4", "cpu"), ("ram=4Gi", "memory"), ("cpu=1,memroy=1Gi", "memory")])
def test_a_resource_that_is_not_there_is_told_what_was_meant(value: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"did you mean {meant}\\?"):
        parse_headroom(value)


@pytest.mark.parametrize(
    ("changes", "units"),
    [
        ({"replicas": 3}, 3),
        ({"replicas": 0}, 0),
        ({"percentage": 20, "scaled": 11}, 3),
        ({"percentage": 1, "scaled": 3}, 1),
        ({"percentage": 20, "scaled": 0}, 0),
        ({"replicas": 1, "percentage": 50, "scaled": 10}, 5),
        ({"replicas": 9, "limits": resources(cpu=2, memory="100Gi")}, 4),
        ({"limits": resources(memory="3Gi")}, 3),
        ({"replicas": 2, "limits": resources(gpu=1)}, 2),
        ({"replicas": 2, "limits": resources(cpu=-3)}, 0),
        ({"limits": resources(gpu=1)}, 0),
        ({}, 0),
    ],
)
def test_a_buffer_has_the_larger_size_within_its_limits(changes: dict[str, object], units: int) -> None:
    assert buffer(**changes).units == units


def test_a_buffer_is_so_many_pods_like_its_template() -> None:
    found = headroom((), (buffer(replicas=2),), (), (pod("spare-headroom-0"),), NOW)
    assert [each.key.name for each in found] == ["spare-headroom-1", "spare-headroom-2"]
    assert {each.requests for each in found} == {resources(cpu="500m", memory="1Gi", pods=1)}
    assert {each.stands_for for each in found} == {"headroom"}


def test_pools_without_the_setting_keep_nothing() -> None:
    pools: tuple[NodePool, ...] = (pool(),)
    assert headroom(pools, (), (), (), NOW) == ()
