"""Where a pod that a plan leaves could still have gone."""

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import get_args

from nodewright.domain.catalogue import CapacityType
from nodewright.domain.labels import WELL_KNOWN
from nodewright.domain.plans import Launch, LaunchOffering, Nomination, Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.requirements import Requirements
from nodewright.domain.snapshot import PoolOptions, Snapshot
from tests.oracle.binding import final_state, homes_of
from tests.oracle.checking import check, likeness
from tests.oracle.cluster import rule_keys
from tests.oracle.filters import Domains, includes, node_refusal, refusal
from tests.oracle.futures import PlannedNode, futures, planned_nodes, site_of
from tests.oracle.launches import limit_faults, offering_faults


def could_place(snapshot: Snapshot, plan: Plan, pod_key: PodKey) -> str | None:
    """A place that would break nothing of the plan; None when there is none, or none may be bought.

    A domain that the pod could have a node in counts as an empty one: that it stays empty is no reason to crowd others.
    """
    pod = next(each for each in snapshot.pods if each.key == pod_key)
    if pod.problems:
        return None
    without = replace(plan, unschedulable=tuple(each for each in plan.unschedulable if each.pod != pod_key), bound=None)
    reachable = _reachable_domains(pod, snapshot)
    for where, candidate in _candidates(snapshot, without, pod):
        if _is_at_home(candidate, pod, snapshot, reachable) and not check(snapshot, candidate):
            return where
    return None


def placeable(snapshot: Snapshot, plan: Plan) -> list[str]:
    """Sentences about pods that are left and could be placed; of those alike the most important is looked at."""
    left = {each.pod for each in plan.unschedulable}
    alike: dict[str, PodKey] = {}
    for pod in sorted(snapshot.pods, key=lambda pod: -pod.priority):
        if pod.key in left:
            alike.setdefault(repr((pod.key in snapshot.set_aside, likeness(pod))), pod.key)
    places = ((key, could_place(snapshot, plan, key)) for key in alike.values())
    return [f"{key} could go to {place}" for key, place in places if place is not None]


def _candidates(snapshot: Snapshot, plan: Plan, pod: Pod) -> Iterator[tuple[str, Plan]]:
    for room in snapshot.rooms:
        yield room.name, replace(plan, nominations=(*plan.nominations, Nomination(room.name, (pod.key,))))
    if pod.key in snapshot.set_aside:
        return
    yield from _beside_others(snapshot, plan, pod)
    for options in snapshot.pools:
        if not options.pool.terminating:
            yield from new_node_plans(snapshot, plan, pod, options)


def _is_at_home(plan: Plan, pod: Pod, snapshot: Snapshot, reachable: Domains) -> bool:
    """Whether it could be bound last, when everything else is; a first, quick look."""
    home = next(name for each, name in homes_of(snapshot, plan) if each.key == pod.key)
    new = next(iter(futures(planned_nodes(snapshot, plan), snapshot, random.Random(1))))
    cluster = final_state(snapshot, plan, new)
    cluster.bound[home].remove(pod)
    return refusal(pod, cluster.sites[home], cluster, reachable) is None


def _beside_others(snapshot: Snapshot, plan: Plan, pod: Pod) -> Iterator[tuple[str, Plan]]:
    """On a node of the plan, which keeps the listed offerings that hold it too: all of them, or those of one zone."""
    pods = {each.key: each for each in snapshot.pods}
    for node in planned_nodes(snapshot, plan):
        others = [pods[key] for key in node.pods if key in pods]
        fitting = [each for each in node.launch.offerings if _fits(node, each, pod, others, snapshot)]
        for offerings in _with_subsets(fitting):
            grown = replace(
                node.launch,
                offerings=offerings,
                price=offerings[0].price,
                requests=node.launch.requests + pod.requests,
                nodes=((*node.pods, pod.key),),
                selected_labels=_all_labels(node.options),
            )
            where = f"{node.name} as {', '.join(f'{each.instance_type} in {each.zone}' for each in offerings)}"
            yield where, _with_cost(replace(plan, launches=(*shrunk(plan, node), grown)))


