"""A plan and its snapshot, looked at afterwards: who is where, what is left, and how a pod fares in every pool."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

import numpy as np

from nodewright.domain import nodes
from nodewright.domain.limits import Limits
from nodewright.domain.plans import Content, Launch, Plan
from nodewright.domain.pods import DaemonSet, Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirements
from nodewright.domain.scheduling.admission import admission
from nodewright.domain.scheduling.arrays import Bools
from nodewright.domain.scheduling.at_risk import capped
from nodewright.domain.scheduling.company import FRESH, Company, Labels, Place, places
from nodewright.domain.scheduling.explanations import Fallen, OnNewNode, OnNode, Outcome, Rule, Verdict, Waits
from nodewright.domain.scheduling.limits import limited
from nodewright.domain.scheduling.market_sieves import PodInMarket, row_labels
from nodewright.domain.scheduling.offerings import Market
from nodewright.domain.scheduling.relaxing import shown
from nodewright.domain.scheduling.room_sieves import room_stages
from nodewright.domain.scheduling.shapes import Wish, group
from nodewright.domain.scheduling.shelf_words import best
from nodewright.domain.scheduling.sieves import Sieved, Stage, cured, sift, verdict
from nodewright.domain.scheduling.spared import exotic
from nodewright.domain.scheduling.tiers import Tier, tiers
from nodewright.domain.snapshot import PoolOptions, Room, Snapshot
from nodewright.domain.taints import untolerated
from nodewright.domain.usage import node_usage


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A pod in one pool."""

    market: Market
    """Of several under the pool's open labels the one in which most is left."""
    sieved: Sieved
    would_hold: Bools
    """Rows that every rule leaves, those spared for others included."""
    verdict: Verdict


class PlanView:
    """What explanations look at."""

    def __init__(self, snapshot: Snapshot, plan: Plan) -> None:
        self.snapshot = snapshot = capped(snapshot)
        self.plan = plan
        self.pending: Final[Mapping[PodKey, Pod]] = {pod.key: pod for pod in snapshot.pods}
        self.outcomes: Final[Mapping[PodKey, Outcome]] = dict(_outcomes(plan))
        self.rooms: Final = tuple(sorted(snapshot.rooms, key=lambda room: room.name))
        self._places: tuple[Place, ...] = places(snapshot, plan)
        self._sent = {nomination.node: nomination.pods for nomination in plan.nominations}
        self._after = tuple(_less(options, plan) for options in snapshot.pools if not options.pool.terminating)

    def looks(self, pod: Pod) -> tuple[Look, ...]:
        """Pool by pool, in the order in which they are tried.

        One that was bought a node is looked at as before the plan, one that waits with what the plan leaves.
        """
        outcome = self.outcomes.get(pod.key)
        bought = isinstance(outcome, OnNewNode)
        pools = [options for options in self.snapshot.pools if not options.pool.terminating] if bought else self._after
        stalls = self._stalls(pod, pools)
        asker = _Asker(pod, outcome.node if isinstance(outcome, OnNewNode) else FRESH, self._company(pod, stalls))
        found = [look for place in stalls for look in _looks(place, asker, self.snapshot.daemon_sets)]
        names = list(dict.fromkeys(look.market.pool.name for look in found))
        return tuple(max((look for look in found if look.market.pool.name == name), key=_progress) for name in names)

    def on_nodes(self, pod: Pod) -> Verdict:
        """On those that are there and take pods, beside everything else this plan sends there."""
        free = [self.free(room, pod) for room in self.rooms]
        company = self.company(pod)
        units = np.arange(len(self.rooms))
        sieved = sift(units, room_stages(self.rooms, free, pod, company))
        return verdict("", units, sieved, lambda rows: ", ".join(self._names(rows)))

    def free(self, room: Room, without: Pod | None = None) -> Resources:
        """What is left of a node when this plan's pods are there, all but one."""
        others = (key for key in self._sent.get(room.name, ()) if without is None or key != without.key)
        return room.available - sum((self.pending[key].requests for key in others), Resources())

    def unmet(self, pod: Pod) -> tuple[str, ...]:
        """Preferences that don't hold where it goes, and why the plan doesn't keep them."""
        at = next((place for place in self._places if any(other.key == pod.key for other in place.pods)), None)
        why = {each.preference: f"; {each.reason}" for each in self.plan.relaxed}
        found = self.company(pod).unmet(at.labels) if at else ()
        return tuple(told + why.get(shown(preference), "") for preference, told in found)

    def company(self, pod: Pod) -> Company:
        """The rules between pods, for this one."""
        return self._company(pod, self._stalls(pod, self._after))

    def new_nodes(self) -> Iterator[tuple[str, Launch, tuple[PodKey, ...]]]:
        """`new-1`, `new-2`, … in the order of the plan."""
        return _new_nodes(self.plan)

    def content(self, new: str) -> Content:
        """All that a new node is bought for."""
        contents = [content for launch in self.plan.launches for content in launch.contents]
        names = (name for name, _, _ in self.new_nodes())
        return next(content for name, content in zip(names, contents, strict=True) if name == new)

    def _names(self, rows: Bools) -> list[str]:
        return [self.rooms[row].name for row in np.flatnonzero(rows)]

    def _stalls(self, pod: Pod, pools: Sequence[PoolOptions]) -> tuple[Tier, ...]:
        """With every value between which rules between pods may make a pool's open labels choose."""
        rules = {spread.topology_key for spread in pod.spreads}
        rules |= {term.topology_key for term in (*pod.affinity, *pod.anti_affinity)}
        rules |= {term.topology_key for place in self._places for each in place.pods for term in each.anti_affinity}
        listed = [options.pool.requirements[key] for options in pools for key in rules & {*options.pool.requirements}]
        values = {(each.key, value) for each in listed if not each.complement for value in each.values}
        choices = [Wish((Requirements.from_labels({key: value}),), ()) for key, value in sorted(values)]
        return tiers(pools, group([pod]), self.snapshot.daemon_sets, choices)

    def _company(self, pod: Pod, stalls: Sequence[Tier]) -> Company:
        return Company(self.snapshot, self._places, pod, lambda keys: _reachable(pod, stalls, keys))


