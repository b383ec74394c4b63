"""Pods with preferences, and those that preferences of others are about, grouped by what a choice can see."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from nodewright.domain import nodes
from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.scheduling.rules import RepulsionRule, is_host
from nodewright.domain.scheduling.selections import Selections
from nodewright.domain.scheduling.shapes import Shape, size_of, turn, wish_of
from nodewright.domain.scheduling.soft_rules import SoftRule, Sort, soft_rules, soft_rules_of
from nodewright.domain.snapshot import Snapshot
from nodewright.domain.taints import Taint, is_soft, untolerated
from nodewright.domain.topology import PodAffinityTerm, PreferredNodes

SOFT_TAINT_WEIGHT: Final = 100
"""Of keeping off nodes with a PreferNoSchedule taint, which has no weight of its own: kube-scheduler gives it most."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """Pods alike, in the order in which they are served."""

    shape: Shape
    nodes: tuple[PreferredNodes, ...]
    """Heaviest first."""
    owns: tuple[int, ...]
    """Soft rules they have."""
    selected: tuple[int, ...]
    """Soft rules that count them."""
    ruled: frozenset[str]
    """Labels over whose values they have hard rules, hosts' apart: a choice between those may break one."""
    spread: frozenset[str]
    """Those of hard spreads. They decide themselves: a spread that saw one value alone would hold anywhere."""


@dataclass(frozen=True, slots=True)
class Crowds:
    """All of a snapshot."""

    rules: tuple[SoftRule, ...]
    selections: Selections
    crowds: tuple[Crowd, ...]


def crowds_of(snapshot: Snapshot, plan: Plan) -> Crowds:
    """Of the pods that a plan without preferences has a place for, and that are free to take another."""
    pods = {pod.key: pod for pod in snapshot.pods}
    bought = [pods[key] for launch in plan.launches for node in launch.nodes for key in node]
    bound = _nominated(snapshot)
    nominated = [pods[key] for each in plan.nominations for key in each.pods if (each.node, key) not in bound]
    rules = soft_rules_of(snapshot.pods)
    sorting = _Sorting(snapshot, rules)
    found: dict[_Likeness, list[Pod]] = {}
    for new, some in ((True, bought), (False, nominated)):
        for pod in some:
            if (alike := sorting.of(pod, new=new)) is not None:
                found.setdefault(alike, []).append(pod)
    made = sorted((_crowd(alike, members) for alike, members in found.items()), key=_order)
    return Crowds(rules, sorting.selections, tuple(made))


_Likeness = tuple[Shape, tuple[PreferredNodes, ...], tuple[int, ...], tuple[int, ...], frozenset[str], frozenset[str]]


class _Sorting:
    def __init__(self, snapshot: Snapshot, rules: Sequence[SoftRule]) -> None:
        self._index = {rule: number for number, rule in enumerate(rules)}
        counted = [RepulsionRule(PodAffinityTerm(rule.key, rule.selector)) for rule in rules]
        self.selections = Selections(counted, snapshot.namespaces)
        self._attracting = {
            number for number, rule in enumerate(rules) if rule.sort is Sort.TOGETHER and not is_host(rule.key)
        }
        self._pools = [(each.pool.name, _soft(each.pool.taints)) for each in snapshot.pools if _soft(each.pool.taints)]

    def of(self, pod: Pod, *, new: bool) -> _Likeness | None:
        """None of a pod that no preference is about."""
        wished = (*pod.preferences.nodes, *(self._untainted(pod) if new else ()))
        owns = tuple(sorted({self._index[rule] for rule in soft_rules(pod)}))
        selected = self.selections.of(pod.key.namespace, pod.labels) if self._index else ()
        if not (wished or owns or self._attracting.intersection(selected)):
            return None
        heaviest = tuple(sorted(dict.fromkeys(wished), key=lambda each: (-each.weight, str(each.requirements))))
        return Shape(pod.requests, wish_of(pod), (), ()), heaviest, owns, selected, *_ruled(pod)

    def _untainted(self, pod: Pod) -> Iterator[PreferredNodes]:
        """Pools without PreferNoSchedule taints that it doesn't tolerate."""
        avoided = sorted(name for name, taints in self._pools if untolerated(pod.tolerations, taints, soft=True))
        if avoided:
            others = Requirement.of(nodes.NODE_POOL_LABEL, "NotIn", avoided)
            yield PreferredNodes(SOFT_TAINT_WEIGHT, Requirements([others]))


def _soft(taints: Sequence[Taint]) -> tuple[Taint, ...]:
    return tuple(taint for taint in taints if is_soft(taint))


def _ruled(pod: Pod) -> tuple[frozenset[str], frozenset[str]]:
    spread = frozenset(each.topology_key for each in pod.spreads if each.hard and not is_host(each.topology_key))
    keys = (term.topology_key for term in (*pod.affinity, *pod.anti_affinity))
    return spread.union(key for key in keys if not is_host(key)), spread


def _nominated(snapshot: Snapshot) -> frozenset[tuple[str, PodKey]]:
    """They stay where an earlier plan sent them."""
    return frozenset((room.name, key) for room in snapshot.rooms for key in room.nominated)


def _crowd(alike: _Likeness, pods: list[Pod]) -> Crowd:
    shape, wished, owns, selected, ruled, spread = alike
    keys = tuple(pod.key for pod in sorted(pods, key=turn))
    return Crowd(Shape(shape.requests, shape.wish, (), keys), wished, owns, selected, ruled, spread)


def _order(crowd: Crowd) -> tuple[tuple[int, int], PodKey]:
    return size_of(crowd.shape.requests), min(crowd.shape.pods)
