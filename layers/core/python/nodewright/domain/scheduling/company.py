"""Rules between pods, judged for one pod in the state that a plan leads to.

Slow and plain: it serves explanations, where the planner has its own way (kube-scheduler's
PodTopologySpread and InterPodAffinity are the source of both).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from nodewright.domain import nodes
from nodewright.domain.plans import Plan
from nodewright.domain.pods import DaemonSet, Pod, PodKey
from nodewright.domain.scheduling.lanes import own_labels
from nodewright.domain.scheduling.relaxing import Preference
from nodewright.domain.scheduling.soft_rules import Sort, soft_rule, soft_spread
from nodewright.domain.snapshot import Snapshot
from nodewright.domain.taints import Taint, untolerated
from nodewright.domain.topology import PodAffinityTerm, PodSelector, TopologySpread

FRESH: Final = "a new node"
"""The host name of a node that is yet to be bought: a domain that nobody is in."""

Labels = Mapping[str, str]


class Objection(NamedTuple):
    """What a rule has against a node."""

    rule: str
    here: str
    """With numbers and names."""
    advice: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.here}"


@dataclass(frozen=True, slots=True)
class Place:
    """A node with everything that is or will be on it."""

    name: str
    labels: Labels
    taints: tuple[Taint, ...]
    pods: tuple[Pod, ...]


def places(snapshot: Snapshot, plan: Plan) -> tuple[Place, ...]:
    """Nodes that are there, and those the plan buys (`new-1`, …), with the pods they will have."""
    pending = {pod.key: pod for pod in snapshot.pods}
    sent = {nomination.node: _known(nomination.pods, pending) for nomination in plan.nominations}
    there = [
        Place(room.name, room.labels, room.taints, (*room.pods, *sent.get(room.name, ())))
        for room in (*snapshot.rooms, *snapshot.bystanders)
    ]
    return (*there, *_bought(snapshot, plan, pending))


class Company:
    """What the rules between pods leave to one pod."""

    def __init__(
        self,
        snapshot: Snapshot,
        everywhere: Sequence[Place],
        pod: Pod,
        reachable: Callable[[Sequence[str]], Iterable[Labels]],
    ) -> None:
        """`reachable`: these labels of nodes that could be bought for it, as their values are domains, too."""
        self._snapshot = snapshot
        self._pod = pod
        keys = sorted({spread.topology_key for spread in pod.spreads})
        self._reachable = tuple(reachable(keys)) if keys else ()
        self._places = [
            Place(p.name, p.labels, p.taints, tuple(other for other in p.pods if other.key != pod.key))
            for p in everywhere
        ]
        self._checks: tuple[_Check, ...] = (
            *(self._spread(spread) for spread in pod.spreads if spread.hard),
            *([self._affinity()] if pod.affinity else []),
            *(self._repulsion(term) for term in pod.anti_affinity),
            *self._repulsions_of_others(),
        )

    @property
    def keys(self) -> frozenset[str]:
        """Node labels that matter to it."""
        own = {spread.topology_key for spread in self._pod.spreads if spread.hard}
        own |= {term.topology_key for term in (*self._pod.affinity, *self._pod.anti_affinity)}
        return frozenset(own | {term.topology_key for _, _, term in self._others()})

    def objection(self, labels: Labels, beside: Sequence[DaemonSet] = ()) -> Objection | None:
        """Of the first rule that keeps the pod off a node of these labels; `beside`: what will run on a new one."""
        return next((told for check in self._checks if (told := check(labels, beside)) is not None), None)

    def unmet(self, labels: Labels) -> Iterator[tuple[Preference, str]]:
        """Preferences that don't hold on a node of these labels, and what is there instead."""
        wishes = self._pod.preferences
        for each in wishes.nodes:
            if not each.requirements.admits(labels):
                yield each, f"nodes with {', '.join(map(str, each.requirements.values()))} (weight {each.weight})"
        for weighted in wishes.affinity:
            near = self._where(weighted.term.topology_key, partial(self._selects, weighted.term.selector))
            if labels.get(weighted.term.topology_key) not in near:
                key = weighted.term.topology_key
                told = f"one {key} with pods with {_shown(weighted.term)} (weight {weighted.weight})"
                yield soft_rule(Sort.TOGETHER, weighted), told
        for weighted in wishes.anti_affinity:
            objection = self._repulsion(weighted.term)(labels, ())
            if objection is not None:
                key = weighted.term.topology_key
                told = f"another {key} than pods with {_shown(weighted.term)}"
                yield soft_rule(Sort.APART, weighted), f"{told}: {objection.here} (weight {weighted.weight})"
        for spread in self._pod.spreads:
            objection = None if spread.hard else self._spread(spread)(labels, ())
            if objection is not None:
                yield soft_spread(spread), f"an even {objection}"

    def _spread(self, spread: TopologySpread) -> "_Check":
        counted = [place for place in self._places if self._is_counted(spread, place.labels, place.taints)]
        key = spread.topology_key
        found = Counter(dict.fromkeys(self._domains(spread, counted), 0))
        # kube-scheduler counts no pods at all for an empty selector.
        for place in counted if spread.selector.labels else ():
            found[place.labels[key]] += sum(self._selects(spread.selector, other) for other in place.pods)
        missing = len(found) < spread.min_domains
        least = 0 if missing else min(found.values(), default=0)
        most = least + spread.max_skew - self._selects(spread.selector, self._pod)

        def check(labels: Labels, beside: Sequence[DaemonSet]) -> Objection | None:
            value = labels.get(key)
            if value is None:
                return _lacking("spread", key)
            if found[value] + sum(self._takes(spread.selector, each) for each in beside) <= most:
                return None
            if missing:
                needs = f"spread over {key} needs {spread.min_domains} domains, {len(found)} reachable"
                return Objection(needs, f"{value} has {found[value]}", _FEW_DOMAINS)
            rule = f"spread over {key} (maxSkew {spread.max_skew}, the least is {least})"
            return Objection(rule, f"{value} has {found[value]}", _UNEVEN)

        return check

    def _is_counted(self, spread: TopologySpread, labels: Labels, taints: tuple[Taint, ...]) -> bool:
        if any(each.topology_key not in labels for each in self._pod.spreads if each.hard == spread.hard):
            return False
        if spread.honors_affinity and not any(each.admits(labels) for each in self._pod.alternatives):
            return False
        return not (spread.honors_taints and untolerated(self._pod.tolerations, taints))

    def _domains(self, spread: TopologySpread, counted: Iterable[Place]) -> set[str]:
        there = {place.labels[spread.topology_key] for place in counted}
        bought = {labels.get(spread.topology_key) for labels in self._reachable} - {None, FRESH}
        return there | {value for value in bought if value is not None}

    def _affinity(self) -> "_Check":
        terms = self._pod.affinity
        matching = [
            place
            for place in self._places
            if any(all(self._selects(term.selector, other) for term in terms) for other in place.pods)
        ]
        starts = not matching and all(self._selects(term.selector, self._pod) for term in terms)

        def check(labels: Labels, beside: Sequence[DaemonSet]) -> Objection | None:
            starting = starts or any(all(self._takes(term.selector, each) for term in terms) for each in beside)
            for term in terms:
                key = term.topology_key
                value = labels.get(key)
                if value is None:
                    return _lacking("affinity", key)
                if not starting and value not in {place.labels.get(key) for place in matching}:
                    rule = f"affinity over {key} to pods with {_shown(term)}"
                    return Objection(rule, f"none {'on' if value == FRESH else 'in'} {value}", _NOBODY)
            return None

        return check

    def _repulsion(self, term: PodAffinityTerm) -> "_Check":
        taken = self._where(term.topology_key, partial(self._selects, term.selector))
        told = f"anti-affinity over {term.topology_key} to pods with {_shown(term)}"
        avoid = _avoiding(term, taken, told)

        def check(labels: Labels, beside: Sequence[DaemonSet]) -> Objection | None:
            daemon = next((each for each in beside if self._takes(term.selector, each)), None)
            if daemon is not None and term.topology_key in labels:
                return Objection(told, f"DaemonSet {daemon.key} on every such node", _TAKEN)
            return avoid(labels, beside)

        return check

    def _repulsions_of_others(self) -> Iterator["_Check"]:
        for place, owner, term in self._others():
            value = place.labels.get(term.topology_key)
            taken = {} if value is None else {value: owner.key}
            yield _avoiding(term, taken, f"anti-affinity over {term.topology_key} of others")

    def _others(self) -> Iterator[tuple[Place, Pod, PodAffinityTerm]]:
        """Terms of others that keep this pod away."""
        for place in self._places:
            for other in place.pods:
                for term in other.anti_affinity:
                    if self._selects(term.selector, self._pod):
                        yield place, other, term

    def _where(self, key: str, wanted: Callable[[Pod], bool]) -> dict[str, PodKey]:
        """Domains with such a pod, and one of them."""
        found: dict[str, PodKey] = {}
        for place in self._places:
            value = place.labels.get(key)
            first = next((other.key for other in place.pods if wanted(other)), None)
            if value is not None and first is not None:
                found.setdefault(value, first)
        return found

    def _takes(self, selector: PodSelector, daemon_set: DaemonSet) -> bool:
        return selector.selects(daemon_set.key.namespace, daemon_set.labels, self._snapshot.namespaces)

    def _selects(self, selector: PodSelector, pod: Pod) -> bool:
        return selector.selects(pod.key.namespace, pod.labels, self._snapshot.namespaces)


