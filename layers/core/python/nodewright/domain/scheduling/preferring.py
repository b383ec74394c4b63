"""Preferences (architecture §7): followed as far as they cost little enough, and never at a pod's expense.

First comes the plan without them. Preferences for zones may then add a share of its cost, others nothing, and
neither may leave a pod waiting that has a place in it. Preferences over hosts only choose among equal pods.
"""

from collections.abc import Iterator

from nodewright.domain.plans import Plan
from nodewright.domain.scheduling.budget import Budget
from nodewright.domain.scheduling.crowds import has_preferences
from nodewright.domain.scheduling.mingling import mingled
from nodewright.domain.scheduling.preference_stages import Planner, Settled, Stage, is_zonal
from nodewright.domain.snapshot import Snapshot


def preferring(snapshot: Snapshot, budget: Budget, planner: Planner) -> Plan:
    """The plan, with as many preferences kept as may be; without any, what the planner makes of it."""
    plan = planner(snapshot, budget)
    if plan.truncated or not has_preferences(snapshot):
        return plan
    settled = Settled(snapshot, plan)
    for zonal in (True, False) if _zones_come_first(snapshot) else (False, True):
        settled = Stage(settled, plan, budget, planner, zonal=zonal).run()
    return mingled(settled.snapshot, settled.plan)


def _zones_come_first(snapshot: Snapshot) -> bool:
    """The heavier sort does, for what is settled stays."""
    heaviest = {True: 0, False: 0}
    for weight, zonal in _weights(snapshot):
        heaviest[zonal] = max(weight, heaviest[zonal])
    return heaviest[True] >= heaviest[False]


def _weights(snapshot: Snapshot) -> Iterator[tuple[int, bool]]:
    for pod in snapshot.pods:
        wishes = pod.preferences
        yield from ((each.weight, is_zonal(each.requirements)) for each in wishes.nodes)
        for each in (*wishes.affinity, *wishes.anti_affinity):
            yield each.weight, is_zonal([each.term.topology_key])
