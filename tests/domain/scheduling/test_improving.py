"""Plans made cheaper by column generation: never dearer, proven, reproducible, within limits."""

import sys
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodewright.domain.catalogue import InstanceType
from nodewright.domain.limits import NODES
from nodewright.domain.nodes import HOSTNAME_LABEL
from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod
from nodewright.domain.quantities import Resources
from nodewright.domain.scheduling import Budget, solve
from nodewright.domain.scheduling.budget import Meter, never
from nodewright.domain.scheduling.improving import improve
from nodewright.domain.scheduling.packing import Packing, Pattern
from nodewright.domain.scheduling.stages import Stage
from tests.builders import USD, instance_type, options, pods, pool, resources, snapshot, term
from tests.domain.scheduling.test_packing_parts import problem

GREEDY = Budget(columns=0)


def types(*sizes: tuple[str, int, float]) -> tuple[InstanceType, ...]:
    """(name, cores that can be used, price)."""
    return tuple(
        instance_type(name, cpu=cores, memory="64Gi", on_demand=price, spot=None, zones=("a",))
        for name, cores, price in sizes
    )


def planned(
    kinds: tuple[InstanceType, ...], wanted: tuple[Pod, ...], budget: Budget | None = None, limit: int | None = None
) -> Plan:
    """`limit`: of nodes."""
    remaining = None if limit is None else Resources({NODES: limit})
    return solve(snapshot(wanted, pools=(options(pool(limits=remaining), kinds, remaining),)), budget or Budget())


def sized(counts: dict[int, int]) -> tuple[Pod, ...]:
    """So many pods of so many cores."""
    return tuple(pod for cores, count in counts.items() for pod in pods(count, f"of-{cores}", cpu=cores, memory=0))


def test_what_fills_a_node_to_the_last_core_is_found() -> None:
    """6 + 2 + 2 and 4 + 4 + 2 fill ten cores; taking the densest first leaves rests."""
    plan = planned(types(("x.l", 10, 1.0)), sized({6: 6, 4: 12, 2: 18}))
    assert plan.cost == 12 * USD


def test_a_plan_is_never_dearer_than_the_greedy_one_and_proves_more() -> None:
    kinds = types(("x.s", 7, 0.7), ("x.m", 11, 1.05), ("x.l", 23, 2.1))
    wanted = sized({1: 17, 2: 23, 3: 31, 5: 19, 7: 11})
    greedy, better = planned(kinds, wanted, GREEDY), planned(kinds, wanted)
    assert better.cost <= greedy.cost
    assert greedy.bound is not None
    assert better.bound is not None
    assert greedy.bound <= better.bound <= better.cost


def test_the_same_snapshot_and_budget_give_the_same_plan() -> None:
    kinds = types(("x.s", 7, 0.7), ("x.m", 11, 1.05), ("x.l", 23, 2.1))
    wanted = sized({1: 17, 2: 23, 3: 31, 5: 19, 7: 11})
    assert planned(kinds, wanted) == planned(kinds, tuple(reversed(wanted)))


@pytest.mark.parametrize("columns", [0, 1, 10, 100, 1_000])
def test_however_early_the_work_ends_every_pod_has_a_place(columns: int) -> None:
    plan = planned(types(("x.s", 7, 0.7), ("x.l", 23, 2.1)), sized({2: 23, 3: 31, 5: 19}), Budget(columns=columns))
    assert not plan.unschedulable
    assert not plan.truncated
    assert plan.bound is not None
    assert plan.bound <= plan.cost


def test_limits_hold_for_better_plans_too() -> None:
    kinds = types(("x.s", 7, 0.5), ("x.l", 23, 2.1))
    plan = planned(kinds, sized({2: 20, 3: 20, 5: 20}), limit=10)
    free = planned(kinds, sized({2: 20, 3: 20, 5: 20}))
    assert sum(len(launch.nodes) for launch in plan.launches) <= 10
    assert sum(len(launch.nodes) for launch in free.launches) > 10


def test_an_urgent_plan_does_without_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nodewright.domain.scheduling.linear_program", None)
    assert planned(types(("x.l", 10, 1.0)), sized({6: 6, 4: 12, 2: 18}), GREEDY).launches


SMALL = types(("x.s", 3, 0.35), ("x.m", 5, 0.5), ("x.l", 8, 0.78))


