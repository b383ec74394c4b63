"""Every use case stopped at every call to the outside, in every way; then the world runs on, and must be whole.

`make test` plays an even sample, `make test-all` (NODEWRIGHT_CELLS=all) every cell.
"""

import os

import pytest

from tests.harness.matrix import Coverage, cells, failure, sample
from tests.harness.playing import play
from tests.harness.scenarios import SCENARIOS

#: Cells of each scenario.
SAMPLE = os.environ.get("NODEWRIGHT_CELLS", "60")


@pytest.mark.parametrize("name", SCENARIOS)
def test_whatever_goes_wrong_at_whichever_call_everything_is_whole_in_the_end(name: str, coverage: Coverage) -> None:
    scenario = SCENARIOS[name]
    undisturbed = play(scenario)
    assert not undisturbed.wrong
    every = cells(undisturbed)
    chosen = every if SAMPLE == "all" else sample(every, int(SAMPLE))
    coverage.add(scenario, chosen)
    failures = [found for found in (failure(scenario, cell, undisturbed) for cell in chosen) if found]
    assert not failures, "\n".join([f"{len(failures)} of {len(chosen)}:", *failures[:10]])
