"""A second look at pods that a plan leaves, in pools that ask for choice (minValues).

Whoever plans pod by pod knows of every node where it is, as far as any rule can tell, and what minValues ask for has
to be found there: two instance families, though a rule of others is about families. Here nodes are bought that may
be different things to rules, if the plan is kept whichever comes. It is tried, not reasoned, so it is bounded.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from nodewright.domain.plans import Plan, Unschedulable
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.scheduling.entangled import are_entangled, tangle
from nodewright.domain.scheduling.verifying import unkept
from nodewright.domain.scheduling.versatile import Versatile, Versatility, versatile
from nodewright.domain.scheduling.yielding import likeness
from nodewright.domain.snapshot import Snapshot


def looked_again(snapshot: Snapshot, plan: Plan) -> Plan:
    """The plan with some more of its pods on nodes of such pools; of those that are alike all after the first that
    finds no place are left.
    """
    if plan.truncated or not plan.unschedulable or not any(map(versatile, snapshot.pools)):
        return plan
    if _extent(snapshot) > _MANY or not are_entangled(snapshot):
        return plan
    looking = _Looking(snapshot, plan)
    given_up: set[tuple[object, ...]] = set()
    for pod in _left(snapshot, plan):
        if likeness(pod) not in given_up and not looking.place(pod):
            given_up.add(likeness(pod))
    return looking.plan()


_MANY: Final = 2_000
"""Pods, waiting and bound; with more of them every try takes long."""
_LOOKS: Final = 64
"""At what could be bought."""
_TRIES: Final = 128
"""Plans that are verified, at most."""
_VERIFIED: Final = 100_000
"""Pods in all the plans that are tried."""
_AT_ONCE: Final = 16
"""Tries for one pod and those that share a node with it: others want to be looked at, too."""
_IN_VAIN: Final = frozenset(
    {"Unsupported", "SetAside", "WaitsForOthers", "NoPool", "NoInstanceType", "TaintNotTolerated", "VolumeZone"}
)
"""Why no node would help, or one will be there anyway."""


class _Looking:
    def __init__(self, snapshot: Snapshot, plan: Plan) -> None:
        self._snapshot = snapshot
        self._plan = plan
        self._pods = {pod.key: pod for pod in snapshot.pods}
        self._nodes: list[Versatile] = []
        self._tangle = tangle(snapshot, snapshot.pods)
        self._looks = _LOOKS
        self._tries = min(_TRIES, _VERIFIED // _extent(snapshot))

    def plan(self) -> Plan:
        """As far as it has come."""
        return _with(self._plan, self._nodes) if self._nodes else self._plan

    def place(self, pod: Pod) -> bool:
        """On a node that was bought here before, or on another one."""
        for number, node in enumerate(self._nodes):
            others = (*self._nodes[:number], *self._nodes[number + 1 :])
            if self._buy(others, (*node.pods, pod.key)):
                return True
        return self._buy(tuple(self._nodes), (pod.key,))

    def _buy(self, others: Sequence[Versatile], pods: Sequence[PodKey]) -> bool:
        self._looks -= 1
        if self._looks < 0 or self._tries <= 0:
            return False
        before = _with(self._plan, others)
        several = Versatility(self._snapshot, self._tangle, before, [self._pods[key] for key in pods])
        least = self._tries - _AT_ONCE
        for node in several.nodes():
            if self._tries <= least:
                return False
            if self._is_kept([*others, node]):
                self._nodes = [*others, node]
                return True
        return False

    def _is_kept(self, nodes: Sequence[Versatile]) -> bool:
        """Whichever kinds of them come."""
        for futures in itertools.product(*(node.futures for node in nodes)):
            self._tries -= 1
            coming = replace(self._plan, launches=(*self._plan.launches, *futures))
            if self._tries < 0 or unkept(self._snapshot, coming):
                return False
        return True


def _extent(snapshot: Snapshot) -> int:
    rooms = (*snapshot.rooms, *snapshot.bystanders)
    return len(snapshot.pods) + sum(len(room.pods) for room in rooms)


def _left(snapshot: Snapshot, plan: Plan) -> Iterator[Pod]:
    """The most important first."""
    why: Mapping[PodKey, Unschedulable] = {each.pod: each for each in plan.unschedulable}
    left = (pod for pod in snapshot.pods if pod.key in why and why[pod.key].reason not in _IN_VAIN)
    yield from sorted(left, key=lambda pod: (-pod.priority, pod.key))


def _with(plan: Plan, nodes: Sequence[Versatile]) -> Plan:
    placed = {key for node in nodes for key in node.pods}
    return replace(
        plan,
        launches=(*plan.launches, *(node.launch for node in nodes)),
        unschedulable=tuple(each for each in plan.unschedulable if each.pod not in placed),
        cost=plan.cost + sum(node.launch.price for node in nodes),
    )
