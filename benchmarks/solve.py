"""Plans beside Karpenter's own scheduler, on the same pods and types in the same run.

Either planner has a process of its own for each workload. Rates count CPU seconds on our side; on Karpenter's, whose
five workers use every core there is, wall or CPU seconds, whichever are less: what else the machine does is held
against neither. `fast` is our greedy plan, which is there first; `whole` what is bought.
"""

import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.karpenter_scheduler import karpenter
from benchmarks.tables import show
from benchmarks.workloads import Workload, karpenter_mix, peer_workloads

MEBI = 2**20
#: Karpenter gives a solve a minute; some workloads take it longer, and are given up after this.
PATIENCE_SECONDS = 600
COLUMNS = (
    *(
        "workload",
        "types",
        "pods",
        "USD/h",
        "÷bound",
        "Karpenter",
        "saved %",
        "nodes",
        "Karpenter",
        "left",
        "Karpenter",
    ),
    *("fast pods/s", "whole s", "Karpenter pods/s", "× faster", "MiB", "Karpenter"),
)


@dataclass(frozen=True, slots=True)
class Ours:
    """What our planner answered."""

    fast_seconds: float
    seconds: float
    cost: float
    bound: float | None
    nodes: int
    unschedulable: int
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class Theirs:
    """What Karpenter's answered."""

    seconds: float
    cost: float
    nodes: int
    unschedulable: int
    peak_bytes: int


def main(peer: Path | None) -> None:
    """Of the peer's folder, where there is one, and the mix of Karpenter's own benchmark."""
    program = karpenter()
    show(COLUMNS, list(_rows(program, [*(peer_workloads(peer) if peer else ()), *karpenter_mix()])))


def _rows(program: Path, workloads: Iterable[Workload]) -> Iterable[tuple[object, ...]]:
    for workload in workloads:
        print(f"{workload.name}, {workload.catalogue_name} …", file=sys.stderr, flush=True)
        ours, theirs = plan(workload), karpenter_plan(program, workload)
        yield _row(workload, ours, theirs)


def plan(workload: Workload) -> Ours:
    done = _run([sys.executable, "-m", "benchmarks.planner"], workload)
    if done is None:
        raise TimeoutError(f"{workload.name}: not planned within {PATIENCE_SECONDS} s")
    seconds = done["fastSeconds"], done["seconds"], done["cost"], done["bound"] or None
    return Ours(*seconds, *(int(done[key]) for key in _WHOLE))


def karpenter_plan(program: Path, workload: Workload) -> Theirs | None:
    """None where it took too long."""
    done = _run([str(program)], workload)
    if done is None:
        return None
    return Theirs(min(done["seconds"], done["cpuSeconds"]), float(done["cost"]), *(int(done[key]) for key in _WHOLE))


_LATE = "too long"
_WHOLE = ("nodes", "unschedulable", "peakBytes")


def _run(command: list[str], workload: Workload) -> dict[str, float] | None:
    try:
        done = subprocess.run(
            command, input=workload.encoded(), stdout=subprocess.PIPE, timeout=PATIENCE_SECONDS, check=True
        )
    except subprocess.TimeoutExpired:
        return None
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def _row(workload: Workload, ours: Ours, theirs: Theirs | None) -> tuple[object, ...]:
    pods = len(workload.pods)
    fast = (pods - ours.unschedulable) / ours.fast_seconds
    gap = f"{ours.cost / ours.bound:.3f}" if ours.bound else "-"
    known = (workload.name, workload.catalogue_name, f"{pods:,}", f"{ours.cost:.3f}", gap)
    took = (f"{fast:,.0f}", ours.seconds)
    mine = ours.peak_bytes // MEBI
    if theirs is None:
        return (*known, _LATE, "-", ours.nodes, _LATE, ours.unschedulable, _LATE, *took, _LATE, "-", mine, "-")
    rate = (pods - theirs.unschedulable) / theirs.seconds
    return (
        *known,
        f"{theirs.cost:.3f}",
        (1 - ours.cost / theirs.cost) * 100,
        *(ours.nodes, theirs.nodes, ours.unschedulable, theirs.unschedulable),
        *took,
        f"{rate:,.0f}",
        fast / rate,
        *(mine, theirs.peak_bytes // MEBI),
    )
