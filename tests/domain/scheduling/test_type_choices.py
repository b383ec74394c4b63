"""What is said of a launch's type is so: judged against the catalogue, plainly."""

from collections.abc import Iterable

import pytest
from hypothesis import given, settings

from nodewright.domain.catalogue import InstanceType
from nodewright.domain.nodes import CAPACITY_TYPE_LABEL
from nodewright.domain.plans import Launch
from nodewright.domain.pods import DaemonSet, Pod
from nodewright.domain.scheduling import solve
from nodewright.domain.scheduling.type_choices import Sold, TypeChoice, TypeChoices
from nodewright.domain.scheduling.type_words import told_of
from nodewright.domain.snapshot import PoolOptions, Snapshot
from tests.builders import (
    daemon_set,
    instance_type,
    offering,
    options,
    pod,
    pods,
    pool,
    resources,
    snapshot,
    spread,
)
from tests.domain.scheduling.test_laws import worlds

ON_DEMAND = (CAPACITY_TYPE_LABEL, "In", "on-demand")


def told(
    *waiting: Pod, pools: Iterable[PoolOptions] | None = None, daemons: Iterable[DaemonSet] = ()
) -> tuple[str, ...]:
    """Of the only launch there is."""
    world = snapshot(waiting, pools=pools, daemon_sets=daemons)
    plan = solve(world)
    (launch,) = plan.launches
    return told_of(launch, TypeChoices(world, plan).of(launch))


def test_the_cheapest_that_holds_it_the_next_and_what_the_smaller_one_lacks() -> None:
    assert told(pod(cpu="2500m"), pools=[options(pool("default", ON_DEMAND))]) == (
        "x.m at 2.00: the cheapest of 2 types that hold its pods",
        "next is x.l at 4.00 (+100.0 %)",
        "x.s at 1.00 lacks cpu 570m",
        "its pool sells no spot",
    )


def test_daemon_sets_count() -> None:
    assert "x.s at 1.00 lacks cpu 70m" in told(
        pod(cpu="1700m"), pools=[options(pool("default", ON_DEMAND))], daemons=[daemon_set(cpu="300m")]
    )


def test_spot_is_compared_with_on_demand() -> None:
    assert "on-demand would be x.s at 1.00" in told(pod())


@pytest.mark.parametrize(
    ("waiting", "sold", "why"),
    [
        (pod(), options(pool("default", ON_DEMAND)), "its pool sells no spot"),
        (pod(selector={CAPACITY_TYPE_LABEL: "spot"}), options(), "its pods don't go to on-demand"),
        (
            pod(),
            options(types=[instance_type(offerings=[offering(), offering(capacity_type="spot", available=False)])]),
            "EC2 has no spot of it just now",
        ),
        (
            pod(cpu=1),
            options(types=[instance_type(spot=None), instance_type("x.t", cpu="500m", on_demand=None, spot=0.1)]),
            "its pool sells nothing as large spot",
        ),
    ],
)
def test_why_it_is_not_bought_the_other_way(waiting: Pod, sold: PoolOptions, why: str) -> None:
    assert why in told(waiting, pools=[sold])


def test_what_ended_the_list() -> None:
    kinds = [instance_type(f"x.{n}", on_demand=price, spot=None) for n, price in enumerate((1.0, 1.1, 1.3, 1.31, 2.0))]
    assert told(pod(), pools=[options(types=kinds)])[-1] == (
        "EC2 may choose among 3 types up to 1.30 (not over 1.30, 1.3 times its price)"
    )
    spot = [
        instance_type("x.a", on_demand=1.05, spot=1.0, zones=("a",)),
        instance_type("x.b", on_demand=3.0, spot=1.04, zones=("a",)),
        instance_type("x.c", on_demand=3.0, spot=1.2, zones=("a",)),
    ]
    assert told(pod(), pools=[options(types=spot)])[-1] == (
        "EC2 may choose among 2 types up to 1.04 (not over 1.05, what on-demand costs)"
    )
    limited = options(types=kinds, remaining=resources(**{"nodewright.dev/x": 1}))
    assert told(pod(), pools=[limited])[-1].startswith("EC2 may choose among 3 types")


def test_a_list_that_is_full_says_so() -> None:
    many = [instance_type(f"x.{n:02}", on_demand=1 + n / 1000, spot=None, zones=("a",)) for n in range(64)]
    assert told(pod(), pools=[options(types=many)])[-1].endswith("; 4 more a launch has no room for")


def test_rules_that_keep_it_off_what_is_cheaper_are_named() -> None:
    kinds = [
        instance_type("x.a", on_demand=1.0, spot=None, zones=("a",)),
        instance_type("x.b", on_demand=2.0, spot=None, zones=("b",)),
    ]
    world = snapshot(pods(2, cpu="100m", labels={"app": "w"}, spreads=(spread(),)), pools=[options(types=kinds)])
    plan = solve(world)
    first, second = sorted(plan.launches, key=lambda launch: launch.price)
    choices = TypeChoices(world, plan)
    assert told_of(first, choices.of(first))[0] == "x.a at 1.00: the cheapest of 2 types that hold its pods"
    assert told_of(second, choices.of(second))[0] == (
        "x.b at 2.00: x.a at 1.00 in a would hold its pods for less, but spread, affinity, preferences, limits or"
        " minValues rule it out"
    )


def test_a_launch_of_another_snapshot_is_not_told_about() -> None:
    world = snapshot(pods(1))
    plan = solve(world)
    assert TypeChoices(snapshot(), plan).of(plan.launches[0]) is None


@settings(deadline=None, max_examples=100)
@given(worlds())
def test_every_number_is_true(world: Snapshot) -> None:
    plan = solve(world)
    choices = TypeChoices(world, plan)
    for launch in plan.launches:
        choice = choices.of(launch)
        assert choice is not None
        assert told_of(launch, choice)
        assert not list(_lies(world, launch, choice))


def _lies(world: Snapshot, launch: Launch, choice: TypeChoice) -> Iterable[str]:
    sold = next(each for each in world.pools if each.pool.name == launch.pool)
    kinds = {kind.name: kind for kind in sold.instance_types}
    for better in (choice.next_best, choice.kept_off, choice.other_way):
        if better is not None and not _holds(kinds[better.instance_type], launch):
            yield f"{better} doesn't hold it"
        if better is not None and not _is_sold(kinds[better.instance_type], better):
            yield f"{better} isn't sold"
    if choice.too_small is not None and _holds(kinds[choice.too_small.instance_type], launch) and not world.daemon_sets:
        yield f"{choice.too_small} holds it"
    if choice.too_small is not None and not (choice.too_small.price < launch.price and choice.lacking):
        yield f"{choice.too_small} isn't smaller and cheaper"
    if choice.kept_off is None and choice.next_best is not None and choice.next_best.price < launch.price:
        yield f"{choice.next_best} is cheaper"
    if max(each.price for each in launch.offerings) > max(choice.ceiling, launch.price) and not _is_choosy(sold):
        yield f"something over {choice.ceiling} is in the launch"


def _holds(kind: InstanceType, launch: Launch) -> bool:
    return all(kind.allocatable.get(name) >= amount for name, amount in launch.requests.items())


def _is_sold(kind: InstanceType, sold: Sold) -> bool:
    return any(
        (each.capacity_type, each.price, each.available) == (sold.capacity_type, sold.price, True)
        for each in kind.offerings
    )


def _is_choosy(sold: PoolOptions) -> bool:
    return any(each.min_values for each in sold.pool.requirements.values())
