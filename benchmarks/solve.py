"""How fast and how cheap plans are: `python -m benchmarks.solve /path/to/data/peer`.

The first table plans the workloads without constraints between pods and compares their cost with
what Karpenter's own scheduler made of them (results.json there). The second plans the same pods many
times over, and a wide catalogue of 1,400 types in three zones and two capacity types.
"""

import gzip
import json
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

from nodewright.domain.catalogue import InstanceType, Offering
from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.pools import NodePool
from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.scheduling import solve
from nodewright.domain.snapshot import PoolOptions, Snapshot

MIB = 2**20
NANOS = 1_000_000_000
NOW = datetime(2026, 1, 1, tzinfo=UTC)
WORKLOADS = ("web-small", "generic-1000", "generic-5000", "trace-1000", "trace-gpu-stripped-5000")
CATALOGUES = ("catalogue", "catalogue-cap32")


class RawPod(TypedDict):
    """A row of a workload."""

    name: str
    uid: str
    cpu_milli: int
    memory_mib: int
    labels: dict[str, str]


class RawType(TypedDict):
    """A row of a catalogue."""

    name: str
    arch: str
    vcpu: int
    memory_mib: int
    pods: int
    cpu_allocatable_milli: int
    memory_allocatable_bytes: int
    zones: list[str]
    price_od: float


def main(peer: Path) -> None:
    results = json.loads((peer / "results.json").read_text())
    print(
        f"{'workload':26}{'catalogue':17}{'pods':>6}{'nodes':>6}{'USD/h':>10}{'÷bound':>8}{'Karpenter':>11}"
        f"{'left':>6}{'CPU s':>9}{'pods/s':>10}"
    )
    for workload in WORKLOADS:
        pods = [pod(raw) for raw in read_pods(peer, workload)]
        for name in CATALOGUES:
            types = [instance_type(raw) for raw in json.loads((peer / f"{name}.json").read_text())]
            plan, seconds = timed(pods, types)
            show(workload, name, pods, plan, seconds, results[workload][name]["cost_usd_per_hour"])
    raw_pods = read_pods(peer, "generic-5000")
    wide = widened([instance_type(raw) for raw in json.loads((peer / "catalogue.json").read_text())])
    for times in (1, 4, 10):
        pods = [pod({**raw, "name": f"{raw['name']}-{n}"}) for n in range(times) for raw in raw_pods]
        plan, seconds = timed(pods, wide)
        show(f"generic × {times}", f"{len(wide)} types", pods, plan, seconds, None)


def timed(pods: Sequence[Pod], types: Sequence[InstanceType]) -> tuple[Plan, float]:
    pool = NodePool("default", "default", Requirements([Requirement.of("kubernetes.io/os", "In", ["linux"])]))
    snapshot = Snapshot(NOW, tuple(pods), (), (PoolOptions(pool, tuple(types), None),))
    # Of this process: what else the machine does is not the planner's.
    start = time.process_time()
    plan = solve(snapshot)
    return plan, time.process_time() - start


def show(workload: str, name: str, pods: Sequence[Pod], plan: Plan, seconds: float, peer: float | None) -> None:
    nodes = sum(len(launch.nodes) for launch in plan.launches)
    ratio = plan.cost / plan.bound if plan.bound else float("nan")
    print(
        f"{workload:26}{name:17}{len(pods):6}{nodes:6}{plan.cost / NANOS:10.3f}{ratio:8.3f}"
        f"{peer or float('nan'):11.3f}{len(plan.unschedulable):6}{seconds:9.3f}{len(pods) / seconds:10.0f}"
    )


def read_pods(peer: Path, workload: str) -> list[RawPod]:
    plain = peer / f"{workload}.json"
    packed = peer / f"{workload}.json.gz"
    rows: list[RawPod] = json.loads(plain.read_text() if plain.exists() else gzip.decompress(packed.read_bytes()))
    return rows


def pod(raw: RawPod) -> Pod:
    requests = Resources({"cpu": raw["cpu_milli"], "memory": raw["memory_mib"] * MIB, "pods": 1})
    key = PodKey("default", raw["name"])
    return Pod(key, raw["uid"], raw["labels"], {}, requests, (Requirements(),), (), NOW)


def instance_type(raw: RawType) -> InstanceType:
    price = round(raw["price_od"] * NANOS)
    return InstanceType(
        name=raw["name"],
        labels={
            "node.kubernetes.io/instance-type": raw["name"],
            "kubernetes.io/arch": raw["arch"],
            "kubernetes.io/os": "linux",
        },
        capacity=Resources({"cpu": raw["vcpu"] * 1000, "memory": raw["memory_mib"] * MIB, "pods": raw["pods"]}),
        allocatable=Resources(
            {"cpu": raw["cpu_allocatable_milli"], "memory": raw["memory_allocatable_bytes"], "pods": raw["pods"]}
        ),
        offerings=tuple(Offering(zone, "on-demand", price) for zone in raw["zones"]),
    )


def widened(types: Sequence[InstanceType]) -> list[InstanceType]:
    """1,400 types, each also as spot at a price of its own in each zone."""
    return [_variant(types[n % len(types)], n) for n in range(1400)]


def _variant(kind: InstanceType, number: int) -> InstanceType:
    name = f"{kind.name}-v{number}"
    spot = [
        Offering(each.zone, "spot", each.price * (30 + (number * 7 + place * 13) % 40) // 100)
        for place, each in enumerate(kind.offerings)
    ]
    labels = {**kind.labels, "node.kubernetes.io/instance-type": name}
    return InstanceType(name, labels, kind.capacity, kind.allocatable, (*kind.offerings, *spot))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