@settings(deadline=None, max_examples=40)
@given(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 3)))
def test_small_plans_cost_what_trying_everything_finds_or_hardly_more(counts: tuple[int, int, int]) -> None:
    sizes = (1, 2, 3)
    plan = planned(SMALL, sized(dict(zip(sizes, counts, strict=True))))
    best = cheapest(sizes, counts)
    assert plan.bound is not None
    assert plan.bound <= best <= plan.cost <= best * 1.02
    placed = Counter(pod.name.rpartition("-")[0] for launch in plan.launches for node in launch.nodes for pod in node)
    assert placed == Counter({f"of-{size}": count for size, count in zip(sizes, counts, strict=True) if count})


def cheapest(sizes: tuple[int, ...], counts: tuple[int, ...]) -> int:
    """By trying every content of every type for the first node, and so on."""
    known: dict[tuple[int, ...], int] = {tuple(0 for _ in counts): 0}
    for wanted in product(*(range(count + 1) for count in counts)):
        if wanted not in known:
            known[wanted] = min(
                price + known[tuple(w - c for w, c in zip(wanted, content, strict=True))]
                for content in product(*(range(w + 1) for w in wanted))
                if any(content)
                for price in _prices(sum(s * c for s, c in zip(sizes, content, strict=True)))
            )
    return known[counts]


def _prices(cores: int) -> list[int]:
    return [kind.offerings[0].price for kind in SMALL if resources(cpu=cores).fits(kind.allocatable)]


def proportional(largest: int, lost: int) -> tuple[InstanceType, ...]:
    """A type for each number of cores, a dollar a core; of each some millicores can't be used."""
    sizes = range(1, largest + 1)
    return tuple(
        instance_type(f"x.{cores}", cpu=f"{1_000 * cores - lost}m", memory=f"{2 * cores}Gi", on_demand=cores, spot=None)
        for cores in sizes
    )


def alone(name: str) -> dict[str, object]:
    """Of pods that are one per node."""
    return {"labels": {"app": name}, "anti_affinity": (term(HOSTNAME_LABEL, {"app": name}),)}


def test_of_many_kinds_that_promise_the_same_the_one_that_keeps_it_is_found() -> None:
    """Six pods just fit 88 cores, one of those that are one per node among them."""
    big = {"cpu": "14648m", "memory": 0}
    plan = planned(proportional(400, lost=5), (*pods(2, "one", **big, **alone("one")), *pods(10, "other", **big)))
    assert plan.cost == 176 * USD


def test_nodes_with_a_bit_of_everything_are_thought_of() -> None:
    """Each node loses the rest of a core, so that as few as pods that are one per node allow cost least."""
    wanted = [
        pods(
            20 if number % 4 else 2,
            f"p{number}",
            cpu=("3000m", "15000m", "100m")[number % 5 % 3],
            memory=f"{64 + number}Mi",
            **({} if number % 3 else alone(f"p{number}")),
        )
        for number in range(36)
    ]
    plan = planned(proportional(400, lost=100), tuple(pod for some in wanted for pod in some))
    assert plan.cost <= 4_096 * USD


def packed(*patterns: tuple[int, int, int]) -> Packing:
    """Of (row, pods on a node, nodes), at 3 and 4 a node."""
    cost = sum((3, 4)[row] * times for row, _, times in patterns)
    made = tuple(Pattern(row, np.array([count]), times) for row, count, times in patterns)
    return Packing(made, np.zeros(1, dtype=np.int64), np.zeros(0), cost)


def test_whatever_is_better_is_kept_of_every_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    """A better relaxation may come to a dearer packing, and what tidying makes of either isn't known yet."""
    begun, first, second, worse = packed((0, 1, 8)), packed((1, 2, 4)), packed((0, 1, 2), (1, 2, 3)), packed((1, 1, 8))
    came = [Stage(packing, 15.0 + number, ()) for number, packing in enumerate((first, second, worse))]
    monkeypatch.setattr("nodewright.domain.scheduling.stages.stages", lambda *_: iter(came))
    whole = problem([3, 4], [[1], [2]], [[1]])
    improved = improve(whole, np.array([8]), np.zeros(0), begun, Meter(Budget(), never))
    assert improved.packings == (first, second)
    assert improved.bound == 17
