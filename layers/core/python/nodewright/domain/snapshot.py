"""Everything a decision may look at, taken at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from nodewright.domain.catalogue import InstanceType
from nodewright.domain.host_ports import HostPort
from nodewright.domain.pods import Attachment, DaemonSet, Pod, PodKey
from nodewright.domain.pools import NodePool
from nodewright.domain.quantities import Resources
from nodewright.domain.taints import Taint
from nodewright.domain.topology import Namespaces


@dataclass(frozen=True, slots=True)
class Room:
    """A node that exists or is on its way, as the scheduler will see it.

    `taints` leaves out what goes away by itself while it starts (startup and known ephemeral
    taints); `available` is allocatable less bound pods and the DaemonSet pods still to come.
    """

    name: str
    """The Node's name, or the claim's id while there is no Node."""
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    available: Resources
    initialized: bool
    pool: str = ""
    nominated: tuple[PodKey, ...] = ()
    """Pods planned for it earlier, bound or not; those that still wait are placed here first."""
    pods: tuple[Pod, ...] = ()
    """Bound to it and not finished; `available` is without them."""
    coming: frozenset[PodKey] = frozenset()
    """Of those the ones that are only planned to be there: their own rules still matter."""
    host_ports: tuple[HostPort, ...] = ()
    """Taken by those, and by DaemonSet pods still to come."""
    attachable: Mapping[str, int] = field(default_factory=dict)
    """CSI driver → volumes it can have attached, those of its pods included; no entry: no limit is known."""
    attached: frozenset[Attachment] = frozenset()
    """Volumes that are, those still to be detached included; those of its pods may be missing."""
    open_labels: Mapping[str, frozenset[str | None]] = field(default_factory=dict)
    """Labels that aren't in `labels` because it may come with one of these values or another; None: without it."""

    @property
    def all_attached(self) -> frozenset[Attachment]:
        """What counts towards the limits before anything is planned."""
        return self.attached.union(*(pod.attachments for pod in self.pods))


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """A pool with what can be bought for it now."""

    pool: NodePool
    instance_types: tuple[InstanceType, ...]
    remaining: Resources | None
    """Limits less what is in use or reserved; None where the pool has no limits."""
    _by_name: dict[str, InstanceType] = field(default_factory=dict, init=False, repr=False, compare=False)

    def instance_type(self, name: str) -> InstanceType:
        """Of what can be bought. KeyError where it isn't among that."""
        if not self._by_name:
            self._by_name.update((each.name, each) for each in self.instance_types)
        return self._by_name[name]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One cluster. Pods are the pending ones only; bound ones are in the rooms' `available`."""

    now: datetime
    pods: tuple[Pod, ...]
    rooms: tuple[Room, ...]
    """Nodes that pods may go to."""
    pools: tuple[PoolOptions, ...]
    daemon_sets: tuple[DaemonSet, ...] = ()
    set_aside: Mapping[PodKey, str] = field(default_factory=dict)
    """Pods nothing is bought for now → why; rooms that are there may take them (domain/set_aside.py)."""
    bystanders: tuple[Room, ...] = ()
    """Nodes that take no pods (cordoned, not Ready, Fargate …), but whose labels and pods rules between pods
    count. What has to leave its node is among `pods` and not counted there."""
    namespaces: Namespaces = field(default_factory=dict)
    expected: tuple[Pod, ...] = ()
    """Pods that are about to be made: planned with what `pods` leave."""
    headroom: tuple[Pod, ...] = ()
    """Room to be kept free, as pods: planned with what all others leave."""
