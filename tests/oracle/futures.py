"""What a planned node may become: any of its launch's offerings."""

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nodewright.domain import nodes
from nodewright.domain.catalogue import InstanceType
from nodewright.domain.plans import Launch, LaunchOffering, Plan
from nodewright.domain.pods import DaemonSet, Pod, PodKey
from nodewright.domain.pools import NodePool
from nodewright.domain.quantities import Resources
from nodewright.domain.snapshot import PoolOptions, Room, Snapshot
from tests.oracle.cluster import Site, Standing, existing, rule_keys
from tests.oracle.filters import runs_on

EBS = "ebs.csi.aws.com"
_MOST = 12


@dataclass(frozen=True, slots=True)
class PlannedNode:
    """One node of a launch."""

    name: str
    launch: Launch
    options: PoolOptions
    pods: tuple[PodKey, ...]


def planned_nodes(snapshot: Snapshot, plan: Plan) -> list[PlannedNode]:
    """Of pools that are there; what names others is broken anyway."""
    pools = {each.pool.name: each for each in snapshot.pools}
    return [
        PlannedNode(f"launch-{number}-node-{index}", launch, pools[launch.pool], pods)
        for number, launch in enumerate(plan.launches)
        if launch.pool in pools
        for index, pods in enumerate(launch.nodes)
    ]


def sites_there(snapshot: Snapshot) -> Iterator[Site]:
    """The nodes that exist. One of ours that is still starting gets the labels that we put on last."""

    def coming(room: Room) -> Iterator[DaemonSet]:
        last = {nodes.REGISTERED_LABEL: "true", nodes.INITIALIZED_LABEL: "true"}
        labels = {**room.labels, **(last if room.pool and not room.initialized else {})}
        return (
            each for each in snapshot.daemon_sets if runs_on(each.alternatives, each.tolerations, labels, room.taints)
        )

    return existing(snapshot, coming)


def site_of(node: PlannedNode, offering: LaunchOffering, snapshot: Snapshot) -> Site | None:
    """The node when this offering came; None where the pool has no such type."""
    instance_type = type_named(offering.instance_type, node.options)
    return None if instance_type is None else _site(node, offering, instance_type, snapshot)


def type_named(name: str, options: PoolOptions) -> InstanceType | None:
    return next((each for each in options.instance_types if each.name == name), None)


def node_labels(
    pool: NodePool, launch: Launch, offering: LaunchOffering, instance_type: InstanceType
) -> dict[str, str]:
    """What the node carries once it is initialized, but for its hostname."""
    fixed = {
        key: min(each.values)
        for key, each in pool.requirements.items()
        if not each.complement and len(each.values) == 1 and not each.allows_absent
    }
    zone_ids = [(nodes.ZONE_ID_LABEL, o.zone_id) for o in instance_type.offerings if o.zone == offering.zone]
    return {
        **fixed,
        **instance_type.labels,
        **pool.labels,
        **launch.labels,
        **dict(pair for pair in zone_ids if pair[1]),
        nodes.ZONE_LABEL: offering.zone,
        nodes.CAPACITY_TYPE_LABEL: launch.capacity_type,
        nodes.NODE_POOL_LABEL: pool.name,
        nodes.PROVISIONER_LABEL: pool.name,
        nodes.REGISTERED_LABEL: "true",
        nodes.INITIALIZED_LABEL: "true",
    }


def futures(planned: Sequence[PlannedNode], snapshot: Snapshot, rng: random.Random) -> Iterator[Mapping[str, Site]]:
    """What may have come in the end, node by node: all of it while that is little, else a sample.

    Offerings that differ in nothing a rule between pods reads count as one.
    """
    choices = [sites for node in planned if (sites := _different(node, snapshot))]
    size = 1
    for each in choices:
        size = min(size * len(each), _MOST + 1)
    drawn = itertools.product(*choices) if size <= _MOST else _sample(choices, rng)
    return ({site.name: site for site in drawing} for drawing in drawn)


def _sample(choices: Sequence[Sequence[Site]], rng: random.Random) -> Iterator[tuple[Site, ...]]:
    """Everybody's first, everybody's second …, then by chance."""
    most = min(max(map(len, choices)), _MOST // 2)
    yield from (tuple(each[number % len(each)] for each in choices) for number in range(most))
    yield from (tuple(rng.choice(each) for each in choices) for _ in range(_MOST - most))


def _different(node: PlannedNode, snapshot: Snapshot) -> list[Site]:
    read = _keys_between_pods(snapshot)
    found: dict[object, Site] = {}
    for offering in node.launch.offerings:
        site = site_of(node, offering, snapshot)
        if site is not None:
            seen = (tuple(site.labels.get(key) for key in read), repr(site.daemons))
            found.setdefault(seen, site)
    return list(found.values())


def _keys_between_pods(snapshot: Snapshot) -> list[str]:
    there = (pod for room in (*snapshot.rooms, *snapshot.bystanders) for pod in room.pods)
    return sorted({key for pod in (*snapshot.pods, *there) for key in _keys_of(pod)})


def _keys_of(pod: Pod) -> Iterator[str]:
    yield from rule_keys(pod)
    if pod.spreads:
        yield from (key for term in pod.alternatives for key in term)


def _site(node: PlannedNode, offering: LaunchOffering, instance_type: InstanceType, snapshot: Snapshot) -> Site:
    pool = node.options.pool
    labels = node_labels(pool, node.launch, offering, instance_type)
    daemons = [
        each for each in snapshot.daemon_sets if runs_on(each.alternatives, each.tolerations, labels, pool.taints)
    ]
    return Site(
        name=node.name,
        labels={**labels, nodes.HOSTNAME_LABEL: node.name},
        taints=pool.taints,
        free=instance_type.allocatable - sum((each.requests for each in daemons), Resources()),
        ports=tuple(port for each in daemons for port in each.host_ports),
        attachable={} if instance_type.volumes is None else {EBS: instance_type.volumes},
        daemons=tuple(Standing(each.key.namespace, each.labels) for each in daemons),
    )
