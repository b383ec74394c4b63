"""Domain values for tests: everything has a default, a test names what it is about.

The default catalogue is that of the reference cases: x.s, x.m, x.l and the GPU type g.m.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from nodewright.domain.catalogue import CapacityType, InstanceType, Offering
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.nodes import Node
from nodewright.domain.pods import DaemonSet, Owner, Pod, PodKey
from nodewright.domain.pools import NodePool
from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.snapshot import PoolOptions, Room, Snapshot
from nodewright.domain.taints import Taint, Toleration
from nodewright.domain.topology import PodAffinityTerm, PodSelector, TopologySpread

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
USD = 1_000_000_000

EXISTS = (Toleration(operator="Exists"),)


def resources(**amounts: str | int) -> Resources:
    """`cpu="500m", memory="1Gi", gpu=1`; underscores stand for dashes."""
    names = {"gpu": "nvidia.com/gpu"}
    return Resources.parse({names.get(name, name.replace("_", "-")): amount for name, amount in amounts.items()})


def requirements(*entries: tuple[object, ...] | Requirement) -> Requirements:
    """`("team", "In", "a", "b")`, … ANDed."""
    return Requirements(each if isinstance(each, Requirement) else _requirement(*each) for each in entries)


def pod(
    name: str = "p",
    *,
    cpu: str | int = "500m",
    memory: str | int = "256Mi",
    selector: Mapping[str, str] | None = None,
    terms: Sequence[Requirements] = (),
    tolerates: Sequence[Toleration] = (),
    **overrides: object,
) -> Pod:
    """A pending pod. Further requests go in `requests` (added to cpu and memory)."""
    key = PodKey("default", name)
    more = overrides.pop("requests", Resources())
    assert isinstance(more, Resources)
    base = Requirements.from_labels(selector or {})
    defaults: dict[str, object] = {
        "key": key,
        "uid": f"uid-{name}",
        "labels": {},
        "annotations": {},
        "requests": resources(cpu=cpu, memory=memory, pods=1) + more,
        "alternatives": tuple(base.intersect(term) for term in terms) or (base,),
        "tolerations": tuple(tolerates),
        "created": NOW,
    }
    return Pod(**{**defaults, **overrides})  # type: ignore[arg-type]


def pods(count: int, name: str = "p", **overrides: object) -> tuple[Pod, ...]:
    """`name-0`, `name-1`, …"""
    return tuple(pod(f"{name}-{number}", **overrides) for number in range(count))  # type: ignore[arg-type]


def selector(labels: Mapping[str, str] | None, namespace: str = "default") -> PodSelector:
    """Pods of these labels in one namespace; None selects none."""
    of = None if labels is None else Requirements.from_labels(labels)
    return PodSelector(of, frozenset({namespace}))


def spread(
    key: str = "topology.kubernetes.io/zone", labels: Mapping[str, str] | None = None, **overrides: object
) -> TopologySpread:
    """A hard one, maxSkew 1, over pods labelled `app: w` unless told otherwise."""
    return TopologySpread(key, selector(labels or {"app": "w"}), **overrides)  # type: ignore[arg-type]


def term(key: str = "topology.kubernetes.io/zone", labels: Mapping[str, str] | None = None) -> PodAffinityTerm:
    """Of affinity or anti-affinity, to pods labelled `app: w` unless told otherwise."""
    return PodAffinityTerm(key, selector(labels or {"app": "w"}))


def daemon_pod(name: str, node: str, daemon_set: str, *, namespace: str = "kube-system", **overrides: object) -> Pod:
    """A DaemonSet's pod, bound."""
    made = pod(name, owner=Owner("DaemonSet", daemon_set, "uid"), node_name=node, phase="Running", **overrides)  # type: ignore[arg-type]
    return replace(made, key=PodKey(namespace, name))


def daemon_set(
    name: str = "agent",
    *,
    cpu: str | int = "300m",
    memory: str | int = "256Mi",
    terms: Sequence[Requirements] = (Requirements(),),
    tolerates: Sequence[Toleration] = EXISTS,
) -> DaemonSet:
    """Tolerates everything unless told otherwise."""
    requests = resources(cpu=cpu, memory=memory, pods=1)
    return DaemonSet(PodKey("kube-system", name), requests, tuple(terms), tuple(tolerates))


def offering(
    zone: str = "a", capacity_type: CapacityType = "on-demand", price: float = 1.0, *, available: bool = True
) -> Offering:
    """`price` in USD per hour."""
    return Offering(zone, capacity_type, round(price * USD), available)


