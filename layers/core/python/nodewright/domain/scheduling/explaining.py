"""Why a plan is as it is: for one pod, one node or one pool, what was looked at and what ruled it out.

Pure, and beside the planner rather than inside it: the rules are judged once more for what is asked
about, in the state that the plan leads to.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from nodewright.domain.limits import shown
from nodewright.domain.money import show_usd
from nodewright.domain.plans import Launch
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.quantities import PODS, Resources
from nodewright.domain.scheduling.arch_warnings import market_warnings, room_warnings
from nodewright.domain.scheduling.at_risk import real
from nodewright.domain.scheduling.constraints import constraints
from nodewright.domain.scheduling.daemons import overhead
from nodewright.domain.scheduling.explanations import (
    Fallen,
    NewNodeExplanation,
    NodeExplanation,
    OnNewNode,
    OnNode,
    Outcome,
    PodExplanation,
    PoolExplanation,
    Rule,
    Verdict,
    Waits,
)
from nodewright.domain.scheduling.limits import limited
from nodewright.domain.scheduling.market_sieves import own_stages, sale_stages
from nodewright.domain.scheduling.offerings import Market
from nodewright.domain.scheduling.plan_views import Look, PlanView, without_types
from nodewright.domain.scheduling.room_sieves import objection
from nodewright.domain.scheduling.shelf_words import best
from nodewright.domain.scheduling.sieves import sift, verdict
from nodewright.domain.scheduling.tiers import tiers
from nodewright.domain.scheduling.type_choices import TypeChoices
from nodewright.domain.scheduling.type_words import told_of
from nodewright.domain.snapshot import PoolOptions, Room
from nodewright.domain.taints import untolerated


def explain_pod(view: PlanView, key: PodKey) -> PodExplanation:
    """A pending pod. KeyError where none of that name waits."""
    pod = view.pending[key]
    outcome = view.outcomes[key]
    looks = () if pod.problems else view.looks(pod)
    on_nodes = view.on_nodes(pod)
    return PodExplanation(
        pod=key,
        requests=real(pod.requests) - Resources({PODS: 1}),
        constraints=tuple(constraints(pod)),
        outcome=outcome,
        why=tuple(_why(view, pod, outcome, on_nodes, looks)),
        nodes=on_nodes,
        pools=tuple(look.verdict for look in looks),
        advice=tuple(_advice(looks)) if isinstance(outcome, Waits) else (),
        unmet=view.unmet(pod),
        warnings=tuple(_warnings(view, pod, outcome, looks)),
    )


def _why(view: PlanView, pod: Pod, outcome: Outcome, on_nodes: Verdict, looks: Sequence[Look]) -> Iterator[str]:
    if isinstance(outcome, OnNode):
        room = next(each for each in view.rooms if each.name == outcome.node)
        if pod.key in room.nominated:
            yield "it was planned for this node before, and still fits"
        yield "room that is there comes before new nodes"
        if on_nodes.left > 1:
            yield f"{on_nodes.left} of {on_nodes.candidates} nodes would do: {on_nodes.best}"
    if isinstance(outcome, OnNewNode):
        yield from _why_new(outcome, on_nodes, looks)


def _why_new(outcome: OnNewNode, on_nodes: Verdict, looks: Sequence[Look]) -> Iterator[str]:
    own = next(look for look in looks if look.verdict.name == outcome.launch.pool)
    weight = own.market.pool.weight
    if on_nodes.candidates:
        yield f"no room is left for it on {_count(on_nodes.candidates, 'node')} that {_are(on_nodes.candidates)} there"
    yield from _heavier(looks, weight)
    yield _planned(outcome)
    for look in looks:
        if look is not own and look.market.pool.weight <= weight and look.verdict.left:
            less = f", but has less weight ({look.market.pool.weight} < {weight})"
            yield (
                f"pool {look.verdict.name} would do, too{less if look.market.pool.weight < weight else ''}:"
                f" {look.verdict.best}"
            )


def _heavier(looks: Sequence[Look], weight: int) -> Iterator[str]:
    for look in looks:
        if look.market.pool.weight > weight:
            yield f"pool {look.verdict.name} has more weight, but {_passed_over(look.verdict)}"


def _passed_over(pool: Verdict) -> str:
    return f"no type of it would do: {pool.nearest}" if not pool.left else "what its limits leave was for others"


def _planned(outcome: OnNewNode) -> str:
    launch = outcome.launch
    with_whom = f"together with {_count(outcome.others, 'other pod')} " if outcome.others else ""
    dearest = max(offering.price for offering in launch.offerings)
    kinds = len(launch.instance_types)
    listed = f"{kinds} types that hold as much, up to {show_usd(dearest)}" if kinds > 1 else "that type alone"
    return (
        f"{with_whom}it is planned on {launch.instance_types[0]} at {show_usd(launch.price)} USD/h; the launch lists"
        f" {listed}, in {', '.join(launch.zones)}"
    )


def _advice(looks: Iterable[Look]) -> Iterator[str]:
    """Of the pools in which the pod came furthest, those first; a cure that isn't enough only where none is."""
    told = [look for look in looks if look.verdict.advice]
    enough = [look for look in told if not look.verdict.then]
    ranked = sorted(enough or told, key=lambda look: -look.sieved.passed)
    yield from dict.fromkeys(f"pool {look.verdict.name}: {look.verdict.advice}" for look in ranked)


