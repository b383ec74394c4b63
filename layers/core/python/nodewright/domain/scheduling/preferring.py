"""Preferences (architecture §7): followed as far as they cost little enough, and never at a pod's expense.

First comes the plan without them. Preferences for zones may then add a share of its cost, others nothing, and
neither may leave a pod waiting that has a place in it. Preferences over hosts only choose among equal pods.
"""

from collections.abc import Iterator
from dataclasses import replace

from nodewright.domain.plans import Plan
from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling.budget import Budget
from nodewright.domain.scheduling.crowds import SOFT_TAINT_WEIGHT
from nodewright.domain.scheduling.ignoring import respected
from nodewright.domain.scheduling.mingling import mingled
from nodewright.domain.scheduling.preference_stages import Stage, is_zonal
from nodewright.domain.scheduling.relaxing import Preference, relaxed
from nodewright.domain.scheduling.rules import is_host
from nodewright.domain.scheduling.settled import Planner, Settled
from nodewright.domain.scheduling.shapes import wish_of
from nodewright.domain.scheduling.soft_rules import SPREAD_WEIGHT
from nodewright.domain.scheduling.spared import minds_architecture, why_spared
from nodewright.domain.snapshot import Snapshot
from nodewright.domain.taints import is_soft
from nodewright.domain.topology import NO_PREFERENCES


def preferring(snapshot: Snapshot, budget: Budget, planner: Planner) -> Plan:
    """The plan, with as many preferences kept as may be; without any, what the planner makes of it."""
    snapshot = respected(snapshot)
    if not _has_preferences(snapshot):
        return planner(snapshot, budget)
    heaviest = _heaviest(snapshot)
    why: dict[Preference, str] = {}
    base = settled = Settled(snapshot, planner, budget)
    if base.quick.truncated:
        return base.quick
    for zonal in sorted((each for each in (True, False) if heaviest[each]), key=lambda each: -heaviest[each]):
        settled = _followed(settled, base, why, zonal=zonal)
    plan = settled.whole if settled is base else _measured(settled, base)
    plan = mingled(settled.snapshot, plan)
    return replace(plan, relaxed=relaxed(snapshot, plan, why))


def _followed(before: Settled, base: Settled, why: dict[Preference, str], *, zonal: bool) -> Settled:
    """On the nodes that are planned already, or on others if those keep more or, as much kept, cost less."""
    stage = Stage(before, base, zonal=zonal, whole=True)
    again = stage.repeated()
    if again is not None and stage.is_enough(again):
        why |= stage.given_up
        return again
    other, anew = _anew(before, base, zonal=zonal)
    if again is not None and (stage.lost, again.whole.cost) < (other.lost, anew.whole.cost):
        why |= stage.given_up
        return again
    why |= other.given_up
    return anew


def _anew(before: Settled, base: Settled, *, zonal: bool) -> tuple[Stage, Settled]:
    """Found out with quick plans where nobody waits, and only with whole ones where these don't agree."""
    if not base.quick.unschedulable:
        stage = Stage(before, base, zonal=zonal, whole=before.is_urgent)
        found = stage.run()
        if found is before or stage.is_confirmed(found):
            return stage, found
    stage = Stage(before, base, zonal=zonal, whole=True)
    return stage, stage.run()


def _has_preferences(snapshot: Snapshot) -> bool:
    return any(is_soft(taint) for options in snapshot.pools for taint in options.pool.taints) or any(
        pod.preferences != NO_PREFERENCES or any(not spread.hard for spread in pod.spreads) for pod in snapshot.pods
    )


def _heaviest(snapshot: Snapshot) -> dict[bool, int]:
    """Weight of the preferences for zones (True), and of others but those over hosts; 0: there are none.

    The heavier sort comes first, for what is settled stays; of equal ones zones.
    """
    heaviest = {True: 0, False: 0}
    for weight, zonal in _weights(snapshot):
        heaviest[zonal] = max(weight, heaviest[zonal])
    return heaviest


def _weights(snapshot: Snapshot) -> Iterator[tuple[int, bool]]:
    if any(is_soft(taint) for options in snapshot.pools for taint in options.pool.taints):
        yield SOFT_TAINT_WEIGHT, False
    for pod in snapshot.pods:
        wishes = pod.preferences
        yield from ((each.weight, is_zonal(each.requirements)) for each in wishes.nodes)
        terms = [(each.weight, each.term.topology_key) for each in (*wishes.affinity, *wishes.anti_affinity)]
        terms += [(SPREAD_WEIGHT, spread.topology_key) for spread in pod.spreads if not spread.hard]
        yield from ((weight, is_zonal([key])) for weight, key in terms if not is_host(key))


def _measured(settled: Settled, base: Settled) -> Plan:
    """With what is proven of plans without preferences, where that was for no other pods and other nodes."""
    plan, before = settled.whole, base.quick
    known = _bought(base.snapshot, before) <= _bought(base.snapshot, plan)
    known = known and _minding(settled.snapshot) == _minding(base.snapshot)
    return replace(plan, bound=before.bound if known else None)


def _minding(snapshot: Snapshot) -> frozenset[PodKey]:
    """Who may have nodes that are spared for those who say so (spared.py)."""
    return frozenset(pod.key for pod in snapshot.pods if minds_architecture(wish_of(pod)))


def _bought(snapshot: Snapshot, plan: Plan) -> frozenset[tuple[object, ...]]:
    """Pods on new nodes: of what weight their pool is, and for what some of the types are spared.

    Weights and spared types are rules to a plan, unless a preference leaves a pod nothing else.
    """
    pools = {options.pool.name: (options.pool.weight, why_spared(options)) for options in snapshot.pools}
    ranked = ((launch, *pools[launch.pool]) for launch in plan.launches)
    return frozenset(
        (pod, weight, frozenset(spared[name] for name in launch.instance_types))
        for launch, weight, spared in ranked
        for node in launch.nodes
        for pod in node
    )