def instance_type(
    name: str = "x.s",
    *,
    cpu: str | int = "1930m",
    memory: str | int = "3Gi",
    pod_slots: int = 110,
    vcpu: int | None = None,
    gpu: int = 0,
    arch: str = "amd64",
    on_demand: float | None = 1.0,
    spot: float | None = 0.4,
    zones: Iterable[str] = ("a", "b", "c"),
    labels: Mapping[str, str] | None = None,
    offerings: Sequence[Offering] | None = None,
) -> InstanceType:
    """A type whose `cpu` and `memory` are allocatable; its capacity has them rounded up to `vcpu` cores."""
    accelerators = {"nvidia.com/gpu": gpu}
    allocatable = resources(cpu=cpu, memory=memory, pods=pod_slots) + Resources(accelerators)
    cores = vcpu if vcpu is not None else -(-allocatable.get("cpu") // 1000)
    prices: tuple[tuple[CapacityType, float | None], ...] = (("on-demand", on_demand), ("spot", spot))
    sold = [offering(zone, kind, price) for zone in zones for kind, price in prices if price is not None]
    family, _, size = name.partition(".")
    derived = {
        "node.kubernetes.io/instance-type": name,
        "kubernetes.io/arch": arch,
        "kubernetes.io/os": "linux",
        "karpenter.k8s.aws/instance-family": family,
        "karpenter.k8s.aws/instance-size": size,
        "karpenter.k8s.aws/instance-cpu": str(cores),
        **({"karpenter.k8s.aws/instance-gpu-count": str(gpu)} if gpu else {}),
    }
    return InstanceType(
        name=name,
        labels={**derived, **(labels or {})},
        capacity=Resources({**allocatable, "cpu": cores * 1000}),
        allocatable=allocatable,
        offerings=tuple(offerings if offerings is not None else sold),
    )


def catalogue() -> tuple[InstanceType, ...]:
    """The default test catalogue of the reference cases."""
    return (
        instance_type("x.s"),
        instance_type("x.m", cpu="3920m", memory="7Gi", on_demand=2.0, spot=0.8),
        instance_type("x.l", cpu="7910m", memory="15Gi", on_demand=4.0, spot=1.6, zones=("a", "b")),
        instance_type("g.m", cpu="3920m", memory="14Gi", gpu=1, on_demand=6.0, spot=2.5, zones=("a",)),
    )


def pool(name: str = "default", *entries: tuple[object, ...] | Requirement, **overrides: object) -> NodePool:
    """A pool with these requirements."""
    labels = overrides.get("labels", {})
    assert isinstance(labels, Mapping)
    both = requirements(*entries).intersect(Requirements.from_labels(labels))
    defaults: dict[str, object] = {"name": name, "node_class": "default", "requirements": both}
    return NodePool(**{**defaults, **overrides})  # type: ignore[arg-type]


def options(
    of: NodePool | None = None,
    types: Sequence[InstanceType] | None = None,
    remaining: Resources | None = None,
) -> PoolOptions:
    """A pool with what it can buy; the default catalogue where nothing is said."""
    return PoolOptions(of or pool(), tuple(catalogue() if types is None else types), remaining)


def room(name: str = "n", *, cpu: str | int = "2", memory: str | int = "4Gi", **overrides: object) -> Room:
    """An initialized node with that much free and 110 pod slots."""
    defaults: dict[str, object] = {
        "name": name,
        "labels": {"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"},
        "taints": (),
        "available": resources(cpu=cpu, memory=memory, pods=110),
        "initialized": True,
    }
    return Room(**{**defaults, **overrides})  # type: ignore[arg-type]


def snapshot(
    waiting: Iterable[Pod] = (),
    *,
    rooms: Iterable[Room] = (),
    pools: Iterable[PoolOptions] | None = None,
    daemon_sets: Iterable[DaemonSet] = (),
    **overrides: object,
) -> Snapshot:
    """One default pool unless told otherwise."""
    offered = tuple(pools) if pools is not None else (options(),)
    made = Snapshot(NOW, tuple(waiting), tuple(rooms), offered, tuple(daemon_sets))
    return replace(made, **overrides)  # type: ignore[arg-type]


def node(name: str = "n", *, cpu: str | int = "2", memory: str | int = "4Gi", **overrides: object) -> Node:
    """A Ready node."""
    size = resources(cpu=cpu, memory=memory, pods=110)
    defaults: dict[str, object] = {
        "name": name,
        "uid": f"uid-{name}",
        "provider_id": f"aws:///a/i-{name}",
        "labels": {"kubernetes.io/hostname": name},
        "annotations": {},
        "taints": (),
        "capacity": size,
        "allocatable": size,
        "ready": True,
        "created": NOW,
    }
    return Node(**{**defaults, **overrides})  # type: ignore[arg-type]


def claim(id: str = "c", **overrides: object) -> NodeClaim:  # noqa: A002
    """Launched, x.s on-demand in zone a, no node yet."""
    size = resources(cpu="1930m", memory="3Gi", pods=110)
    defaults: dict[str, object] = {
        "id": id,
        "launch_id": "launch",
        "state": ClaimState.LAUNCHED,
        "pool": "default",
        "node_class": "default",
        "pool_hash": "",
        "class_hash": "",
        "created": NOW,
        "labels": {},
        "taints": (),
        "startup_taints": (),
        "requests": Resources(),
        "nominated_pods": (),
        "instance_type": "x.s",
        "zone": "a",
        "capacity": size,
        "allocatable": size,
    }
    return NodeClaim(**{**defaults, **overrides})  # type: ignore[arg-type]


def taint(key: str, value: str = "", effect: str = "NoSchedule") -> Taint:
    """NoSchedule unless told otherwise."""
    return Taint(key, value, effect)  # type: ignore[arg-type]


def _requirement(key: object, operator: object, *values: object) -> Requirement:
    return Requirement.of(str(key), operator, [str(value) for value in values])  # type: ignore[arg-type]
