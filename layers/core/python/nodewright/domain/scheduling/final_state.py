"""The cluster as it will be when a plan has come true: nodes, and pods on them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nodewright.domain import nodes
from nodewright.domain.host_ports import HostPort
from nodewright.domain.plans import Launch, LaunchOffering, Plan
from nodewright.domain.pods import Attachment, DaemonSet, Pod, PodKey
from nodewright.domain.scheduling.demands import EBS_DRIVER
from nodewright.domain.scheduling.lanes import own_labels
from nodewright.domain.scheduling.residents import daemons_to_come
from nodewright.domain.snapshot import PoolOptions, Room, Snapshot
from nodewright.domain.taints import Taint


@dataclass(frozen=True, slots=True)
class Site:
    """One node."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    bound: tuple[Pod, ...]
    planned: tuple[Pod, ...]
    daemons: tuple[DaemonSet, ...]
    """Whose pods come, whatever else happens."""
    host_ports: tuple[HostPort, ...]
    """Taken by what is bound and by DaemonSets."""
    attachable: Mapping[str, int] = field(default_factory=dict)
    attached: frozenset[Attachment] = frozenset()
    """Before anything planned comes."""
    is_new: bool = False

    def label(self, key: str) -> str | None:
        """Every node is a domain of its own by hostname, also before it has that label."""
        return self.labels.get(key, self.name) if key == nodes.HOSTNAME_LABEL else self.labels.get(key)


def final_state(snapshot: Snapshot, plan: Plan) -> tuple[Site, ...]:
    """All nodes of it, in the plan's order."""
    pods = {pod.key: pod for pod in snapshot.pods}
    sent = {each.node: each.pods for each in plan.nominations}
    rooms = [_there(room, [pods[key] for key in sent.get(room.name, ())], snapshot) for room in snapshot.rooms]
    others = [replace(_there(room, [], snapshot), daemons=()) for room in snapshot.bystanders]
    return (*rooms, *others, *_new(snapshot, plan, pods))


def _there(room: Room, planned: Sequence[Pod], snapshot: Snapshot) -> Site:
    return Site(
        name=room.name,
        labels=room.labels,
        taints=room.taints,
        bound=room.pods,
        planned=tuple(planned),
        daemons=tuple(daemons_to_come(room, snapshot.daemon_sets)),
        host_ports=room.host_ports,
        attachable=room.attachable,
        attached=room.all_attached,
    )


def _new(snapshot: Snapshot, plan: Plan, pods: Mapping[PodKey, Pod]) -> Iterator[Site]:
    options = {each.pool.name: each for each in snapshot.pools}
    for number, launch in enumerate(plan.launches):
        labels = planned_labels(options[launch.pool], launch)
        empty = Room("", labels, options[launch.pool].pool.taints, launch.requests, initialized=False)
        daemons = tuple(daemons_to_come(empty, snapshot.daemon_sets))
        volumes = _volumes(options[launch.pool], launch)
        for place, keys in enumerate(launch.nodes):
            yield Site(
                name=f"new {number}.{place}",
                labels=labels,
                taints=empty.taints,
                bound=(),
                planned=tuple(pods[key] for key in keys),
                daemons=daemons,
                host_ports=tuple(port for each in daemons for port in each.host_ports),
                attachable={} if volumes is None else {EBS_DRIVER: volumes},
                is_new=True,
            )


def planned_labels(options: PoolOptions, launch: Launch) -> Mapping[str, str]:
    """Of a node of a launch, where its cheapest offering comes."""
    return offered_labels(options, launch, launch.offerings[0])


def offered_labels(options: PoolOptions, launch: Launch, offering: LaunchOffering) -> Mapping[str, str]:
    """Of a node of a launch, where this offering comes."""
    kind = options.instance_type(offering.instance_type)
    zone_id = next((each.zone_id for each in kind.offerings if each.zone == offering.zone), "")
    return {
        **kind.labels,
        nodes.INSTANCE_TYPE_LABEL: kind.name,
        nodes.ZONE_LABEL: offering.zone,
        nodes.CAPACITY_TYPE_LABEL: launch.capacity_type,
        **({nodes.ZONE_ID_LABEL: zone_id} if zone_id else {}),
        **own_labels(options.pool),
        **launch.labels,
    }


def _volumes(options: PoolOptions, launch: Launch) -> int | None:
    """The least that any listed type attaches."""
    known = (options.instance_type(name).volumes for name in dict.fromkeys(launch.instance_types))
    return min((each for each in known if each is not None), default=None)
