"""Pods that aren't there mustn't keep those that are from their places.

A node that is bought for them may be a domain that a spread counts and nobody is in (nodeTaintsPolicy Ignore, the
default, counts nodes of every pool): then pods that were planned before it was known may never be bound.
"""

import itertools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from nodewright.domain.limits import NODES, Limits
from nodewright.domain.plans import Launch, LaunchOffering, Plan, Unschedulable
from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling.entangled import are_entangled
from nodewright.domain.scheduling.final_state import offered_labels
from nodewright.domain.scheduling.rules import SpreadRule, is_host, rules_of, topology_keys
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
    """Whatever its nodes become."""
    futures = itertools.chain((plan,), _futures(everybody, plan))
    return not any(unkept(everybody, _together(everybody, (*before, each))) for each in futures)


def _futures(everybody: Snapshot, plan: Plan) -> Iterator[Plan]:
    """With its nodes as one kind after the other of those that rules tell apart, as far as they may be that."""
    read = frozenset(_read(everybody))
    kinds = [_kinds(everybody, launch, read) for launch in plan.launches]
    several = sorted({kind for each in kinds if len(each) > 1 for kind in each}, key=str)
    for kind in several[:_MOST]:
        launches = (
            replace(each, offerings=of.get(kind, each.offerings)) for each, of in zip(plan.launches, kinds, strict=True)
        )
        yield replace(plan, launches=tuple(launches))


_MOST: Final = 32
_Kinds = Mapping[tuple[str | None, ...], tuple[LaunchOffering, ...]]


def _kinds(everybody: Snapshot, launch: Launch, read: Collection[str]) -> _Kinds:
    """Values of these labels → the offerings of a launch that have them."""
    options = next(each for each in everybody.pools if each.pool.name == launch.pool)
    found: defaultdict[tuple[str | None, ...], list[LaunchOffering]] = defaultdict(list)
    for each in launch.offerings:
        labels = offered_labels(options, launch, each)
        found[tuple(labels.get(key) for key in sorted(read))].append(each)
    return {kind: tuple(each) for kind, each in found.items()}


def _read(everybody: Snapshot) -> Iterator[str]:
    """Labels by which rules tell nodes apart, or know which they count."""
    for rule in {rule for pod in everybody.pods for rule in rules_of(pod)}:
        yield from (key for key in topology_keys(rule) if not is_host(key))
        if isinstance(rule, SpreadRule):
            yield from (key for each in rule.nodes.alternatives or () for key in each)


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