def new_node_plans(snapshot: Snapshot, plan: Plan, pod: Pod, options: PoolOptions) -> Iterator[tuple[str, Plan]]:
    """On a new node of the pool."""
    for capacity_type, labels in itertools.product(get_args(CapacityType), _label_choices(pod, options)):
        blank = Launch(
            options.pool.name, capacity_type, (), 0, pod.requests, ((pod.key,),), _all_labels(options), labels
        )
        node = PlannedNode("new", blank, options, (pod.key,))
        fitting = [
            each
            for each in _on_sale(options, capacity_type)
            if _fits(node, each, pod, [], snapshot)
            and _is_buyable(snapshot, plan, replace(blank, offerings=(each,)), options)
        ]
        for offerings in _with_subsets(fitting):
            launch = replace(blank, offerings=offerings, price=offerings[0].price)
            first = f"{capacity_type} {offerings[0].instance_type} in {offerings[0].zone}"
            where = f"a new node of {options.pool.name}, {first} or {len(offerings) - 1} more"
            yield where, _with_cost(replace(plan, launches=(*plan.launches, launch)))


def _fits(node: PlannedNode, offering: LaunchOffering, pod: Pod, others: list[Pod], snapshot: Snapshot) -> bool:
    site = site_of(node, offering, snapshot)
    return site is not None and node_refusal(pod, site, others) is None


def _is_buyable(snapshot: Snapshot, plan: Plan, launch: Launch, options: PoolOptions) -> bool:
    if any(offering_faults(launch.offerings[0], launch, options)):
        return False
    return not any(limit_faults(snapshot, replace(plan, launches=(*plan.launches, launch))))


def _on_sale(options: PoolOptions, capacity_type: CapacityType) -> list[LaunchOffering]:
    found = [
        LaunchOffering(each.name, offering.zone, offering.price)
        for each in options.instance_types
        for offering in each.offerings
        if offering.available and offering.capacity_type == capacity_type
    ]
    return sorted(found, key=lambda each: (each.price, each.instance_type, each.zone))


def _with_subsets(offerings: list[LaunchOffering]) -> Iterator[tuple[LaunchOffering, ...]]:
    """All of them, those of each zone, those of each type; equal ones once."""
    some = [tuple(offerings)]
    some += [tuple(o for o in offerings if o.zone == zone) for zone in sorted({o.zone for o in offerings})]
    some += [
        tuple(o for o in offerings if o.instance_type == name) for name in sorted({o.instance_type for o in offerings})
    ]
    some += [(each,) for each in offerings]
    yield from (each for each in dict.fromkeys(some) if each)


def _label_choices(pod: Pod, options: PoolOptions) -> Iterator[Mapping[str, str]]:
    """Ways to give a node the labels that its pool leaves open and the pod reads, as each of its terms wants them."""
    for term in pod.alternatives:
        keys = sorted(key for key in {*term, *rule_keys(pod)} if _is_choosable(key, options))
        values = [_allowed_values(key, term, options) for key in keys]
        yield from (dict(zip(keys, choice, strict=True)) for choice in itertools.product(*values))


def _is_choosable(key: str, options: PoolOptions) -> bool:
    known = key in WELL_KNOWN or any(key in each.labels for each in options.instance_types)
    return key in options.pool.requirements and key not in options.pool.labels and not known


def _allowed_values(key: str, term: Requirements, options: PoolOptions) -> list[str]:
    both = options.pool.requirements.intersect(term)[key]
    return (
        sorted(both.values)[:4] if not both.complement else [each for each in [both.some_value()] if each is not None]
    )


def _reachable_domains(pod: Pod, snapshot: Snapshot) -> Domains:
    """Domains of its spreads in which it could have a node of its own, by what the limits left before the plan."""
    plans = [
        plan
        for options in snapshot.pools
        if not options.pool.terminating
        for _, plan in new_node_plans(snapshot, Plan(), pod, options)
    ]
    sites = [
        site
        for plan in plans
        for node in planned_nodes(snapshot, plan)
        for offering in node.launch.offerings
        if (site := site_of(replace(node, name="a node to come"), offering, snapshot)) is not None
    ]
    return {
        spread: {
            site.labels[spread.topology_key]
            for site in sites
            if spread.topology_key in site.labels and includes(pod, spread, site.labels, site.taints)
        }
        for spread in pod.spreads
    }


def shrunk(plan: Plan, node: PlannedNode) -> Iterator[Launch]:
    """The plan's launches without this node."""
    for launch in plan.launches:
        left = tuple(content for content in launch.nodes if content != node.pods)
        if launch is not node.launch:
            yield launch
        elif left:
            yield replace(launch, nodes=left)


def _with_cost(plan: Plan) -> Plan:
    return replace(plan, cost=sum(launch.price * len(launch.nodes) for launch in plan.launches))


def _all_labels(options: PoolOptions) -> tuple[str, ...]:
    return tuple(sorted({key for each in options.instance_types for key in each.labels}))
