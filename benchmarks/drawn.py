"""Workloads drawn anew, beside Karpenter's own scheduler: whose plan is cheaper, and by how much.

One to sixty deployments of one to a hundred pods each: spread over zones or hosts, apart, together, or plain.
Karpenter's workers race, so that its price differs by up to half a per cent between runs.
"""

import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from benchmarks.karpenter_scheduler import karpenter
from benchmarks.solve import karpenter_plan, plan
from benchmarks.tables import show
from benchmarks.workloads import (
    FAKE,
    HOST,
    PREFERRED,
    REQUIRED,
    ZONE,
    Json,
    Workload,
    catalogues,
    constraint,
    manifest,
    term,
)

_SIZES: Sequence[Sequence[int]] = ((1, 2, 3), (2, 5, 10), (5, 20, 50), (1, 3, 100))
_CPU: Sequence[Sequence[int]] = (
    (100, 250, 500, 1000, 1500),
    (10, 50, 100, 200),
    (500, 2000, 4000, 7000),
    (100, 3000, 15000),
)
_MEMORY: Sequence[Sequence[int]] = ((100, 256, 512, 1024, 4096), (64, 128, 256), (512, 8192, 16384), (4096, 30000))
_SAME = 1e-6


def main(peer: Path, count: int) -> None:
    program, offered = karpenter(), catalogues(peer)
    found: defaultdict[str, list[float]] = defaultdict(list)
    worse: list[tuple[object, ...]] = []
    for seed in range(count):
        workload = drawn(seed, offered)
        ours, theirs = plan(workload), karpenter_plan(program, workload)
        if theirs is None or ours.unschedulable < theirs.unschedulable:
            continue
        ratio = ours.cost / theirs.cost if ours.unschedulable == theirs.unschedulable else float("inf")
        print(f"{workload.name}, {workload.catalogue_name}: {ratio:.3f}", file=sys.stderr, flush=True)
        found[workload.catalogue_name].append(ratio)
        if ratio > 1 + _SAME:
            worse.append(
                (
                    workload.name,
                    workload.catalogue_name,
                    len(workload.pods),
                    *(f"{each.cost:.3f}" for each in (ours, theirs)),
                )
            )
    columns = ("types", "workloads", "cheaper", "equal", "dearer", "median ÷ Karpenter", "least", "most")
    show(columns, [_row(name, ratios) for name, ratios in sorted(found.items())])
    if worse:
        show(("workload", "types", "pods", "USD/h", "Karpenter"), worse)


def drawn(seed: int, offered: Mapping[str, Json]) -> Workload:
    """The same for a seed."""
    random = Random(seed)  # noqa: S311 - drawn, not secret
    name = random.choice(sorted(offered))
    kinds = ("spot", "on-demand") if name == FAKE else ("on-demand",)
    return Workload(f"drawn {seed}", name, list(_pods(random)), offered[name], kinds)


def _pods(random: Random) -> Iterator[Json]:
    sizes, cpu, memory = random.choice(_SIZES), random.choice(_CPU), random.choice(_MEMORY)
    for number in range(random.choice((1, 2, 5, 12, 30, 60))):
        requests: Json = {"cpu": f"{random.choice(cpu)}m", "memory": f"{random.choice(memory)}Mi"}
        yield from _deployment(f"d{number}", random.choice(sizes), requests, random)


def _deployment(name: str, count: int, requests: Json, random: Random) -> Iterator[Json]:
    """Pods of one, under a rule or two between them, or none."""
    labels = {"app": name}
    spec = _rules(labels, random)
    return (manifest(f"{name}-{number}", labels, requests, spec) for number in range(count))


def _rules(labels: Mapping[str, str], random: Random) -> Json:
    drawn = {
        random.choice(("zone", "host", "apart", "together", "none", "none", "wish"))
        for _ in range(random.choice((1, 1, 2)))
    }
    keys = [key for sort, key in (("zone", ZONE), ("host", HOST)) if sort in drawn]
    spreads = [{**constraint(labels, key), "maxSkew": random.choice((1, 1, 2, 5))} for key in keys]
    apart: dict[str, object] = {}
    if "apart" in drawn:
        apart[REQUIRED] = [term(labels, HOST)]
    if "wish" in drawn:
        apart[PREFERRED] = [{"weight": 10, "podAffinityTerm": term(labels, HOST)}]
    together = {"podAffinity": {REQUIRED: [term(labels, ZONE)]}} if "together" in drawn and not spreads else {}
    affinity = {**together, **({"podAntiAffinity": apart} if apart else {})}
    return {
        **({"topologySpreadConstraints": spreads} if spreads else {}),
        **({"affinity": affinity} if affinity else {}),
    }


def _row(name: str, ratios: Sequence[float]) -> tuple[object, ...]:
    cheaper, dearer = sum(each < 1 - _SAME for each in ratios), sum(each > 1 + _SAME for each in ratios)
    numbers = (f"{each:.3f}" for each in (statistics.median(ratios), min(ratios), max(ratios)))
    return (name, len(ratios), cheaper, len(ratios) - cheaper - dearer, dearer, *numbers)
