"""Of every scenario file each pod, node and pool can be explained, and what is told agrees with the plan."""

import functools
import io
from pathlib import Path

import pytest
from rich.console import Console

from nodewright.cli.explain_json import Explanation, explanation_json
from nodewright.cli.explain_table import show_explanation
from nodewright.domain.scheduling.explaining import explain_node, explain_pod, explain_pool
from nodewright.domain.scheduling.explanations import OnNewNode, OnNode, PodExplanation, Waits
from nodewright.domain.scheduling.plan_views import PlanView
from tests.scenarios.scenario import FOLDER, read_scenario

FILES = sorted(FOLDER.glob("*.yaml"))


@functools.cache
def view_of(path: Path) -> PlanView:
    planned = read_scenario(path).plan()
    return PlanView(planned.snapshot, planned.plan)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_told_of_pods_agrees_with_the_plan(path: Path) -> None:
    view = view_of(path)
    told = [explain_pod(view, key) for key in sorted(view.pending)]
    assert [fault for each in told for fault in _faults(each, view)] == []


def _faults(told: PodExplanation, view: PlanView) -> list[str]:
    would_do = {pool.name: pool.left for pool in told.pools}
    match told.outcome:
        case OnNode():
            return [] if told.nodes.left else [f"{told.pod} goes to a node that is said not to do: {told.nodes}"]
        case OnNewNode(_, launch, _):
            return [] if would_do[launch.pool] else [f"{told.pod} is bought what is said not to do: {told.pools}"]
        case Waits(reason) if not view.pending[told.pod].problems:
            left = told.nodes.left or any(would_do.values())
            return [f"{told.pod} waits ({reason}) and nothing says why: {told.pools}"] if left else []
        case _:
            return []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_everything_can_be_shown(path: Path) -> None:
    view = view_of(path)
    rooms = [room.name for room in (*view.snapshot.rooms, *view.snapshot.bystanders)]
    told: list[Explanation] = [explain_pod(view, key) for key in view.pending]
    told += [explain_node(view, name) for name in (*rooms, *(name for name, _, _ in view.new_nodes()))]
    told += [explain_pool(view, options.pool.name) for options in view.snapshot.pools]
    for each in told:
        page = io.StringIO()
        show_explanation(each, Console(file=page, width=80))
        assert max(map(len, page.getvalue().splitlines())) <= 80
        assert explanation_json(each)
