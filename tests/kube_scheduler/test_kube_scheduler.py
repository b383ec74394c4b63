"""`make test` plays 20 generated clusters, `make test-all` (NODEWRIGHT_CLUSTERS) 300."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.kube_scheduler.bench import Bench
from tests.kube_scheduler.comparing import compare
from tests.kube_scheduler.generated import generate
from tests.kube_scheduler.outcomes import Outcome
from tests.kube_scheduler.scenario_files import scenario_file

pytestmark = pytest.mark.sandbox

SEEDS = range(int(os.environ.get("NODEWRIGHT_CLUSTERS", "20")))

Play = Callable[[int], Outcome]


@pytest.fixture(scope="module")
def play(kube_scheduler: Bench) -> Play:
    """Each seed is played once."""
    return cache(lambda seed: compare(kube_scheduler, generate(seed)))


@pytest.mark.parametrize("seed", SEEDS)
def test_kube_scheduler_binds_what_was_planned_and_nothing_else(play: Play, seed: int, tmp_path: Path) -> None:
    outcome = play(seed)
    file = tmp_path / f"seed-{seed}.yaml"
    file.write_text(scenario_file(outcome))
    assert outcome.agrees, f"{outcome}\nthe world as a scenario file: {file}"


def test_few_pods_find_their_node_taken_by_one_that_went_where_it_liked(play: Play) -> None:
    first = [play(seed).first for seed in SEEDS]
    planned = sum(len(each.bought.planned) for each in first)
    assert sum(len(each.stranded) for each in first) <= planned * 0.03
    assert planned > 0.6 * sum(len(each.cluster.pending) for each in first)
