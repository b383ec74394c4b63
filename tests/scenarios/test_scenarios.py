"""Every scenario file of this folder, planned as `nodewright plan` does and judged by the oracle."""

from pathlib import Path

import msgspec
import pytest

from tests.oracle import check
from tests.scenarios.expectations import differences
from tests.scenarios.scenario import FOLDER, Expected, Scenario, Unschedulable, read_scenario

FILES = sorted(FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_plan_is_the_right_one(path: Path) -> None:
    scenario = read_scenario(path)
    planned = scenario.plan()
    assert differences(scenario.expect, planned) == [], scenario.name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_oracle_finds_no_fault_in_the_plan(path: Path) -> None:
    planned = read_scenario(path).plan()
    assert check(planned.snapshot, planned.plan) == []


def test_a_misspelt_expectation_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "case.yaml"
    path.write_text("name: n\nsource: s\ncatalogue: reference\nobjects: []\nexpect: {node: 2}\n")
    with pytest.raises(msgspec.ValidationError, match="node"):
        read_scenario(path)


@pytest.mark.parametrize(
    ("expected", "told"),
    [
        (Expected(nodes=2), "nodes should be 2 and is 1"),
        (Expected(cost=2.0), "cost should be 2.0 and is 1.0"),
        (Expected(types=["x.m"]), "types should be ['x.m'] and is ['x.s']"),
        (Expected(zones={"a": 1}), "zones should be {'a': 1} and is {'a|b|c': 1}"),
        (Expected(pods_per_node=[3]), "pods_per_node should be [3] and is [2]"),
        (Expected(pods_by_zone={"a": 2}), "pods_by_zone should be {'a': 2} and is {'a|b|c': 2}"),
        (Expected(pools={"other": 1}), "pools should be {'other': 1} and is {'default': 1}"),
        (Expected(capacity_types={"spot": 1}), "capacity_types should be {'spot': 1} and is {'on-demand': 1}"),
        (Expected(launch_types=[]), "launch_types should be [] and is [['x.s']]"),
        (Expected(nominations={"n": []}), "nominations should be {'n': []} and is {}"),
        (
            Expected(expected={"placed": 1}),
            "expected should be {'placed': 1} and is {'placed': 0, 'bought': 0, 'left': 0}",
        ),
        (
            Expected(headroom={"placed": 1}),
            "headroom should be {'placed': 1} and is {'placed': 0, 'bought': 0, 'left': 0}",
        ),
        (Expected(apart=[["default/p-0", "default/p-1"]]), "should be apart"),
        (Expected(together=[["default/p-0", "default/p-2"]]), "default/p-2 should have a node and has none"),
        (Expected(unschedulable={}), "default/p-2 should be placed and waits"),
        (Expected(unschedulable={"default/p-1": Unschedulable()}), "default/p-1 should wait and is placed"),
        (Expected(unschedulable={"default/p-2": Unschedulable(reason="NoPool")}), "should wait for NoPool"),
        (Expected(unschedulable={"default/p-2": Unschedulable(message="zone")}), "should be told 'zone'"),
        (Expected(warnings=["NodePool/x"]), "there should be a warning with 'NodePool/x'"),
    ],
)
def test_every_wrong_expectation_is_told(expected: Expected, told: str) -> None:
    planned = _scenario().plan()
    assert any(told in each for each in differences(expected, planned)), differences(expected, planned)


def _scenario() -> Scenario:
    """Two pods that fit on one node, and one that fits nowhere."""
    sizes = {"p-0": "500m", "p-1": "500m", "p-2": "100"}
    pods = [
        {
            "kind": "Pod",
            "metadata": {"name": name},
            "spec": {"containers": [{"resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}]},
        }
        for name, cpu in sizes.items()
    ]
    requirement = {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}
    template = {"spec": {"nodeClassRef": {"name": "default"}, "requirements": [requirement]}}
    pool = {"kind": "NodePool", "metadata": {"name": "default"}, "spec": {"template": template}}
    return Scenario("n", "s", "reference", [pool, *pods], Expected())
