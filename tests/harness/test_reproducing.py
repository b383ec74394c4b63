"""A failure is told as something to paste; what was found once stays found."""

import pytest

from tests.harness import chaos
from tests.harness.faults import Fault, Kind
from tests.harness.matrix import Coverage, cells, sample
from tests.harness.playing import Played, play
from tests.harness.reproducing import FAULTLESS, assert_whole, judge, reproduction
from tests.harness.scenarios import SCENARIOS, drawn
from tests.harness.weather import ROUGH


def test_a_scenario_is_the_same_each_time() -> None:
    first, second = (play(drawn(3), 3, weather=ROUGH) for _ in range(2))
    assert first == second
    assert first.happened, "weather is rough"


def test_faults_that_were_drawn_can_be_played_again() -> None:
    played = play(drawn(3), 3, weather=ROUGH)
    again = play(drawn(3), 3, played.happened, FAULTLESS)
    assert (again.sites, again.happened, again.bought) == (played.sites, played.happened, played.bought)


def test_a_failure_is_shortened_to_the_faults_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    every = tuple(Fault("provision", 1, call, Kind.LOST) for call in range(1, 9))
    needed = {every[2], every[5]}

    def stub(_story: object, _seed: int, given: list[Fault], _weather: object) -> Played:
        wrong = ("broken",) if needed <= set(given) else ()
        return Played(wrong, (), tuple(given), 0, drawn(0).lasts)

    monkeypatch.setattr(chaos, "play", stub)
    found, wrong = chaos.shortened(7, Played(("broken at first",), (), every, 0, drawn(0).lasts))
    assert (set(found), wrong) == (needed, ("broken",))


def test_a_reproduction_can_be_pasted() -> None:
    fault = Fault("provision", 1, 9, Kind.KILLED)
    line = reproduction("from zero", [fault], ["5 pods wait"], seed=2).splitlines()[0]
    assert line == "assert_whole('from zero', 2, [Fault('provision', 1, 9, Kind.KILLED)])"
    assert eval(repr(fault)) == fault  # noqa: S307  that is what pasting means


def test_buying_more_than_undisturbed_is_wrong() -> None:
    scenario = SCENARIOS["from zero"]
    undisturbed = play(scenario)
    more = Played((), (), (), undisturbed.bought + 1, undisturbed.lasted)
    assert judge(scenario, undisturbed, more) == ("3 instances were bought, 2 undisturbed (+ 0)",)
    assert judge(scenario, undisturbed, undisturbed) == ()


def test_every_call_and_every_kind_is_in_the_matrix() -> None:
    played = play(SCENARIOS["from zero"])
    every = cells(played)
    assert {cell.site for cell in every} == set(played.sites)
    assert {cell.kind for cell in every} == set(Kind)
    assert {cell.kind for cell in sample(every, 60)} >= set(Kind) - {Kind.KILLED_BEFORE}
    assert len(sample(every, 60)) <= 60
    coverage = Coverage()
    coverage.add(SCENARIOS["from zero"], every)
    assert sum(int(line.rpartition(" ")[2]) for line in coverage.lines()) == len(every)


def test_what_is_pasted_runs() -> None:
    assert_whole("from zero", 0, [Fault("provision", 1, 9, Kind.KILLED)])
    assert_whole("drawn 3", 3, [Fault("provision", 1, 9, Kind.KILLED)])