def without_types(market: Market) -> Verdict:
    """Of a pool whose class can't be used, or that is of another region's."""
    node_class = market.pool.node_class
    return Verdict(
        name=market.pool.name,
        candidates=0,
        fallen=(),
        left=0,
        nearest=f"no instance types are known for its class {node_class}",
        advice=f"look at the warnings about class {node_class}",
    )


def _outcomes(plan: Plan) -> Iterator[tuple[PodKey, Outcome]]:
    for nomination in plan.nominations:
        for pod in nomination.pods:
            yield pod, OnNode(nomination.node, len(nomination.pods) - 1)
    for name, launch, pods in _new_nodes(plan):
        for pod in pods:
            yield pod, OnNewNode(name, launch, len(pods) - 1)
    for each in plan.unschedulable:
        yield each.pod, Waits(each.reason, each.message)


def _new_nodes(plan: Plan) -> Iterator[tuple[str, Launch, tuple[PodKey, ...]]]:
    number = 0
    for launch in plan.launches:
        for pods in launch.nodes:
            number += 1
            yield f"new-{number}", launch, pods


def _less(options: PoolOptions, plan: Plan) -> PoolOptions:
    """A pool with what this plan leaves of its limits: everything in a launch list counts."""
    if options.remaining is None:
        return options
    kinds = {kind.name: kind for kind in options.instance_types}
    remaining = Limits(limited(options))
    for launch in plan.launches:
        if launch.pool == options.pool.name:
            usages = [node_usage(kinds[each.instance_type].capacity, each.price) for each in launch.offerings]
            most = reduce(Resources.maximum, usages, Resources())
            remaining -= most.times(len(launch.nodes))
    return replace(options, remaining=remaining)


@dataclass(frozen=True, slots=True, eq=False)
class _Asker:
    """A pod, the host name of the node that is bought for it, and the rules between pods for it."""

    pod: Pod
    host: str
    company: Company


def _looks(place: Tier, asker: _Asker, daemon_sets: Sequence[DaemonSet]) -> Iterator[Look]:
    """In every market of a tier. What is spared for others is so while the whole tier has something else."""
    pod = asker.pod
    admitted = admission(place, group([pod]))
    asked_for = admitted.masks[admitted.mask_of[0]]
    for number, market in enumerate(place.markets):
        request = place.request(pod.requests)
        judge = PodInMarket(place, number, pod, request, daemon_sets, asker.company, asker.host)
        yield _look(market, tuple(judge.stages()), asked_for[place.rows(number)])


def _look(market: Market, stages: Sequence[Stage], asked_for: Bools) -> Look:
    units = market.shelf.type_of
    sieved = sift(units, stages)
    if not market.shelf.rows:
        return Look(market, sieved, sieved.left, without_types(market))
    if sieved.last is not None:
        told = verdict(market.pool.name, units, sieved, best(market), cured(units, stages, sieved))
        return Look(market, sieved, sieved.left, told)
    kept = _without_spared(market, sieved, asked_for)
    return Look(market, kept, sieved.left, verdict(market.pool.name, units, kept, best(market)))


def _without_spared(market: Market, sieved: Sieved, asked_for: Bools) -> Sieved:
    """Less what is kept for pods that ask for it, where something else is left."""
    left = sieved.left & asked_for
    spared = set(market.shelf.type_of[sieved.left]) - set(market.shelf.type_of[left])
    if not left.any() or not spared:
        return sieved
    fallen = Fallen(
        Rule.SPARED, len(spared), f"{_spared(market, sieved.left & ~asked_for)}: for pods that ask for such"
    )
    return replace(sieved, fallen=(*sieved.fallen, fallen), left=left)


def _spared(market: Market, rows: Bools) -> str:
    """How many of which sort."""
    odd = rows & exotic(market)
    counts = {"bare metal or accelerated": odd, "of another architecture than amd64": rows & ~odd}
    shown = {what: len(set(market.shelf.type_of[each])) for what, each in counts.items()}
    return ", ".join(f"{count} {what}" for what, count in shown.items() if count)


def _progress(look: Look) -> tuple[int, int]:
    return look.verdict.left, look.sieved.passed


def _reachable(pod: Pod, stalls: Iterable[Tier], keys: Sequence[str]) -> Iterator[Labels]:
    """Labels of what could be bought for it if size and number didn't matter."""
    for place in stalls:
        for market in place.markets:
            if untolerated(pod.tolerations, market.pool.taints):
                continue
            rows = market.permitted & market.columns.admits_any(pod.alternatives)
            for row, labels in enumerate(row_labels(market, keys)):
                if rows[row]:
                    yield {key: value for key, value in labels.items() if key != nodes.HOSTNAME_LABEL}
