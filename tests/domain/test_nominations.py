"""Which waiting pods are told of the node that was bought for them."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.nodes import Node
from nodewright.domain.nominations import PATIENCE, Nominate, nominations
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.retiring import begin
from nodewright.domain.topology import PodSelector, TopologySpread
from tests.builders import NOW, claim, node, pod, pods, requirements

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def bought_for(*waiting: Pod, **of: object) -> NodeClaim:
    return claim("c", **{"instance_id": "i-n", "nominated_pods": tuple(p.key for p in waiting), **of})


def joined(name: str = "n", **of: object) -> Node:
    return node(name, provider_id=f"aws:///a/i-{name}", **of)  # type: ignore[arg-type]


def told(of: NodeClaim, waiting: Iterable[Pod], *nodes: Node) -> tuple[Nominate, ...]:
    return nominations([of], nodes or [joined()], waiting, {}, NOW)


def spreading(count: int, key: str = ZONE, skew: int = 1) -> tuple[Pod, ...]:
    selector = PodSelector(requirements(("app", "In", "web")), frozenset({"default"}))
    return pods(count, labels={"app": "web"}, spreads=(TopologySpread(key, selector, skew),))


def test_pods_are_nominated_to_the_node_that_joined_for_them() -> None:
    mine = pods(2)
    expected = tuple(Nominate(p.key, p.uid, "n") for p in mine)
    assert told(bought_for(*mine), [*mine, pod("stranger")]) == expected


def test_before_its_node_is_there_nobody_is_told() -> None:
    mine = pods(1)
    assert nominations([bought_for(*mine)], [joined("other")], mine, {}, NOW) == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"node_name": "elsewhere"},
        {"gated": True},
        {"terminating": True},
        {"phase": "Failed"},
        {"nominated_node_name": "n"},
    ],
)
def test_who_is_bound_or_held_or_told_already_is_left_alone(changes: dict[str, object]) -> None:
    waiting = pod("p", **changes)  # type: ignore[arg-type]
    assert told(bought_for(waiting), [waiting]) == ()


def test_what_somebody_else_nominated_is_left_alone_while_that_node_is_there() -> None:
    waiting = pod("p", nominated_node_name="theirs")
    assert told(bought_for(waiting), [waiting], joined(), node("theirs")) == ()
    assert [each.node for each in told(bought_for(waiting), [waiting])] == ["n"]


@pytest.mark.parametrize("changes", [{"terminating": True}, {"unschedulable": True}])
def test_a_nomination_to_a_node_that_takes_nobody_any_more_is_withdrawn(changes: dict[str, object]) -> None:
    waiting, other = pod("p", nominated_node_name="n"), pod("q")
    gone = joined(**changes)  # type: ignore[arg-type]
    assert told(bought_for(waiting, other), [waiting, other], gone) == (Nominate(waiting.key, "uid-p", ""),)


def test_a_nomination_to_a_leaving_node_is_withdrawn() -> None:
    waiting = pod("p", nominated_node_name="n")
    leaving = begin(bought_for(waiting, state=ClaimState.INITIALIZED, node_name="n"), "expired", NOW)
    assert leaving is not None
    assert [each.node for each in told(leaving, [waiting])] == [""]


def test_a_pod_that_isnt_bound_soon_after_its_node_is_initialized_holds_its_room_no_longer() -> None:
    waiting = pod("p", nominated_node_name="n")
    fresh = bought_for(waiting, state=ClaimState.INITIALIZED, initialized=NOW - PATIENCE)
    late = replace(fresh, initialized=NOW - PATIENCE - timedelta(seconds=1))
    assert told(fresh, [waiting]) == ()
    assert told(late, [waiting]) == (Nominate(PodKey("default", "p"), "uid-p", ""),)
    assert told(late, [pod("p")]) == ()


@pytest.mark.parametrize(("skew", "sent"), [(1, 1), (2, 2), (5, 3)])
def test_no_more_of_a_spread_are_sent_to_one_node_than_bear_each_other(skew: int, sent: int) -> None:
    mine = spreading(3, skew=skew)
    assert len(told(bought_for(*mine), mine)) == sent


def test_who_is_bound_makes_way_for_the_next_of_a_spread() -> None:
    first, second, third = spreading(3)
    bound = replace(first, node_name="n")
    assert [each.pod for each in told(bought_for(first, second, third), [bound, second, third])] == [second.key]


def test_a_pod_that_a_spread_only_counts_waits_too() -> None:
    (owner,) = spreading(1)
    counted = pod("q", labels={"app": "web"})
    free = pod("r")
    assert [each.pod for each in told(bought_for(owner, counted, free), [owner, counted, free])] == [
        owner.key,
        free.key,
    ]


def test_soft_spreads_hinder_nobody() -> None:
    mine = tuple(replace(p, spreads=tuple(replace(s, hard=False) for s in p.spreads)) for p in spreading(3))
    assert len(told(bought_for(*mine), mine)) == 3
