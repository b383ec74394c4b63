"""What a plan means for the pods of a node that goes."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from nodewright.domain.disruption.method import Relocation
from nodewright.domain.plans import Launch, Plan
from nodewright.domain.pods import PodKey


def relocation(plan: Plan, moving: Collection[PodKey], on_the_way: Mapping[str, str]) -> Relocation:
    """The part of a plan, for all who need a place, that is about these pods.

    `on_the_way`: rooms that aren't initialized yet → their claims.
    """
    wanted = frozenset(moving)
    taking = [each.node for each in plan.nominations if not wanted.isdisjoint(each.pods)]
    return Relocation(
        launches=tuple(_with(plan.launches, wanted)),
        awaited=tuple(on_the_way[room] for room in taking if room in on_the_way),
        homeless=tuple(each for each in plan.unschedulable if each.pod in wanted),
    )


def _with(launches: Collection[Launch], wanted: frozenset[PodKey]) -> Iterator[Launch]:
    """Nodes for others alone are provision's to buy."""
    for launch in launches:
        nodes = tuple(pods for pods in launch.nodes if not wanted.isdisjoint(pods))
        if nodes:
            yield replace(launch, nodes=nodes)
