"""Plans made by hand, right unless a test breaks something."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from nodewright.domain.catalogue import CapacityType
from nodewright.domain.plans import Launch, LaunchOffering, Nomination, Plan, Unschedulable
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirements
from nodewright.domain.snapshot import Room, Snapshot
from nodewright.domain.topology import PodAffinityTerm, PodSelector, TopologySpread
from tests.builders import room

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
WEB = PodSelector(Requirements.from_labels({"app": "web"}), frozenset({"default"}))


def launch(
    snapshot: Snapshot,
    *nodes: Sequence[Pod],
    types: Iterable[str] = ("x.s",),
    zones: Iterable[str] = ("a",),
    pool: str = "default",
    capacity_type: CapacityType = "on-demand",
    labels: Mapping[str, str] | None = None,
) -> Launch:
    """Nodes of these pods, of any of the types in any of the zones."""
    options = next(each for each in snapshot.pools if each.pool.name == pool)
    offerings = sorted(
        (
            LaunchOffering(each.name, offering.zone, offering.price)
            for each in options.instance_types
            for offering in each.offerings
            if each.name in set(types) and offering.zone in set(zones) and offering.capacity_type == capacity_type
        ),
        key=lambda each: (each.price, each.instance_type, each.zone),
    )
    return Launch(
        pool=pool,
        capacity_type=capacity_type,
        offerings=tuple(offerings),
        price=offerings[0].price,
        requests=sum((pod.requests for pod in nodes[0]), Resources()),
        nodes=tuple(tuple(pod.key for pod in content) for content in nodes),
        labels=labels or {},
    )


def plan(snapshot: Snapshot, *launches: Launch, rooms: Mapping[str, Sequence[Pod]] | None = None) -> Plan:
    """Whoever is on no launch and in no room is left."""
    nominations = tuple(Nomination(name, tuple(pod.key for pod in each)) for name, each in (rooms or {}).items())
    placed = {key for each in launches for content in each.nodes for key in content}
    placed |= {key for each in nominations for key in each.pods}
    left = tuple(Unschedulable(pod.key, "No", "because") for pod in snapshot.pods if pod.key not in placed)
    return Plan(launches, nominations, left, sum(each.price * len(each.nodes) for each in launches))


def node(name: str, zone: str = "a", *standing: Pod, **overrides: object) -> Room:
    """A room in a zone, named by its hostname label too."""
    labels = {HOST: name, ZONE: zone, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}
    more = overrides.pop("labels", {})
    assert isinstance(more, Mapping)
    return room(name, labels={**labels, **more}, pods=standing, **overrides)  # type: ignore[arg-type]


def spread(key: str = ZONE, **overrides: object) -> TopologySpread:
    """Of `app: web`, maxSkew 1, DoNotSchedule."""
    return replace(TopologySpread(key, WEB), **overrides)  # type: ignore[arg-type]


def term(key: str = ZONE, selector: PodSelector = WEB) -> PodAffinityTerm:
    return PodAffinityTerm(key, selector)


def key(name: str) -> PodKey:
    return PodKey("default", name)
