"""Two ways to plan, and the better plan of them.

Pods under rules are placed one by one, or packed by shape as far as their rules are simple (grouped.py). The second
is faster and, with many pods, cheaper. Nodes that are there are filled pod by pod in any case; what then has to be
bought may still be packed better.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from nodewright.domain.plans import Plan
from nodewright.domain.scheduling.budget import Meter
from nodewright.domain.scheduling.entangled import Tangle, tangle
from nodewright.domain.scheduling.grouped import grouped
from nodewright.domain.scheduling.joint import JointPlan
from nodewright.domain.scheduling.planned_rooms import filled
from nodewright.domain.scheduling.shapes import Waiting, group
from nodewright.domain.scheduling.succession import completed
from nodewright.domain.snapshot import Snapshot

Planner = Callable[[Snapshot], Plan]
Judge = Callable[[Plan], Plan]


def better_plan(snapshot: Snapshot, careful: Planner, judged: Judge, meter: Callable[[], Meter]) -> Plan:
    """The plan that leaves fewer pods, then the cheaper one; of equal ones the careful one.

    `judged` makes of a proposal what is certain to come true.
    """
    few = len(snapshot.pods) <= _FEW
    if few and not meter().finishing:
        return judged(careful(snapshot))
    if snapshot.rooms:
        plan = judged(careful(snapshot))
        again = None if plan.truncated else _bought_anew(snapshot, plan, careful, meter())
        return plan if again is None or _rank(again) >= _rank(plan) else min(plan, judged(again), key=_rank)
    proposal = _grouped(snapshot, careful, meter())
    if proposal is None:
        return judged(careful(snapshot))
    plan = judged(proposal)
    if not plan.unschedulable and not few:
        return plan
    other = judged(careful(snapshot))
    plans = [other, plan]
    if _rank(other) < _rank(plan):
        again = _like(snapshot, other, careful, meter)
        plans += [] if again is None else [judged(again)]
    best = min(plans, key=_rank)
    bounds = [each.bound for each in plans if not each.unschedulable and each.bound is not None]
    # Of the same pods: what any of them proves holds for all.
    return replace(best, bound=max(bounds)) if len(bounds) == len(plans) else best


_FEW: Final = 1_000
"""Pods; so few are planned both ways, or pod by pod alone where the plan is wanted at once."""


def _rank(plan: Plan) -> tuple[int, int]:
    return len(plan.unschedulable), plan.cost


def _grouped(snapshot: Snapshot, careful: Planner, meter: Meter, like: Plan | None = None) -> Plan | None:
    sorted_out = _sorted_out(snapshot)
    if not sorted_out.kinds:
        return None
    # Whoever is set aside is for the careful path, which buys nothing for him.
    free = group(pod for pod in sorted_out.free if pod.key not in snapshot.set_aside)
    scene = JointPlan(snapshot, sorted_out, Waiting(free), meter).scene
    return grouped(snapshot, scene, free, meter, careful, like)


def _like(snapshot: Snapshot, plan: Plan, careful: Planner, meter: Callable[[], Meter]) -> Plan | None:
    """Packed by shape with pods in the domains of this plan; made cheaper only where that is no dearer at once."""
    quick = _grouped(snapshot, careful, meter().at_once(), like=plan)
    if quick is None or quick.cost > plan.cost:
        return None
    return min(quick, _grouped(snapshot, careful, meter(), like=plan) or quick, key=_rank)


def _sorted_out(snapshot: Snapshot) -> Tangle:
    return tangle(snapshot, [pod for pod in snapshot.pods if not pod.problems])


def _bought_anew(snapshot: Snapshot, plan: Plan, careful: Planner, meter: Meter) -> Plan | None:
    """The plan with other nodes for those who have to have new ones; others stay, and whoever was left looks again."""
    pods = {pod.key: pod for pod in snapshot.pods}
    sent = {each.node: tuple(pods[key] for key in each.pods) for each in plan.nominations}
    rooms = tuple(filled(room, sent.get(room.name, ())) for room in snapshot.rooms)
    buyers = tuple(pods[key] for launch in plan.launches for node in launch.nodes for key in node)
    part = replace(snapshot, pods=buyers, rooms=(), bystanders=(*snapshot.bystanders, *rooms))
    again = _grouped(part, careful, meter) if buyers else None
    if again is None or again.unschedulable:
        return None
    fresh = replace(again, nominations=plan.nominations)
    left = [pods[each.pod] for each in plan.unschedulable]
    whole = completed(snapshot, fresh, left, _sorted_out(snapshot).rules, careful)
    return None if whole is None else replace(whole, bound=again.bound)