def _warnings(view: PlanView, pod: Pod, outcome: Outcome, looks: Sequence[Look]) -> Iterator[str]:
    if isinstance(outcome, OnNode):
        yield from room_warnings(pod, next(each for each in view.rooms if each.name == outcome.node))
    elif isinstance(outcome, OnNewNode):
        for look in looks:
            if look.verdict.name == outcome.launch.pool:
                yield from market_warnings(pod, look.market, look.would_hold)


def explain_node(view: PlanView, name: str) -> NodeExplanation | NewNodeExplanation:
    """A node that is there, or `new-1`, … of the plan. KeyError where there is none of that name."""
    rooms = {room.name: room for room in (*view.snapshot.bystanders, *view.rooms)}
    if name in rooms:
        return _of_room(view, rooms[name])
    for new, launch, pods in view.new_nodes():
        if new == name:
            return _of_new(view, name, launch, pods)
    raise KeyError(name)


def _of_room(view: PlanView, room: Room) -> NodeExplanation:
    takes = room in view.rooms
    here = tuple(
        key for key, outcome in view.outcomes.items() if isinstance(outcome, OnNode) and outcome.node == room.name
    )
    fallen: dict[Rule, list[tuple[PodKey, str]]] = {}
    would_do = 0
    for alike in _alike(pod for key, pod in view.pending.items() if key not in here) if takes else ():
        found = objection(room, view.free(room), alike[0], view.company(alike[0]))
        if found is None:
            would_do += len(alike)
        else:
            fallen.setdefault(found[0], []).extend((pod.key, found[1]) for pod in alike)
    return NodeExplanation(
        node=room.name,
        pool=room.pool,
        labels=room.labels,
        taints=tuple(map(str, room.taints)),
        takes_pods=takes,
        free=real(room.available),
        running=len(room.pods),
        nominated=here,
        fallen=tuple(_grouped(fallen)),
        would_do=would_do,
    )


def _of_new(view: PlanView, name: str, launch: Launch, pods: tuple[PodKey, ...]) -> NewNodeExplanation:
    options = _options(view, launch.pool)
    kind = options.instance_type(launch.instance_types[0])
    (place,) = tiers([options], (), ())
    market = place.markets[0]
    row = next(
        row
        for row, offering in enumerate(market.shelf.offerings)
        if market.shelf.types[market.shelf.type_of[row]] is kind
        and (offering.zone, offering.capacity_type) == (launch.offerings[0].zone, launch.capacity_type)
    )
    resources = sorted(real(kind.allocatable))
    taken = overhead(market, view.snapshot.daemon_sets, resources)[row].tolist()
    daemons = Resources(dict(zip(resources, taken, strict=True)))
    why = told_of(launch, TypeChoices(view.snapshot, view.plan).of(launch))
    _, expected, headroom = view.content(name)
    return NewNodeExplanation(name, launch, pods, daemons, real(kind.allocatable), why, expected, headroom)


