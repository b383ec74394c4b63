"""`make test` plays 20 generated clusters, `make test-all` (NODEWRIGHT_CLUSTERS) 300."""

import os
from pathlib import Path

import pytest

from tests.kube_scheduler.bench import Bench
from tests.kube_scheduler.comparing import compare
from tests.kube_scheduler.generated import generate
from tests.kube_scheduler.scenario_files import scenario_file

pytestmark = pytest.mark.sandbox

CLUSTERS = int(os.environ.get("NODEWRIGHT_CLUSTERS", "20"))


@pytest.mark.parametrize("seed", range(CLUSTERS))
def test_kube_scheduler_binds_what_was_planned_and_nothing_else(
    kube_scheduler: Bench, seed: int, tmp_path: Path
) -> None:
    outcome = compare(kube_scheduler, generate(seed))
    file = tmp_path / f"seed-{seed}.yaml"
    file.write_text(scenario_file(outcome))
    assert outcome.agrees, f"{outcome}\nthe world as a scenario file: {file}"
