"""Pods that are crowded into few domains while an empty one could be had: kube-scheduler, which knows only nodes
that exist, would let them, but it isn't what a spread is for (cases.md 6).
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace

from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod
from nodewright.domain.quantities import Resources
from nodewright.domain.snapshot import Snapshot
from nodewright.domain.topology import TopologySpread
from tests.oracle.binding import final_state
from tests.oracle.cluster import Cluster, Site
from tests.oracle.filters import refusal, spread_counts
from tests.oracle.futures import PlannedNode, futures, planned_nodes
from tests.oracle.launches import launch_faults
from tests.oracle.placing import new_node_plans, shrunk
from tests.oracle.sparing import unspared


def crowded(snapshot: Snapshot, plan: Plan) -> list[str]:
    """Sentences about pods on new nodes that would have had an empty domain of their own."""
    pods = {pod.key: pod for pod in snapshot.pods}
    found = (
        _crowding(pods[key], spread, node, snapshot, plan)
        for node in planned_nodes(snapshot, plan)
        for key in node.pods
        for spread in pods[key].spreads
        if spread.hard and spread.selector.labels and spread.selector.labels.admits(pods[key].labels)
    )
    return [each for each in found if each is not None]


def _crowding(pod: Pod, spread: TopologySpread, node: PlannedNode, snapshot: Snapshot, plan: Plan) -> str | None:
    new = next(iter(futures(planned_nodes(snapshot, plan), snapshot, random.Random(1))))
    counts = spread_counts(pod, spread, [each for each in pod.spreads if each.hard], final_state(snapshot, plan, new))
    domain = new[node.name].labels.get(spread.topology_key, "")
    if counts.get(domain, 0) <= spread.max_skew:
        return None
    for where, moved in _moves(pod, snapshot, _without(pod, node, snapshot, plan)):
        sites = next(iter(futures(planned_nodes(snapshot, moved), snapshot, random.Random(1))))
        its_own = list(sites.values())[-1]
        empty = its_own.labels.get(spread.topology_key, domain) not in counts
        if empty and refusal(pod, its_own, _before(pod, its_own.name, snapshot, moved, sites)) is None:
            return f"{pod.key} is number {counts[domain]} in {spread.topology_key} {domain}; it could have {where}"
    return None


def _before(pod: Pod, home: str, snapshot: Snapshot, plan: Plan, sites: Mapping[str, Site]) -> Cluster:
    """Everything bound but the pod."""
    cluster = final_state(snapshot, plan, sites)
    cluster.bound[home].remove(pod)
    return cluster


def _moves(pod: Pod, snapshot: Snapshot, plan: Plan) -> Iterator[tuple[str, Plan]]:
    given = unspared(snapshot, pod)
    for options in snapshot.pools:
        if not options.pool.terminating:
            for where, moved in new_node_plans(snapshot, plan, pod, options):
                bought = {(options.pool.name, each.instance_type) for each in moved.launches[-1].offerings}
                if bought <= given and not any(launch_faults(snapshot, moved)):
                    yield where, moved


def _without(pod: Pod, node: PlannedNode, snapshot: Snapshot, plan: Plan) -> Plan:
    """The plan with the pod taken off its node."""
    requests = {each.key: each.requests for each in snapshot.pods}
    others = tuple(key for key in node.pods if key != pod.key)
    asked = sum((requests[key] for key in others), Resources())
    left = [replace(node.launch, nodes=(others,), requests=asked)] if others else []
    return replace(plan, launches=(*shrunk(plan, node), *left), bound=None)
