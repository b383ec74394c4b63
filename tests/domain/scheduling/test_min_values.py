"""minValues: Strict and BestEffort (the reference case 16)."""

from nodewright.domain.requirements import Requirement
from nodewright.domain.scheduling import solve
from tests.builders import instance_type, options, pod, pods, pool, snapshot, spread

FAMILY = "karpenter.k8s.aws/instance-family"
THREE = Requirement.of(FAMILY, "Exists", (), 3)
TWO_FAMILIES = [instance_type("a.1", on_demand=1.0, spot=None), instance_type("b.1", on_demand=1.1, spot=None)]


def test_strict_launches_nothing_with_too_few_families_and_says_how_many_there_are() -> None:
    plan = solve(snapshot([pod()], pools=[options(pool("p", THREE), TWO_FAMILIES)]))

    assert plan.launches == ()
    assert "2 of 3" in plan.unschedulable[0].message


def test_best_effort_launches_and_tells_what_it_relaxed() -> None:
    relaxed = pool("p", THREE, settings={"nodewright.dev/min-values-policy": "BestEffort"})

    plan = solve(snapshot([pod()], pools=[options(relaxed, TWO_FAMILIES)]))

    assert plan.launches[0].relaxed_min_values == (FAMILY,)
    assert plan.launches[0].instance_types == ("a.1", "b.1")


def test_best_effort_that_is_met_relaxes_nothing() -> None:
    wide = pool("p", THREE, settings={"nodewright.dev/min-values-policy": "BestEffort"})
    types = [*TWO_FAMILIES, instance_type("c.1", on_demand=2.0, spot=None)]

    plan = solve(snapshot([pod()], pools=[options(wide, types)]))

    assert plan.launches[0].relaxed_min_values == ()
    assert set(plan.launches[0].instance_types) == {"a.1", "b.1", "c.1"}


def test_strict_holds_for_pods_under_rules_too() -> None:
    types = [*TWO_FAMILIES, instance_type("c.1", on_demand=2.0, spot=None)]
    waiting = pods(3, labels={"app": "w"}, spreads=(spread(),))

    plan = solve(snapshot(waiting, pools=[options(pool("p", THREE), types)]))

    assert plan.unschedulable == ()
    assert all(set(launch.instance_types) == {"a.1", "b.1", "c.1"} for launch in plan.launches)
    assert len(plan.launches) == 3