_Check = Callable[[Labels, Sequence[DaemonSet]], Objection | None]
_FEW_DOMAINS: Final = "lower minDomains, or let a pool be bought in more domains"
_UNEVEN: Final = "raise maxSkew, use ScheduleAnyway, or let the pools be bought in the domains that have least"
_NOBODY: Final = "create a pod it wants to be with, correct the term, or prefer instead of require it"
_TAKEN: Final = "let the pools be bought in more domains, or prefer instead of require it"


def _lacking(what: str, key: str) -> Objection:
    fix = f"use a label that nodes have instead of {key}, or let the pool's nodes carry it"
    return Objection(f"{what} over {key}", "the label is missing", fix)


def _avoiding(term: PodAffinityTerm, taken: Mapping[str, PodKey], told: str) -> _Check:
    def check(labels: Labels, _: Sequence[DaemonSet]) -> Objection | None:
        value = labels.get(term.topology_key)
        if value is None or value not in taken:
            return None
        return Objection(told, f"{taken[value]} in {value}", _TAKEN)

    return check


def _shown(term: PodAffinityTerm) -> str:
    labels = term.selector.labels
    if labels is None:
        return "no labels at all"
    return ", ".join(map(str, labels.values())) or "any labels"


def _known(keys: Iterable[PodKey], pending: Mapping[PodKey, Pod]) -> tuple[Pod, ...]:
    return tuple(pending[key] for key in keys if key in pending)


def _bought(snapshot: Snapshot, plan: Plan, pending: Mapping[PodKey, Pod]) -> Iterator[Place]:
    """Each as its planned, cheapest offering; what its pods spread over is the same for the whole list."""
    pools = {options.pool.name: options for options in snapshot.pools}
    number = 0
    for launch in plan.launches:
        options = pools[launch.pool]
        first = launch.offerings[0]
        kind = options.instance_type(first.instance_type)
        labels = {
            **kind.labels,
            **own_labels(options.pool),
            **launch.labels,
            nodes.ZONE_LABEL: first.zone,
            nodes.CAPACITY_TYPE_LABEL: launch.capacity_type,
            nodes.INSTANCE_TYPE_LABEL: first.instance_type,
        }
        for pods in launch.nodes:
            number += 1
            name = f"new-{number}"
            yield Place(name, {**labels, nodes.HOSTNAME_LABEL: name}, options.pool.taints, _known(pods, pending))
