"""A failure as one line that can be pasted into a test, and the function it calls."""

from collections.abc import Sequence
from dataclasses import replace

from tests.harness.faults import Fault
from tests.harness.playing import Played, play
from tests.harness.scenarios import SCENARIOS, Scenario, drawn
from tests.harness.weather import CALM, ROUGH

#: Rough, but with no faults other than those that are given.
FAULTLESS = replace(ROUGH, faults=0.0)


def assert_whole(name: str, seed: int = 0, faults: Sequence[Fault] = ()) -> None:
    """Play it with exactly these faults, and find nothing wrong: a drawn story in rough weather, a told one in calm."""
    wrong = disturbed(name, seed, faults)
    assert not wrong, reproduction(name, faults, wrong, seed)


def disturbed(name: str, seed: int, faults: Sequence[Fault]) -> tuple[str, ...]:
    """What is wrong at the end."""
    if name not in SCENARIOS:
        return play(drawn(int(name.removeprefix("drawn "))), seed, faults, FAULTLESS).wrong
    scenario = SCENARIOS[name]
    return judge(scenario, play(scenario), play(scenario, seed, faults, CALM))


def judge(scenario: Scenario, undisturbed: Played, played: Played) -> tuple[str, ...]:
    """What is wrong with a disturbed run; it may buy no more than the undisturbed one and what the scenario grants."""
    most = undisturbed.bought + scenario.spare
    dear = f"{played.bought} instances were bought, {undisturbed.bought} undisturbed (+ {scenario.spare})"
    return (*played.wrong, *([dear] if played.bought > most else []))


def reproduction(name: str, faults: Sequence[Fault], wrong: Sequence[str], seed: int = 0) -> str:
    """A line of Python, and what it shows."""
    return "\n    ".join((f"assert_whole({name!r}, {seed}, {list(faults)!r})", *wrong))
