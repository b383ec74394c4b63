"""A cluster as kube-scheduler sees it: nodes, and what stands on them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from nodewright.domain.host_ports import HostPort
from nodewright.domain.pods import Attachment, DaemonSet, Pod
from nodewright.domain.quantities import Resources
from nodewright.domain.snapshot import Room, Snapshot
from nodewright.domain.taints import Taint
from nodewright.domain.topology import Namespaces, PodAffinityTerm


@dataclass(frozen=True, slots=True)
class Standing:
    """A pod on a node, as far as rules between pods look at it."""

    namespace: str
    labels: Mapping[str, str]
    anti_affinity: tuple[PodAffinityTerm, ...] = ()
    terminating: bool = False

    @classmethod
    def of(cls, pod: Pod) -> "Standing":
        return cls(pod.key.namespace, pod.labels, pod.anti_affinity, pod.terminating)


@dataclass(frozen=True, slots=True)
class Site:
    """A node before any planned pod is bound to it."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    free: Resources
    ports: tuple[HostPort, ...] = ()
    attachable: Mapping[str, int] = field(default_factory=dict)
    attached: frozenset[Attachment] = frozenset()
    standing: tuple[Standing, ...] = ()
    daemons: tuple[Standing, ...] = ()
    """Pods of DaemonSets that are yet to come; `free` and `ports` count them already."""
    takes_pods: bool = True


@dataclass(slots=True)
class Cluster:
    """Sites that are there, and the planned pods bound so far."""

    namespaces: Namespaces
    sites: dict[str, Site] = field(default_factory=dict)
    bound: dict[str, list[Pod]] = field(default_factory=dict)
    daemons: dict[str, tuple[Standing, ...]] = field(default_factory=dict)

    def join(self, site: Site) -> None:
        self.sites[site.name] = site
        self.bound[site.name] = []

    def bind(self, pod: Pod, name: str) -> None:
        self.bound[name].append(pod)

    def start_daemons(self, name: str, those: tuple[Standing, ...]) -> None:
        self.daemons[name] = those

    def standing(self, site: Site) -> Iterator[Standing]:
        """Everything on a node."""
        yield from site.standing
        yield from self.daemons.get(site.name, ())
        yield from (Standing.of(pod) for pod in self.bound[site.name])

    def everywhere(self) -> Iterator[tuple[Site, Standing]]:
        return ((site, each) for site in self.sites.values() for each in self.standing(site))


def existing(snapshot: Snapshot, daemons_of: Callable[[Room], Iterable[DaemonSet]]) -> Iterator[Site]:
    """The nodes of a snapshot, those that take no pods included, with the DaemonSets that are yet to come to them."""
    for room in snapshot.rooms:
        coming = (each for each in daemons_of(room) if not _runs_already(each, room))
        yield _site(room, takes_pods=True, daemons=tuple(Standing(each.key.namespace, each.labels) for each in coming))
    yield from (_site(room, takes_pods=False, daemons=()) for room in snapshot.bystanders)


def rule_keys(pod: Pod) -> frozenset[str]:
    """Node labels over which its hard rules between pods go."""
    spread = (each.topology_key for each in pod.spreads if each.hard)
    return frozenset([*spread, *(each.topology_key for each in (*pod.affinity, *pod.anti_affinity))])


def _runs_already(daemon_set: DaemonSet, room: Room) -> bool:
    owners = {(pod.key.namespace, pod.owner.name) for pod in room.pods if pod.owner and pod.owner.kind == "DaemonSet"}
    return (daemon_set.key.namespace, daemon_set.key.name) in owners


def _site(room: Room, *, takes_pods: bool, daemons: tuple[Standing, ...]) -> Site:
    return Site(
        name=room.name,
        labels=room.labels,
        taints=room.taints,
        free=room.available,
        ports=room.host_ports,
        attachable=room.attachable,
        attached=room.attached.union(*(pod.attachments for pod in room.pods)),
        standing=tuple(map(Standing.of, room.pods)),
        daemons=daemons,
        takes_pods=takes_pods,
    )
