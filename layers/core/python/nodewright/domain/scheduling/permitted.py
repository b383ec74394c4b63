"""As many pods as limits permit, and those at least cost.

A plan buys what costs least for each pod, and may so use up a limit that larger nodes, or nodes of another shape,
would have stretched further. Where a limit binds, the same is planned at tolls on what limits leave (tolls.py), and
whoever takes too much of it is left to the last. What places most by rank is kept, then what costs least; where
no limit binds nothing of this costs anything.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.quantities import PODS, Resources
from nodewright.domain.scheduling.budget import AT_ONCE, NO_TOLL, Budget, Toll
from nodewright.domain.scheduling.planned_rooms import paid
from nodewright.domain.scheduling.priorities import NEVER_PLANNED, PERMANENT, left_out
from nodewright.domain.scheduling.proving import proven
from nodewright.domain.scheduling.succession import Succession
from nodewright.domain.scheduling.yielding import likeness
from nodewright.domain.snapshot import PoolOptions, Snapshot
from nodewright.domain.usage import node_usage

Planner = Callable[[Snapshot, Budget], Plan]


def permitted(snapshot: Snapshot, budget: Budget, planner: Planner, experience: "Experience") -> Plan:
    """The planner's plan, or one that places more pods, the important ones first; or as many for less.

    `experience` is shared by plans of the same pods.
    """
    plan = planner(snapshot, budget)
    if plan.truncated or budget.contents or not _binds(snapshot, plan):
        return plan
    if not _waits_for_limits(plan) and not _costs_more(snapshot, plan, planner):
        return plan
    search = _Search(snapshot, planner, plan, experience)
    search.repeat()
    search.stretch()
    if _waits_for_limits(search.best.plan):
        search.choose()
    return search.finished(budget)


def _costs_more(snapshot: Snapshot, plan: Plan, planner: Planner) -> bool:
    """Whether pods cost more than they need, and limits have to do with it: without them they cost less.

    A limit of a thousand cores that leaves four hundred keeps the largest types out, and mostly changes nothing.
    """
    if plan.bound is not None and plan.cost <= plan.bound * _CLOSE:
        return False
    free = replace(snapshot, pools=tuple(replace(each, remaining=None) for each in snapshot.pools))
    return planner(free, AT_ONCE).cost < plan.cost


_CLOSE: Final = 1.005
"""Of what is proven: hardly more can be gained."""


def _waits_for_limits(plan: Plan) -> bool:
    """Whether pods are left that a limit may keep out."""
    return any(each.reason not in NEVER_PLANNED | PERMANENT for each in plan.unschedulable)


def _binds(snapshot: Snapshot, plan: Plan) -> bool:
    """Whether the plan took so much of a pool's limits that something it could buy before it no longer can."""
    return any(_is_used_up(options, plan) for options in snapshot.pools if options.remaining is not None)


def _is_used_up(options: PoolOptions, plan: Plan) -> bool:
    after = options
    for launch in plan.launches:
        after = paid(after, launch)
    if after is options or options.remaining is None or after.remaining is None:
        return False
    nodes = [
        node_usage(kind.capacity, min((each.price for each in kind.offerings), default=0))
        for kind in options.instance_types
    ]
    return any(_allow(options.remaining, each) and not _allow(after.remaining, each) for each in nodes)


def _allow(remaining: Resources, usage: Resources) -> bool:
    return all(usage.get(name) <= amount for name, amount in remaining.items() if usage.get(name))


@dataclass(frozen=True, slots=True)
class _Way:
    """How to plan."""

    toll: Toll
    level: bool = False
    """Whatever the pools' weights."""


@dataclass(frozen=True, slots=True)
class _Found:
    plan: Plan
    way: _Way | None
    """None: the plan there was first."""
    first: Sequence[Pod] = ()
    """Planned before the others; none: all together."""


