"""Workloads to plan, as Kubernetes has them: those of the peer's folder, and the mix of Karpenter's own benchmark."""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final, NotRequired, TypedDict

ZONE: Final = "topology.kubernetes.io/zone"
HOST: Final = "kubernetes.io/hostname"
Json = dict[str, object]


class _Preferred(TypedDict):
    kind: str
    weight: int
    zones: NotRequired[list[str]]
    selector: NotRequired[dict[str, str]]


class _PeerPod(TypedDict):
    name: str
    cpu_milli: int
    memory_mib: int
    labels: dict[str, str]
    zone_spread: NotRequired[dict[str, str] | None]
    host_spread: NotRequired[dict[str, str] | None]
    zone_affinity: NotRequired[dict[str, str] | None]
    host_anti_affinity: NotRequired[dict[str, str] | None]
    preferred: NotRequired[list[_Preferred]]


class _PeerType(TypedDict):
    name: str
    arch: str
    vcpu: int
    memory_mib: int
    pods: int
    cpu_allocatable_milli: int
    memory_allocatable_bytes: int
    zones: list[str]
    price_od: float


PEER_WORKLOADS: Final = (
    "web-small",
    "generic-1000",
    "generic-5000",
    "trace-1000",
    "trace-gpu-stripped-5000",
    "diverse-1000",
    "diverse-5000",
    "preferences-1000",
)
_TIMES: Final = 10
_MULTIPLIED: Final = f"generic-5000 × {_TIMES}"
PEER_CATALOGUES: Final = ("catalogue", "catalogue-cap32")
FAKE: Final = "400 fake types"


@dataclass(frozen=True, slots=True)
class Workload:
    """What both planners get."""

    name: str
    catalogue_name: str
    pods: Sequence[Json]
    catalogue: Json
    """As `nodewright plan --catalogue` reads it."""
    capacity_types: tuple[str, ...] = ("on-demand",)
    preferences: str = "Respect"

    def encoded(self) -> bytes:
        """What goes into either planner's standard input."""
        return json.dumps(
            {
                "pods": self.pods,
                "catalogue": self.catalogue,
                "capacityTypes": self.capacity_types,
                "preferences": self.preferences,
            }
        ).encode()


def catalogues(folder: Path) -> Mapping[str, Json]:
    """The folder's, and the types of Karpenter's benchmark, by name."""
    found: dict[str, Json] = {FAKE: _fake_catalogue()}
    for name in PEER_CATALOGUES:
        types: list[_PeerType] = json.loads(_read(folder, name))
        found[name] = {"instanceTypes": [_peer_type(raw) for raw in types]}
    return found


def peer_workloads(folder: Path) -> Iterator[Workload]:
    """Every workload of the folder with either catalogue."""
    for name in (*PEER_WORKLOADS, _MULTIPLIED):
        raw_pods: list[_PeerPod] = json.loads(_read(folder, name.partition(" ")[0]))
        times = _TIMES if name == _MULTIPLIED else 1
        pods = [_peer_pod(_numbered(raw, copy)) for copy in range(times) for raw in raw_pods]
        for catalogue in PEER_CATALOGUES[:1] if name == _MULTIPLIED else PEER_CATALOGUES:
            raw_types: list[_PeerType] = json.loads(_read(folder, catalogue))
            yield Workload(name, catalogue, pods, {"instanceTypes": [_peer_type(raw) for raw in raw_types]})


def karpenter_mix() -> Iterator[Workload]:
    """The distributions of Karpenter's benchmark, drawn anew: its own draws depend on what ran before."""
    both = ("spot", "on-demand")
    for count in (1_000, 5_000, 20_000):
        yield Workload(f"mix of {count:,}", FAKE, diverse(count), _fake_catalogue(), both)
    for policy in ("Respect", "Ignore"):
        yield Workload(f"preferences {policy}", FAKE, preferring(4_000), _fake_catalogue(), both, policy)


def diverse(count: int) -> list[Json]:
    """A fifth each plain, spread over zones, spread over hosts, together in a zone, and one per host."""
    random = Random(42)  # noqa: S311 - drawn, not secret
    different = (_plain, _zone_spread, _host_spread, _zone_affinity, _one_per_host)
    kinds = [kind for kind in different for _ in range(count // len(different))]
    kinds += [_plain] * (count - len(kinds))
    return [_pod(f"p-{number}", random, *kind(random)) for number, kind in enumerate(kinds)]


def preferring(count: int) -> list[Json]:
    """Equal pods that would like a zone, and to be apart over zones and hosts."""
    random, labels = Random(42), {"app": "nginx"}  # noqa: S311 - drawn, not secret
    apart = [{"weight": weight, "podAffinityTerm": term(labels, key)} for weight, key in ((10, ZONE), (1, HOST))]
    zone = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["test-zone-1"]}]}
    affinity = {
        "nodeAffinity": {PREFERRED: [{"weight": 1, "preference": zone}]},
        "podAntiAffinity": {PREFERRED: apart},
    }
    requests = _requests(random)
    return [manifest(f"p-{number}", labels, requests, {"affinity": affinity}) for number in range(count)]


_CPU: Final = (100, 250, 500, 1_000, 1_500)
_MEMORY: Final = (100, 256, 512, 1_024, 2_048, 4_096)
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


def _plain(random: Random) -> tuple[Mapping[str, str], Json]:
    return _label(random), {}


def _zone_spread(random: Random) -> tuple[Mapping[str, str], Json]:
    return _spread(random, ZONE)


def _host_spread(random: Random) -> tuple[Mapping[str, str], Json]:
    return _spread(random, HOST)


