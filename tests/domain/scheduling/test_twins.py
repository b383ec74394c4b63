"""Pods that aren't there, and like one that is there and has no place."""

from dataclasses import replace

import pytest

from nodewright.domain.plans import Plan, Unschedulable
from nodewright.domain.pods import Pod
from nodewright.domain.requirements import Requirement
from nodewright.domain.scheduling import solve
from nodewright.domain.scheduling.twins import twins
from tests.builders import instance_type, options, pod, pods, pool, snapshot, spread, term
from tests.oracle import check

FAMILY = "karpenter.k8s.aws/instance-family"
WEB = {"app": "w"}
REAL = pod("web", cpu="1", labels=WEB)
TWIN = pod("web-expected", cpu="1", labels=WEB, stands_for="expected")


def kept_out(left: Pod, *coming: Pod, reason: str = "TopologySpread") -> list[str]:
    plan = Plan(unschedulable=(Unschedulable(left.key, reason, "why"),))
    return [each.pod.name for each in twins(coming, {left.key: left}, [plan])]


def test_none_that_is_like_one_without_a_place_gets_one() -> None:
    other = pod("db-expected", cpu="2", labels=WEB, stands_for="expected")
    assert kept_out(REAL, TWIN, other) == ["web-expected"]


def test_whatever_their_priorities() -> None:
    assert kept_out(REAL, replace(TWIN, priority=10)) == ["web-expected"]


def test_but_one_whose_company_is_yet_to_come_itself() -> None:
    seeking = (term(),)
    assert kept_out(replace(REAL, affinity=seeking), replace(TWIN, affinity=seeking)) == []


@pytest.mark.parametrize("reason", ["SetAside", "Unsupported"])
def test_and_one_that_has_a_place_but_may_not_use_it(reason: str) -> None:
    assert kept_out(REAL, TWIN, reason=reason) == []


def test_nothing_is_bought_for_them_before_the_one_that_is_there() -> None:
    choosy = pool("choosy", Requirement.of(FAMILY, "Exists", (), 2))
    kinds = [instance_type("x.m", spot=None), instance_type("y.m", on_demand=1.2, spot=None)]
    counting = pod("counting", spreads=(spread(FAMILY, WEB),))
    here = snapshot([counting, REAL], pools=[options(choosy, kinds)])
    here = replace(here, expected=pods(2, "web-expected", cpu="1", labels=WEB, stands_for="expected"))
    plan = solve(here)
    assert check(here, plan) == []
    assert plan.expected.bought == 0 or REAL.key in {key for launch in plan.launches for n in launch.nodes for key in n}