_LEAST_TRIES: Final = 2
_MOST_TRIES: Final = 48
_WORK: Final = 16_000
"""Pods planned again."""


@dataclass(slots=True)
class Experience:
    """What came of other plans of the same pods, which ask for more or less: what was best there is tried again first.

    Only the first of them is worth a whole search.
    """

    tries: int = _MOST_TRIES
    good: list[tuple[_Way, frozenset[PodKey]]] = field(default_factory=list)
    """Ways, and which pods came first."""


class _Search:
    """The best plan so far, and how many may still be tried: a number that depends on the pods alone."""

    def __init__(self, snapshot: Snapshot, planner: Planner, plan: Plan, experience: Experience) -> None:
        self._snapshot = snapshot
        self._level = _levelled(snapshot)
        self._planner = planner
        self._first = plan
        # Each rank may be planned apart.
        effort = len(snapshot.pods) * len({pod.priority for pod in snapshot.pods})
        self._tries = max(_LEAST_TRIES, min(experience.tries, _WORK // max(1, effort))) + len(experience.good)
        self._experience = experience
        self.best = _Found(plan, None)

    def repeat(self) -> None:
        """Plan as it was best for others."""
        for way, keys in self._experience.good:
            self._try(way, tuple(pod for pod in self._snapshot.pods if pod.key in keys))

    def stretch(self) -> None:
        """Plan at tolls."""
        for way in self._ways():
            self._try(way)

    def choose(self) -> None:
        """Plan first as many as can all be placed, one after the other; whoever then takes too much comes last."""
        seen: set[frozenset[PodKey]] = set()
        for order in _orders(self._snapshot):
            chosen = _Choice(self._fit).of(order)
            keys = frozenset(pod.key for pod in chosen)
            if keys not in seen:
                seen.add(keys)
                self._try(self._plain, chosen, Budget() if len(chosen) <= _FEW else AT_ONCE)
                for way in self._ways():
                    self._try(way, chosen)

    def finished(self, budget: Budget) -> Plan:
        """The best, made cheaper as far as the budget goes."""
        best = self.best
        self._experience.tries = max(0, self._tries)
        if best.way is None:
            return best.plan
        way = (best.way, frozenset(pod.key for pod in best.first))
        if way not in self._experience.good:
            self._experience.good.append(way)
        if budget.columns:
            whole = self._plan(best.way, best.first, budget)
            if not whole.truncated:
                best = min(best, replace(best, plan=whole), key=self._rank)
        return replace(best.plan, bound=proven(self._snapshot, best.plan.launches))

    @property
    def _thrifty(self) -> Sequence[_Way]:
        """Where prices only decide among nodes that take as much."""
        high = self._first.cost * _HIGH
        names = sorted({name for each in self._snapshot.pools for name in each.remaining or ()})
        resources = ("", *names) if len(names) > 1 else ("",)
        levels = (False, True) if self._level is not self._snapshot else (False,)
        return [_Way(Toll(high, resource), level) for level in levels for resource in resources]

    def _ways(self) -> Iterator[_Way]:
        for way in self._thrifty:
            yield way
            if not way.toll.resource:
                yield from (replace(way, toll=Toll(int(self._first.cost * factor))) for factor in _FACTORS)

    @property
    def _plain(self) -> _Way:
        """At prices as they are, in whatever pool."""
        return _Way(NO_TOLL, self._level is not self._snapshot)

    def _try(self, way: _Way, first: Sequence[Pod] = (), budget: Budget = AT_ONCE) -> None:
        if self._spend():
            plan = self._plan(way, first, budget)
            if not plan.truncated:
                self.best = min(self.best, _Found(plan, way, first), key=self._rank)

    def _spend(self) -> bool:
        self._tries -= 1
        return self._tries >= 0

    def _plan(self, way: _Way, first: Sequence[Pod], budget: Budget) -> Plan:
        snapshot = self._level if way.level else self._snapshot
        within = replace(budget, toll=way.toll)
        if not first:
            return self._planner(snapshot, within)
        known = frozenset(pod.key for pod in first)
        rest = [pod for pod in snapshot.pods if pod.key not in known]
        return _in_turn(snapshot, lambda part: self._planner(part, within), [first, rest])

    def _fit(self, pods: Sequence[Pod]) -> bool:
        """Whether a place is found for all of these; of few pods searched for with columns, too."""
        plain = self._plain
        thrifty = (way for way in self._thrifty if way.level == plain.level)
        if any(self._spend() and self._holds_all(pods, way, AT_ONCE) for way in thrifty):
            return True
        return len(pods) <= _FEW and self._spend() and self._holds_all(pods, plain, Budget())

    def _holds_all(self, pods: Sequence[Pod], way: _Way, budget: Budget) -> bool:
        snapshot = replace(self._level if way.level else self._snapshot, pods=tuple(pods))
        return not self._planner(snapshot, replace(budget, toll=way.toll)).unschedulable

    def _rank(self, found: _Found) -> tuple[object, ...]:
        return left_out(self._snapshot, found.plan), found.way is not None and found.way.level, found.plan.cost


_HIGH: Final = 64
"""Times the first plan's cost."""
_FACTORS: Final = (0.25, 1, 4)
_FEW: Final = 16
"""Pods; whether they fit is searched for with columns."""


def _in_turn(snapshot: Snapshot, planner: Callable[[Snapshot], Plan], several: Sequence[Sequence[Pod]]) -> Plan:
    """The first of these, then the others with what those leave."""
    succession = Succession(snapshot)
    plans = [succession.extend(some, planner) for some in several if some]
    launches = succession.launches()
    return Plan(
        launches=launches,
        nominations=succession.nominations(),
        unschedulable=tuple(sorted((each for plan in plans for each in plan.unschedulable), key=lambda each: each.pod)),
        cost=sum(launch.price * len(launch.nodes) for launch in launches),
        truncated=any(plan.truncated for plan in plans),
    )


def _levelled(snapshot: Snapshot) -> Snapshot:
    """With pools of one weight; the snapshot itself where they are."""
    if len({options.pool.weight for options in snapshot.pools}) < 2:
        return snapshot
    pools = (
        PoolOptions(replace(options.pool, weight=0), options.instance_types, options.remaining)
        for options in snapshot.pools
    )
    return replace(snapshot, pools=tuple(pools))


class _Choice:
    """Pods for all of which a place is found, in the order in which they are offered.

    They are looked at in blocks; one that doesn't fit as a whole is halved.
    """

    def __init__(self, fits: Callable[[Sequence[Pod]], bool]) -> None:
        self._fits = fits
        self._chosen: list[Pod] = []
        self._refused: set[tuple[object, ...]] = set()

    def of(self, pods: Sequence[Pod]) -> Sequence[Pod]:
        """Those chosen among these."""
        blocks = [pods]
        while blocks:
            block = [pod for pod in blocks.pop() if likeness(pod) not in self._refused]
            if block and self._fits([*self._chosen, *block]):
                self._chosen += block
            elif len(block) > 1:
                half = len(block) // 2
                blocks += [block[half:], block[:half]]
            else:
                self._refused.update(map(likeness, block))
        return tuple(self._chosen)


def _orders(snapshot: Snapshot) -> Iterator[Sequence[Pod]]:
    """Important pods first, of equals those that take least of all that is asked for; then the same of one resource."""
    pods = [pod for pod in snapshot.pods if not pod.problems]
    total = sum((pod.requests for pod in pods), Resources())
    for names in (sorted(total), *([name] for name in sorted(total) if name != PODS)):
        size = {
            each: max((each.get(name) / total.get(name) for name in names), default=0.0)
            for each in {pod.requests for pod in pods}
        }
        yield sorted(pods, key=lambda pod: (-pod.priority, size[pod.requests], pod.key))
