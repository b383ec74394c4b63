"""How many calls × faults the crash matrix has; `make test-all` plays every one, `make test` an even sample."""

from benchmarks.tables import show
from tests.harness.matrix import Coverage, cells
from tests.harness.playing import play
from tests.harness.scenarios import SCENARIOS


def main() -> None:
    coverage, rows = Coverage(), []
    for name, scenario in SCENARIOS.items():
        every = cells(play(scenario))
        coverage.add(scenario, every)
        rows.append((name, len({cell.site for cell in every}), len(every)))
    show(("scenario", "calls", "calls × faults"), rows)
    print(f"{len(rows)} scenarios, {len(coverage.cells)} cells; by function:", *coverage.lines(), sep="\n")
