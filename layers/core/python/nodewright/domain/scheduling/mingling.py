"""Preferences over hosts: pods of equal size change places within a plan, whose nodes stay what they are.

Pods that no planner tells apart may each take the others' places. Of those that would rather be apart, or spread
over hosts, each goes where fewest of them are; one that would rather be with others goes to them.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nodewright.domain.plans import Nomination, Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.scheduling.arrays import Floats, Ints
from nodewright.domain.scheduling.entangled import tangle
from nodewright.domain.scheduling.rules import RepulsionRule, is_host
from nodewright.domain.scheduling.selections import Selections
from nodewright.domain.scheduling.shapes import turn, wish_of
from nodewright.domain.scheduling.soft_rules import Sort, soft_rules, soft_rules_of
from nodewright.domain.snapshot import Snapshot
from nodewright.domain.topology import PodAffinityTerm


def mingled(snapshot: Snapshot, plan: Plan) -> Plan:
    """The plan with equal pods where they would rather be; itself where nobody minds hosts."""
    minding = any(is_host(rule.key) for pod in snapshot.pods for rule in soft_rules(pod))
    return _Mingling(snapshot, plan).plan() if minding else plan


@dataclass(frozen=True, slots=True)
class _Member:
    """A pod with the soft rules over hosts that it has and that count it."""

    pod: Pod
    owns: tuple[int, ...]
    selected: tuple[int, ...]


class _Mingling:
    def __init__(self, snapshot: Snapshot, plan: Plan) -> None:
        self._snapshot = snapshot
        self._plan = plan
        self._pods = {pod.key: pod for pod in snapshot.pods}
        self._rules = tuple(rule for rule in soft_rules_of(snapshot.pods) if is_host(rule.key))
        self._index = {rule: number for number, rule in enumerate(self._rules)}
        counted = [RepulsionRule(PodAffinityTerm(rule.key, rule.selector)) for rule in self._rules]
        self._selections = Selections(counted, snapshot.namespaces)
        self._sites = [list(each.pods) for each in plan.nominations]
        self._sites += [list(pods) for launch in plan.launches for pods in launch.nodes]
        self._counts = np.zeros((len(self._rules), len(self._sites)), dtype=np.int64)

    def plan(self) -> Plan:
        """With all who may change places where they are best."""
        self._count()
        for places in self._alike():
            self._exchange(places)
        sites = iter(tuple(site) for site in self._sites)
        nominations = tuple(Nomination(each.node, next(sites)) for each in self._plan.nominations)
        launches = tuple(replace(each, nodes=tuple(next(sites) for _ in each.nodes)) for each in self._plan.launches)
        return replace(self._plan, nominations=nominations, launches=launches)

    def _count(self) -> None:
        rooms = {room.name: room for room in self._snapshot.rooms}
        for site, nomination in enumerate(self._plan.nominations):
            for pod in rooms[nomination.node].pods:
                self._counts[list(self._selected(pod)), site] += 1
        for site, keys in enumerate(self._sites):
            for key in keys:
                self._counts[list(self._selected(self._pods[key])), site] += 1

    def _selected(self, pod: Pod) -> tuple[int, ...]:
        return self._selections.of(pod.key.namespace, pod.labels)

    def _alike(self) -> Iterator[list[tuple[int, int]]]:
        """Places (node, position) whose pods may be exchanged, where that makes a difference."""
        free = {pod.key for pod in tangle(self._snapshot, self._snapshot.pods).free}
        stay = {(room.name, key) for room in self._snapshot.rooms for key in room.nominated}
        free -= {key for each in self._plan.nominations for key in each.pods if (each.node, key) in stay}
        groups: defaultdict[object, list[tuple[int, int]]] = defaultdict(list)
        for site, keys in enumerate(self._sites):
            for position, key in enumerate(keys):
                if key in free:
                    pod = self._pods[key]
                    groups[pod.requests, wish_of(pod)].append((site, position))
        for places in groups.values():
            members = {self._roles(self._sites[site][position]) for site, position in places}
            if len(members) > 1 and any(owns for owns, _ in members):
                yield places

    def _roles(self, key: PodKey) -> tuple[tuple[int, ...], tuple[int, ...]]:
        pod = self._pods[key]
        owns = sorted({self._index[rule] for rule in soft_rules(pod) if rule in self._index})
        return tuple(owns), self._selected(pod)

    def _exchange(self, places: Sequence[tuple[int, int]]) -> None:
        members = [_Member(self._pods[self._sites[s][p]], *self._roles(self._sites[s][p])) for s, p in places]
        open_places: defaultdict[int, list[int]] = defaultdict(list)
        for (site, position), member in zip(places, members, strict=True):
            open_places[site].append(position)
            self._counts[list(member.selected), site] -= 1
        sites = np.array(sorted(open_places), dtype=np.int64)
        room = np.array([len(open_places[site]) for site in sites.tolist()], dtype=np.int64)
        for member in sorted(members, key=self._turn):
            at = int(np.argmax(self._scores(member, sites, room)))
            room[at] -= 1
            site = int(sites[at])
            self._sites[site][open_places[site].pop(0)] = member.pod.key
            self._counts[list(member.selected), site] += 1

    def _turn(self, member: _Member) -> tuple[object, ...]:
        weights = [self._rules[each].weight for each in member.owns]
        return (-max(weights, default=0), member.owns, member.selected, *turn(member.pod))

    def _scores(self, member: _Member, sites: Ints, room: Ints) -> Floats:
        """By weight; of equal ones the node with most open places, and of those the first."""
        score = room / (room.sum() + 1)
        for number in member.owns:
            rule, there = self._rules[number], self._counts[number, sites]
            score = score + rule.weight * (np.minimum(there, 1) if rule.sort is Sort.TOGETHER else -there)
        return np.where(room > 0, score, -np.inf)
