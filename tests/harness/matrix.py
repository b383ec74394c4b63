"""The crash matrix: each scenario once more for every call it makes and everything that may go wrong there."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from tests.harness.faults import Fault, Kind, Site, kinds_at
from tests.harness.playing import Played, play
from tests.harness.reproducing import judge, reproduction
from tests.harness.scenarios import Scenario


@dataclass(frozen=True, slots=True)
class Cell:
    """One fault at one call."""

    site: Site
    kind: Kind

    @property
    def fault(self) -> Fault:
        return Fault(*self.site[:3], self.kind)


@dataclass
class Coverage:
    """What was played, by function."""

    cells: set[tuple[str, Cell]] = field(default_factory=set)

    def add(self, scenario: Scenario, cells: Iterable[Cell]) -> None:
        self.cells |= {(scenario.name, cell) for cell in cells}

    def lines(self) -> Iterator[str]:
        """`provision: 80 calls (21 different ones) × 5.1 faults = 408`."""
        faults = Counter(cell.site.verb for _, cell in self.cells)
        calls = Counter(verb for _, verb in {((name, cell.site), cell.site.verb) for name, cell in self.cells})
        names = Counter(verb for verb, _ in {(cell.site.verb, cell.site.name) for _, cell in self.cells})
        for verb in sorted(faults):
            each = faults[verb] / calls[verb]
            yield f"{verb}: {calls[verb]} calls ({names[verb]} different ones) × {each:.1f} faults = {faults[verb]}"


def cells(undisturbed: Played) -> list[Cell]:
    """Every call in turn × every kind of fault; a function may also die before its first."""
    return [
        Cell(site, kind)
        for site in undisturbed.sites
        for kind in (*kinds_at(site.name), *((Kind.KILLED_BEFORE,) if site.call == 1 else ()))
    ]


def sample(every: list[Cell], size: int) -> list[Cell]:
    """So many, evenly spread; a step that isn't a multiple of the kinds' number meets each of them."""
    step = max(1, -(-len(every) // size))
    return list(islice(every, 0, None, step if step % 5 else step + 1))


def failure(scenario: Scenario, cell: Cell, undisturbed: Played) -> str:
    """Nothing, or what is wrong, as something to be pasted into a test."""
    wrong = judge(scenario, undisturbed, play(scenario, given=[cell.fault]))
    return reproduction(scenario.name, [cell.fault], [f"at {cell.site.name}", *wrong]) if wrong else ""
