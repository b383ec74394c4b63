"""Drawn stories in rough weather: messages late, doubled, out of order or lost, clocks wrong, calls that fail.

`make test` plays 100 seeds, `make test-all` (NODEWRIGHT_SEEDS) 2,000.
"""

import os

import pytest

from tests.harness.chaos import failure

SEEDS = int(os.environ.get("NODEWRIGHT_SEEDS", "100"))
#: Of one test.
BATCH = 20


@pytest.mark.parametrize("first", range(0, SEEDS, BATCH))
def test_in_any_weather_everything_is_whole_in_the_end(first: int) -> None:
    failures = [found for found in map(failure, range(first, min(first + BATCH, SEEDS))) if found]
    assert not failures, "\n".join([f"{len(failures)} of {BATCH}:", *failures])
