"""Pods that aren't there mustn't keep those that are from their places.

A node that is bought for them may be a domain that a spread counts and nobody is in (nodeTaintsPolicy Ignore, the
default, counts nodes of every pool): then pods that were planned before it was known may never be bound.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from nodewright.domain.limits import NODES, Limits
from nodewright.domain.plans import Launch, Plan, Unschedulable
from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling.entangled import are_entangled
from nodewright.domain.scheduling.succession import Succession
from nodewright.domain.scheduling.verifying import unkept
from nodewright.domain.snapshot import PoolOptions, Snapshot

_WHY: Final = (
    "where it would be, a topology spread could keep pods out that wait; it is planned again once they are bound"
)


def unhindering(
    everybody: Snapshot, before: Sequence[Plan], left: Snapshot, planner: Callable[[Snapshot], Plan]
) -> Plan:
    """A plan for the pods of `left`, made on what the plans `before` leave, that lets their pods come true.

    Where nodes would be in the way none is bought; where that isn't enough nobody is placed.
    """
    plan = planner(left)
    if not are_entangled(everybody) or _come_true(everybody, before, plan):
        return plan
    unbought = _told(planner(replace(left, pools=tuple(map(sold_out, left.pools)))), plan)
    if _come_true(everybody, before, unbought):
        return unbought
    return _told(Plan(unschedulable=tuple(Unschedulable(pod.key, "", "") for pod in left.pods)), plan)


def sold_out(options: PoolOptions) -> PoolOptions:
    """The pool without anything to buy."""
    return replace(options, remaining=Limits({**(options.remaining or {}), NODES: 0}))


def _come_true(everybody: Snapshot, before: Sequence[Plan], plan: Plan) -> bool:
    """Wherever its nodes come."""
    return not any(unkept(everybody, _together(everybody, (*before, each))) for each in (plan, *_zone_by_zone(plan)))


def _zone_by_zone(plan: Plan) -> Iterator[Plan]:
    """With its nodes in one zone after the other, as far as they may come there."""
    for zone in sorted({zone for launch in plan.launches if len(launch.zones) > 1 for zone in launch.zones}):
        yield replace(plan, launches=tuple(_in_zone(launch, zone) for launch in plan.launches))


def _in_zone(launch: Launch, zone: str) -> Launch:
    offerings = tuple(each for each in launch.offerings if each.zone == zone)
    return replace(launch, offerings=offerings or launch.offerings)


def _together(everybody: Snapshot, plans: Sequence[Plan]) -> Plan:
    succession = Succession(everybody)
    for plan in plans:
        succession.left(())
        succession.add(plan)
    return Plan(succession.launches(), succession.nominations())


def _told(plan: Plan, other: Plan) -> Plan:
    """With what is told of those left: whoever has a place in the other plan waits only for others."""
    why = {each.pod: each for each in other.unschedulable}
    return replace(plan, unschedulable=tuple(_reasons(plan, why)))


def _reasons(plan: Plan, why: Mapping[PodKey, Unschedulable]) -> Iterator[Unschedulable]:
    for each in plan.unschedulable:
        yield why.get(each.pod, Unschedulable(each.pod, "WaitsForOthers", _WHY))
