"""Pods that aren't there come last: expected ones with what real ones leave, headroom with what those leave.

So they never take room, a node or a limit that a pod of higher rank needs, and what they add is known apart.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final

from nodewright.domain.plans import Foresight, Launch, Nomination, Plan, Unschedulable
from nodewright.domain.pods import Pod, PodKey, StandsFor
from nodewright.domain.scheduling.proving import proven
from nodewright.domain.scheduling.succession import Succession
from nodewright.domain.scheduling.twins import twins
from nodewright.domain.scheduling.unhindering import sold_out, unhindering
from nodewright.domain.snapshot import Snapshot

Planner = Callable[[Snapshot], Plan]
Kinds = Mapping[PodKey, StandsFor]

_LIMITED: Final = frozenset({"LimitReached", "MinValuesNotMet"})
"""Why nothing is bought for a pod that might be if more of a limit were left."""


def foreseeing(snapshot: Snapshot, planner: Planner) -> Plan:
    """A plan for the pods of a snapshot, with room for those that aren't there. One that was cut has none for them."""
    expected, headroom = snapshot.expected, snapshot.headroom
    if not (expected or headroom):
        return planner(snapshot)
    everybody = replace(snapshot, pods=(*snapshot.pods, *expected, *headroom), expected=(), headroom=())
    pods_by_key = {pod.key: pod for pod in everybody.pods}
    succession = Succession(everybody)
    real = planner(succession.left(snapshot.pods))
    if real.truncated:
        return real
    succession.add(real)
    plans: dict[StandsFor, Plan] = {"itself": real}
    kinds: tuple[tuple[StandsFor, tuple[Pod, ...]], ...] = (("expected", expected), ("headroom", headroom))
    for kind, pods in kinds:
        before = tuple(plans.values())
        placeless = {each.pod: each for each in twins(pods, pods_by_key, before)}
        left = _kept_for(before, succession.left([pod for pod in pods if pod.key not in placeless]))
        plan = unhindering(everybody, before, left, planner) if left.pods else Plan()
        succession.add(plan)
        plans[kind] = replace(plan, unschedulable=_in_order((*plan.unschedulable, *placeless.values())))
    return _together(everybody, succession, plans, {key: pod.stands_for for key, pod in pods_by_key.items()})


def _kept_for(others: Iterable[Plan], snapshot: Snapshot) -> Snapshot:
    """Where a limit kept a pod of higher rank out, what is left of the limit waits for it."""
    if not any(each.reason in _LIMITED for plan in others for each in plan.unschedulable):
        return snapshot
    return replace(snapshot, pools=tuple(each if each.remaining is None else sold_out(each) for each in snapshot.pools))


def _in_order(left: Iterable[Unschedulable]) -> tuple[Unschedulable, ...]:
    return tuple(sorted(left, key=lambda each: each.pod))


def _together(everybody: Snapshot, succession: Succession, plans: Mapping[StandsFor, Plan], kinds: Kinds) -> Plan:
    real = plans["itself"]
    whole = succession.launches()
    launches = tuple(_sorted_out(each, kinds) for each in whole)
    more = any(each.expected or each.headroom for each in launches)
    if not more:
        launches = real.launches
    sent = succession.nominations()
    return replace(
        real,
        launches=launches,
        cost=sum(plan.cost for plan in plans.values()),
        bound=_bound(everybody, real, whole) if more else real.bound,
        truncated=any(plan.truncated for plan in plans.values()),
        expected=_foresight("expected", plans["expected"], launches, sent, kinds),
        headroom=_foresight("headroom", plans["headroom"], launches, sent, kinds),
    )


def _bound(everybody: Snapshot, real: Plan, launches: tuple[Launch, ...]) -> int | None:
    """What pods that are there cost at least all of them do."""
    return None if real.bound is None else max(real.bound, proven(everybody, launches))


def _foresight(
    kind: StandsFor, plan: Plan, launches: tuple[Launch, ...], sent: tuple[Nomination, ...], kinds: Kinds
) -> Foresight:
    """Nominations of one kind to rooms that are there; what went to new nodes is in the launches."""
    of_kind = ((each.node, _of(kind, each.pods, kinds)) for each in sent)
    bought = (node for launch in launches for node in (launch.expected if kind == "expected" else launch.headroom))
    return Foresight(
        nominations=tuple(Nomination(node, pods) for node, pods in of_kind if pods),
        bought=sum(map(len, bought)),
        cost=plan.cost,
        left=plan.unschedulable,
    )


def _sorted_out(launch: Launch, kinds: Kinds) -> Launch:
    """Its pods by what they stand for; first the nodes of most pods that are there, should fewer nodes come."""
    nodes = sorted(launch.nodes, key=lambda node: -len(_of("itself", node, kinds)))
    expected = tuple(_of("expected", node, kinds) for node in nodes)
    headroom = tuple(_of("headroom", node, kinds) for node in nodes)
    return replace(
        launch,
        nodes=tuple(_of("itself", node, kinds) for node in nodes),
        expected=expected if any(expected) else (),
        headroom=headroom if any(headroom) else (),
    )


def _of(kind: StandsFor, pods: tuple[PodKey, ...], kinds: Kinds) -> tuple[PodKey, ...]:
    return tuple(pod for pod in pods if kinds[pod] == kind)
