"""Seeds: a drawn scenario in rough weather. What fails is shortened to the few faults that are needed for it."""

from tests.harness.faults import Fault
from tests.harness.playing import Played, play
from tests.harness.reproducing import FAULTLESS, reproduction
from tests.harness.scenarios import drawn
from tests.harness.weather import ROUGH


def failure(seed: int) -> str:
    """Nothing, or the shortest reproduction that was found."""
    played = play(drawn(seed), seed, weather=ROUGH)
    if not played.wrong:
        return ""
    faults, wrong = shortened(seed, played)
    return reproduction(f"drawn {seed}", faults, wrong, seed=seed)


def shortened(seed: int, played: Played) -> tuple[list[Fault], tuple[str, ...]]:
    """Faults are left out one by one while it still fails, the last first: the others stay where they were."""
    needed, wrong = list(played.happened), played.wrong
    for fault in reversed(played.happened):
        fewer = [each for each in needed if each != fault]
        again = play(drawn(seed), seed, fewer, FAULTLESS)
        if again.wrong:
            needed, wrong = fewer, again.wrong
    return needed, wrong
