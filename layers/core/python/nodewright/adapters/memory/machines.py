"""EC2 instances that live in virtual time: they boot, join as their user data says, and die."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from random import Random
from typing import Final

from nodewright.adapters.memory.control_plane import ControlPlane
from nodewright.adapters.memory.fleet import LAUNCH_TAG, InMemoryFleet
from nodewright.adapters.memory.timeline import Timeline
from nodewright.application.ports import FleetAnswer, FleetRequest, Instance
from nodewright.domain import nodes
from nodewright.domain.catalogue import InstanceType
from nodewright.domain.nodes import Node
from nodewright.domain.taints import Taint

#: From RunInstances to kubelet's Node, and from there to Ready.
BOOT: Final = timedelta(seconds=30)
GETTING_READY: Final = timedelta(seconds=5)
#: Whoever waits for a startup taint's removal waits so long from there.
STARTING_UP: Final = timedelta(seconds=5)
#: A terminated instance is shown for about an hour.
SHOWN: Final = timedelta(hours=1)
SHUTTING_DOWN: Final = timedelta(seconds=30)

_NOT_READY: Final = Taint("node.kubernetes.io/not-ready")


@dataclass(frozen=True, slots=True)
class Birth:
    """What user data makes of a machine."""

    labels: Mapping[str, str]
    taints: tuple[Taint, ...]


#: Reads user data; None where no node would come of it.
ReadUserData = Callable[[str], Birth | None]
#: An instance's type as its pool sees it: its size.
Size = Callable[[Instance], InstanceType]


@dataclass(kw_only=True)
class LivingFleet(InMemoryFleet):
    """Instances take a while to be seen, and to be gone."""

    timeline: Timeline
    lag: timedelta = timedelta()
    """Until describing shows an instance."""
    on_start: list[Callable[[Instance], None]] = field(default_factory=list)
    on_end: list[Callable[[Instance], None]] = field(default_factory=list)
    _forgotten: set[str] = field(default_factory=set)

    def launch(self, request: FleetRequest) -> FleetAnswer:
        """What it starts is told to who listens."""
        before = set(self.instances)
        try:
            return super().launch(request)
        finally:
            for instance_id in sorted(set(self.instances) - before):
                for tell in self.on_start:
                    tell(self.instances[instance_id])

    def launched(self, launch_id: str) -> tuple[Instance, ...]:
        """Not the youngest."""
        return self._seen(super().launched(launch_id))

    def ours_among(self, instance_ids: Sequence[str]) -> tuple[Instance, ...]:
        """Not the youngest."""
        return self._seen(super().ours_among(instance_ids))

    def ours(self, cluster: str) -> tuple[Instance, ...]:
        """Not the youngest."""
        return self._seen(super().ours(cluster))

    def terminate(self, instance_ids: Sequence[str]) -> None:
        """Slowly."""
        for instance_id in instance_ids:
            self.end(instance_id)

    def end(self, instance_id: str) -> None:
        """It shuts down: by us, by AWS, by itself."""
        instance = self.instances.get(instance_id)
        if instance is None or instance.state != "running":
            return
        self._turn(instance_id, "shutting-down")
        for tell in self.on_end:
            tell(instance)
        self.timeline.after(SHUTTING_DOWN, lambda: self._turn(instance_id, "terminated"))
        self.timeline.after(SHUTTING_DOWN + SHOWN, lambda: self._forgotten.add(instance_id))

    def _turn(self, instance_id: str, state: str) -> None:
        self.instances[instance_id] = replace(self.instances[instance_id], state=state)

    def _seen(self, instances: Sequence[Instance]) -> tuple[Instance, ...]:
        now = self.clock.now()
        known = (i for i in instances if i.id not in self._forgotten)
        return tuple(i for i in known if i.launched is None or now - i.launched >= self.lag)


@dataclass
class Machines:
    """Instances of a fleet become nodes of a cluster."""

    fleet: LivingFleet
    plane: ControlPlane
    timeline: Timeline
    read: ReadUserData
    size: Size
    chance: Random
    boot: tuple[timedelta, timedelta] = (BOOT, BOOT)
    """At least and at most."""

    def __post_init__(self) -> None:
        self.fleet.on_start.append(self._start)
        self.fleet.on_end.append(self._end)

    def _start(self, instance: Instance) -> None:
        shortest, longest = self.boot
        self.timeline.after(shortest + self.chance.random() * (longest - shortest), lambda: self._join(instance.id))

    def _end(self, instance: Instance) -> None:
        self.plane.lost(instance.private_dns_name, _uid(instance))

    def _join(self, instance_id: str) -> None:
        instance = self.fleet.instances[instance_id]
        birth = self.read(self.user_data(instance)) if instance.state == "running" else None
        if birth is not None:
            self.plane.join(self._node(instance, birth))
            self.timeline.after(GETTING_READY, lambda: self._ready(instance, birth))

    def _ready(self, instance: Instance, birth: Birth) -> None:
        if self.fleet.instances[instance.id].state == "running":
            self.plane.ready(instance.private_dns_name, (_NOT_READY.key,))
            pool = self.plane.cluster.pools.get(birth.labels.get(nodes.NODE_POOL_LABEL, ""))
            startup = tuple(taint.key for taint in pool.startup_taints) if pool else ()
            self.timeline.after(STARTING_UP, lambda: self.plane.untaint(instance.private_dns_name, startup))

    def _node(self, instance: Instance, birth: Birth) -> Node:
        size = self.size(instance)
        own = {
            nodes.INSTANCE_TYPE_LABEL: instance.instance_type,
            nodes.ZONE_LABEL: instance.zone,
            nodes.ARCH_LABEL: size.labels[nodes.ARCH_LABEL],
            nodes.OS_LABEL: "linux",
            nodes.HOSTNAME_LABEL: instance.private_dns_name,
        }
        return Node(
            name=instance.private_dns_name,
            uid=_uid(instance),
            provider_id=f"aws:///{instance.zone}/{instance.id}",
            labels={**birth.labels, **own},
            annotations={},
            taints=(*birth.taints, _NOT_READY),
            capacity=size.capacity,
            allocatable=size.allocatable,
            ready=False,
            created=self.timeline.now(),
        )

    def user_data(self, instance: Instance) -> str:
        """Of the launch template it came from."""
        request = next(c for c in self.fleet.calls if c.launch_id == instance.tags[LAUNCH_TAG])
        (name,) = {
            template.template_name
            for template in request.templates
            for override in template.overrides
            if (override.instance_type, override.zone) == (instance.instance_type, instance.zone)
        }
        return self.fleet.templates[name].user_data


def _uid(instance: Instance) -> str:
    return f"uid-{instance.private_dns_name}"