def explain_pool(view: PlanView, name: str) -> PoolExplanation:
    """A pool. KeyError where there is none of that name."""
    options = _options(view, name)
    pool = options.pool
    (place,) = tiers([options], (), ())
    market = place.markets[0]
    sieved = sift(market.shelf.type_of, (*own_stages(market), *sale_stages(place, 0)))
    return PoolExplanation(
        pool=name,
        weight=pool.weight,
        constraints=tuple(_pool_constraints(options)),
        limits=tuple(f"{shown(key, amount)} left" for key, amount in limited(options).items()),
        shelf=verdict(name, market.shelf.type_of, sieved, best(market)) if market.shelf.rows else without_types(market),
        daemons=tuple(_daemons(view, market)),
        bought=tuple(_bought(view, name)),
        waiting=tuple(_grouped(_waiting(view, name))),
        warnings=(f"{pool} is being deleted: nothing is bought for it",) if pool.terminating else (),
    )


def _options(view: PlanView, name: str) -> PoolOptions:
    for options in view.snapshot.pools:
        if options.pool.name == name:
            return options
    raise KeyError(name)


def _pool_constraints(options: PoolOptions) -> Iterator[str]:
    pool = options.pool
    yield from (str(requirement) for requirement in pool.requirements.values())
    yield from (f"taint {taint}" for taint in pool.taints)
    yield from (f"startup taint {taint}" for taint in pool.startup_taints)


def _daemons(view: PlanView, market: Market) -> Iterator[str]:
    for daemon_set in view.snapshot.daemon_sets:
        if untolerated(daemon_set.tolerations, market.pool.taints):
            continue
        rows = market.columns.admits_any(daemon_set.alternatives) & market.permitted
        if rows.any():
            everywhere = bool((rows == market.permitted).all())
            amounts = daemon_set.requests - Resources({PODS: 1})
            yield f"{daemon_set.key}: {amounts}" + ("" if everywhere else ", on some types")


def _bought(view: PlanView, name: str) -> Iterator[tuple[str, Launch]]:
    nodes = view.new_nodes()
    for launch in view.plan.launches:
        first, *_ = itertools.islice(nodes, len(launch.nodes))
        if launch.pool == name:
            yield first[0], launch


def _waiting(view: PlanView, name: str) -> dict[Rule, list[tuple[PodKey, str]]]:
    fallen: dict[Rule, list[tuple[PodKey, str]]] = {}
    waiting = (pod for key, pod in view.pending.items() if isinstance(view.outcomes[key], Waits) and not pod.problems)
    for alike in _alike(waiting):
        look = next((each for each in view.looks(alike[0]) if each.verdict.name == name), None)
        if look is not None and look.sieved.last is not None:
            told = look.verdict.nearest
            fallen.setdefault(look.sieved.last.rule, []).extend((pod.key, told) for pod in alike)
    return fallen


def _alike(pods: Iterable[Pod]) -> list[list[Pod]]:
    """Pods that every rule judges alike, so that one of them can stand for all."""
    found: dict[object, list[Pod]] = {}
    for pod in pods:
        likeness = (
            (pod.requests, pod.alternatives, pod.tolerations, pod.volume_nodes, pod.attachments, pod.host_ports),
            (pod.key.namespace, tuple(sorted(pod.labels.items())), pod.spreads, pod.affinity, pod.anti_affinity),
        )
        found.setdefault(likeness, []).append(pod)
    return list(found.values())


def _grouped(fallen: dict[Rule, list[tuple[PodKey, str]]]) -> Iterator[Fallen]:
    """In the order of the rules; pods that are told the same together."""
    for rule in Rule:
        pods = fallen.get(rule, [])
        if pods:
            told: dict[str, list[str]] = {}
            for key, why in pods:
                told.setdefault(why, []).append(str(key))
            yield Fallen(rule, len(pods), _few([f"{why}: {_few(names, ', ')}" for why, names in told.items()], "; "))


def _few(texts: Sequence[str], between: str) -> str:
    more = len(texts) - _SHOWN
    return between.join(texts[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


_SHOWN: Final = 3


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
