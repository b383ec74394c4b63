"""Where the time of a plan goes: seconds of each module of the planner, and of what it calls."""

import cProfile
import pstats
from collections import Counter
from pathlib import Path
from typing import Final

from benchmarks.planner import snapshot_of
from benchmarks.tables import show
from benchmarks.workloads import Workload, peer_workloads
from nodewright.domain.scheduling import AT_ONCE, Budget, solve
from nodewright.domain.snapshot import Snapshot

#: One that all pods of are under no rule, one of most that are.
PROFILED: Final = ("generic-5000", "diverse-5000")
MOST: Final = 8


def main(peer: Path) -> None:
    for workload in peer_workloads(peer):
        if workload.name in PROFILED and workload.catalogue_name == "catalogue":
            _tell(workload)


def _tell(workload: Workload) -> None:
    snapshot = snapshot_of(workload.encoded())
    solve(snapshot, AT_ONCE)
    for name, budget in (("fast", AT_ONCE), ("whole", Budget())):
        own = _profiled(snapshot, budget)
        whole = sum(own.values())
        print(f"\n{workload.name}, {name}: {whole:.1f} s under the profiler")
        show(("where", "s", "%"), [(where, s, f"{100 * s / whole:.0f}") for where, s in own.most_common(MOST)])


def _profiled(snapshot: Snapshot, budget: Budget) -> Counter[str]:
    """Own seconds by module; the libraries count as one each."""
    profile = cProfile.Profile()
    profile.runcall(solve, snapshot, budget)
    found: Counter[str] = Counter()
    for (file, _, function), (_, _, own, _, _) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        found[_where(file, function)] += own
    return found


def _where(file: str, function: str) -> str:
    for library in ("highspy", "numpy"):
        if library in file or library in function.lower():
            return library
    return Path(file).stem if "nodewright" in file else "Python itself"