def _spread(random: Random, key: str) -> tuple[Mapping[str, str], Json]:
    labels, selected = _label(random), _label(random)
    return labels, {"topologySpreadConstraints": [constraint(selected, key)]}


def _zone_affinity(random: Random) -> tuple[Mapping[str, str], Json]:
    labels = {"my-affinity": random.choice("abcdefg")}
    return labels, {"affinity": {"podAffinity": {REQUIRED: [term(labels, ZONE)]}}}


def _one_per_host(random: Random) -> tuple[Mapping[str, str], Json]:  # noqa: ARG001 - as the others
    labels = {"app": "nginx"}
    return labels, {"affinity": {"podAntiAffinity": {REQUIRED: [term(labels, HOST)]}}}


def _label(random: Random) -> dict[str, str]:
    return {"my-label": random.choice("abcdefg")}


def term(labels: Mapping[str, str], key: str) -> Json:
    return {"labelSelector": {"matchLabels": dict(labels)}, "topologyKey": key}


def _pod(name: str, random: Random, labels: Mapping[str, str], spec: Json) -> Json:
    return manifest(name, labels, _requests(random), spec)


def _requests(random: Random) -> Json:
    return {"cpu": f"{random.choice(_CPU)}m", "memory": f"{random.choice(_MEMORY)}Mi"}


def manifest(name: str, labels: Mapping[str, str], requests: Json, spec: Json) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", "labels": dict(labels)},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}], **spec},
        "status": {
            "phase": "Pending",
            "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}],
        },
    }


def _fake_catalogue() -> Json:
    return {"instanceTypes": [_fake_type(number) for number in range(400)]}


def _fake_type(number: int) -> Json:
    cores = number + 1
    price = 0.1 * cores + 0.1 * cores * 2 * 2**30 / 1e9
    sold = [(zone, kind) for kind in ("spot", "on-demand") for zone in ("test-zone-1", "test-zone-2")]
    sold.append(("test-zone-3", "on-demand"))
    return {
        "name": f"fake-it-{number}",
        "labels": {"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"},
        "capacity": {"cpu": str(cores), "memory": f"{2 * cores}Gi", "pods": str(10 * cores)},
        "allocatable": {
            "cpu": f"{1_000 * cores - 100}m",
            "memory": f"{2_048 * cores - 10}Mi",
            "pods": str(10 * cores),
        },
        "offerings": [{"zone": zone, "capacityType": kind, "price": price, "available": True} for zone, kind in sold],
    }


def _numbered(raw: _PeerPod, copy: int) -> _PeerPod:
    return {**raw, "name": f"{raw['name']}-{copy}"}


def _read(folder: Path, name: str) -> bytes:
    plain = folder / f"{name}.json"
    return plain.read_bytes() if plain.exists() else gzip.decompress((folder / f"{name}.json.gz").read_bytes())


def _peer_type(raw: _PeerType) -> Json:
    return {
        "name": raw["name"],
        "labels": {"kubernetes.io/arch": raw["arch"], "kubernetes.io/os": "linux"},
        "capacity": {"cpu": str(raw["vcpu"]), "memory": f"{raw['memory_mib']}Mi", "pods": str(raw["pods"])},
        "allocatable": {
            "cpu": f"{raw['cpu_allocatable_milli']}m",
            "memory": str(raw["memory_allocatable_bytes"]),
            "pods": str(raw["pods"]),
        },
        "offerings": [{"zone": zone, "capacityType": "on-demand", "price": raw["price_od"]} for zone in raw["zones"]],
    }


def _peer_pod(raw: _PeerPod) -> Json:
    requests: Json = {"cpu": f"{raw['cpu_milli']}m", "memory": f"{raw['memory_mib']}Mi"}
    return manifest(raw["name"], raw["labels"], requests, _peer_rules(raw))


def _peer_rules(raw: _PeerPod) -> Json:
    spreads = [
        constraint(selected, key)
        for selected, key in ((raw.get("zone_spread"), ZONE), (raw.get("host_spread"), HOST))
        if selected
    ]
    affinity = dict(_peer_affinity(raw))
    return {
        **({"topologySpreadConstraints": spreads} if spreads else {}),
        **({"affinity": affinity} if affinity else {}),
    }


def constraint(selected: Mapping[str, str], key: str) -> Json:
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": dict(selected)},
    }


def _peer_affinity(raw: _PeerPod) -> Iterator[tuple[str, Json]]:
    if together := raw.get("zone_affinity"):
        yield "podAffinity", {REQUIRED: [term(together, ZONE)]}
    preferred = raw.get("preferred", [])
    zones = [_zone_preference(each) for each in preferred if each["kind"] == "node_zone"]
    if zones:
        yield "nodeAffinity", {PREFERRED: zones}
    soft = [_apart_preference(each) for each in preferred if each["kind"] != "node_zone"]
    apart = raw.get("host_anti_affinity")
    terms = {REQUIRED: [term(apart, HOST)] if apart else [], PREFERRED: soft}
    if apart or soft:
        yield "podAntiAffinity", {name: given for name, given in terms.items() if given}


def _zone_preference(raw: _Preferred) -> Json:
    expression = {"key": ZONE, "operator": "In", "values": raw.get("zones", [])}
    return {"weight": raw["weight"], "preference": {"matchExpressions": [expression]}}


def _apart_preference(raw: _Preferred) -> Json:
    key = ZONE if raw["kind"].startswith("zone") else HOST
    return {"weight": raw["weight"], "podAffinityTerm": term(raw.get("selector", {}), key)}
