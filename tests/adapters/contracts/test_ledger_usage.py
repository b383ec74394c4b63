"""Usage under limits, for the table and for memory alike (architecture §4, rules 1 and 7)."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.application.errors import ConflictError
from nodewright.application.limits import LimitReachedError
from nodewright.application.ports import Ledger
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.limits import LAUNCHES, NODES, PRICE, Limits
from nodewright.domain.quantities import Resources
from nodewright.domain.usage import node_usage, usage_of
from tests.adapters.builders import NOW, claim, launch
from tests.adapters.contracts.racing import at_once

USD = 1_000_000_000
LARGE = node_usage(Resources({"cpu": 4000, "memory": 2**34}), 2 * USD)
SMALL = node_usage(Resources({"cpu": 2000, "memory": 2**32}), USD)

#: Three large nodes and no fourth.
FOR_THREE = [
    ("default", "cpu", 15_999),
    ("default", "memory", 3 * 2**34),
    ("default", NODES, 3),
    ("default", PRICE, 6 * USD),
    ("*", PRICE, 8 * USD - 1),
]


def nodes(launch_id: str, count: int, **changes: object) -> list[NodeClaim]:
    return [claim(f"{launch_id}-{index:02d}", **{"counts": LARGE, **changes}) for index in range(count)]


def reserve(
    ledger: Ledger, launch_id: str, count: int, limits: Mapping[str, Limits] | None = None, **changes: object
) -> list[NodeClaim]:
    """Under the epoch of the moment."""
    made = nodes(launch_id, count, **changes)
    ledger.reserve("prod", ledger.epoch("prod"), launch(launch_id, count), made, limits or {})
    return made


def came(one: NodeClaim, **changes: object) -> NodeClaim:
    """With an instance, smaller than what was reserved."""
    settled = replace(one, state=ClaimState.LAUNCHED, instance_id=f"i-{one.id}", counts=SMALL)
    return replace(settled, **changes)  # type: ignore[arg-type]


def told(ledger: Ledger) -> tuple[object, ...]:
    """Everything a reservation may change."""
    return ledger.epoch("prod"), ledger.usage("prod"), ledger.claims("prod"), ledger.launches("prod")


# ---- reserving


def test_a_reservation_is_counted_for_its_pool_and_for_the_cluster(ledger: Ledger) -> None:
    assert ledger.usage("prod") == {}
    reserve(ledger, "l1", 2)
    reserve(ledger, "l2", 1, pool="other", counts=SMALL)
    assert ledger.usage("prod") == {"default": LARGE.times(2), "other": SMALL, "*": LARGE.times(2) + SMALL}
    assert ledger.usage("test") == {}


@pytest.mark.parametrize(("pool", "resource", "limit"), FOR_THREE)
def test_a_limit_lets_in_what_fits_and_nothing_of_what_does_not(
    ledger: Ledger, pool: str, resource: str, limit: int
) -> None:
    limits = {pool: Limits({resource: limit})}
    reserve(ledger, "l1", 2, limits)
    reserve(ledger, "l2", 1, limits)
    before = told(ledger)
    with pytest.raises(LimitReachedError) as refused:
        reserve(ledger, "l3", 1, limits)
    error = refused.value
    assert (error.pool, error.resource, error.limit) == (pool, resource, limit)
    assert (error.in_use, error.wanted) == (LARGE[resource] * 3, LARGE[resource])
    assert told(ledger) == before


@pytest.mark.parametrize(("pool", "resource", "limit"), FOR_THREE)
def test_the_first_reservation_of_all_may_be_too_large(ledger: Ledger, pool: str, resource: str, limit: int) -> None:
    with pytest.raises(LimitReachedError) as refused:
        reserve(ledger, "l1", 4, {pool: Limits({resource: limit})})
    assert (refused.value.in_use, refused.value.wanted) == (0, LARGE[resource] * 4)
    assert told(ledger) == (0, {}, (), ())


@pytest.mark.parametrize("resource", ["cpu", NODES, PRICE])
def test_a_limit_of_zero_is_a_limit(ledger: Ledger, resource: str) -> None:
    with pytest.raises(LimitReachedError):
        reserve(ledger, "l1", 1, {"default": Limits({resource: 0})})
    assert ledger.usage("prod") == {}


def test_limits_of_other_pools_clusters_and_resources_do_not_matter(ledger: Ledger) -> None:
    limits = {"default": Limits({"nvidia.com/gpu": 0}), "other": Limits({NODES: 0})}
    reserve(ledger, "l1", 1, limits)
    ledger.reserve("test", 0, launch("l1"), nodes("l1", 1), {"default": Limits({NODES: 1})})
    assert (ledger.usage("prod")["*"], ledger.usage("test")["*"]) == (LARGE, LARGE)


def test_a_limit_that_was_lowered_below_what_is_there_stops_only_what_takes_more_of_it(ledger: Ledger) -> None:
    reserve(ledger, "l1", 1, counts=LARGE + Resources({"nvidia.com/gpu": 4}))
    lowered = {"default": Limits({"nvidia.com/gpu": 1})}
    reserve(ledger, "l2", 1, lowered)
    with pytest.raises(LimitReachedError):
        reserve(ledger, "l3", 1, lowered, counts=LARGE + Resources({"nvidia.com/gpu": 1}))


def test_who_comes_second_is_told_of_the_other_planner_not_of_the_limit(ledger: Ledger) -> None:
    reserve(ledger, "l1", 1)
    with pytest.raises(ConflictError):
        ledger.reserve("prod", 0, launch("l2"), nodes("l2", 1), {"default": Limits({NODES: 1})})
    with pytest.raises(ConflictError):
        ledger.reserve("prod", 1, launch("l1"), nodes("l1", 1), {"default": Limits({NODES: 2})})
    assert ledger.usage("prod")["default"] == LARGE


def test_the_refusal_says_who_what_how_much_and_the_fix(ledger: Ledger) -> None:
    reserve(ledger, "l1", 1)
    with pytest.raises(LimitReachedError) as pools:
        reserve(ledger, "l2", 1, {"default": Limits({"cpu": 6000})})
    assert str(pools.value) == (
        "pool default has a limit of cpu 6: with cpu 4 in use or reserved there is no room for cpu 4 more;"
        " raise its limits"
    )
    with pytest.raises(LimitReachedError, match=r"USD per hour 3\.00.*annotation nodewright\.dev/limit-usd-per-hour"):
        reserve(ledger, "l2", 1, {"default": Limits({PRICE: 3 * USD})})
    with pytest.raises(LimitReachedError, match=r"the cluster has a limit of USD per hour 3\.00.*nodewright connect"):
        reserve(ledger, "l2", 1, {"*": Limits({PRICE: 3 * USD})})


@pytest.mark.parametrize(("pool", "resource", "limit"), FOR_THREE)
def test_of_many_planners_at_once_only_those_within_the_limit_come_through(
    ledger: Ledger, pool: str, resource: str, limit: int
) -> None:
    limits = {pool: Limits({resource: limit})}

    def plan(number: int) -> bool:
        while True:
            try:
                reserve(ledger, f"l{number}", 1, limits)
            except ConflictError:
                continue
            except LimitReachedError:
                return False
            return True

    assert sum(at_once(plan, 8)) == 3
    assert ledger.usage("prod") == usage_of(ledger.claims("prod")) == {"default": LARGE.times(3), "*": LARGE.times(3)}


# ---- giving back


def test_what_was_reserved_and_did_not_come_is_given_back(ledger: Ledger) -> None:
    first, second, third = reserve(ledger, "l1", 3)
    ledger.settle_launch("prod", "l1", [came(first), came(second, counts=LARGE), third])
    assert ledger.usage("prod") == {"default": SMALL + LARGE, "*": SMALL + LARGE}
    assert ledger.usage("prod") == usage_of(ledger.claims("prod"))


def test_settling_twice_gives_back_once(ledger: Ledger) -> None:
    first, second = reserve(ledger, "l1", 2)
    reserve(ledger, "l2", 1)
    for _ in range(2):
        ledger.settle_launch("prod", "l1", [came(first), second])
    assert ledger.usage("prod")["default"] == SMALL + LARGE


def test_settling_the_rest_of_a_half_settled_launch_gives_back_the_rest(ledger: Ledger) -> None:
    first, second, third = reserve(ledger, "l1", 3)
    ledger.settle_launch("prod", "other", [came(first)])
    assert ledger.usage("prod")["default"] == SMALL + LARGE.times(2)
    ledger.settle_launch("prod", "l1", [came(first), came(second), third])
    assert ledger.usage("prod")["default"] == SMALL.times(2)


def test_a_launch_of_which_nothing_came_leaves_nothing(ledger: Ledger) -> None:
    ledger.settle_launch("prod", "l1", reserve(ledger, "l1", 3))
    assert ledger.usage("prod") == {}


def test_a_settlement_that_is_refused_gives_nothing_back(ledger: Ledger) -> None:
    first, second = reserve(ledger, "l1", 2)
    ledger.settle_launch("prod", "other", [came(first)])
    with pytest.raises(ConflictError):
        ledger.settle_launch("prod", "l1", [came(second, instance_id=f"i-{first.id}")])
    assert ledger.usage("prod")["default"] == SMALL + LARGE


def test_a_claim_that_is_gone_gives_back_what_it_counts_once(ledger: Ledger) -> None:
    first, second = reserve(ledger, "l1", 2)
    ledger.settle_launch("prod", "l1", [came(first), came(second)])
    running, other = ledger.claims("prod")
    for _ in range(2):
        try:
            ledger.save_claim("prod", replace(running, state=ClaimState.GONE))
        except ConflictError:
            assert ledger.claims("prod") == (other,)
    assert ledger.usage("prod") == {"default": SMALL, "*": SMALL}


def test_other_changes_of_a_claim_count_nothing(ledger: Ledger) -> None:
    (one,) = reserve(ledger, "l1", 1)
    ledger.save_claim("prod", replace(one, node_name="ip-1", capacity=Resources({"cpu": 1})))
    assert ledger.usage("prod")["default"] == LARGE


def test_a_claim_an_older_release_wrote_gives_back_its_capacity(ledger: Ledger) -> None:
    (one,) = reserve(ledger, "l1", 1, counts=Resources(), capacity=Resources({"cpu": 4000}), price=USD)
    assert ledger.usage("prod")["default"] == node_usage(Resources({"cpu": 4000}), USD)
    ledger.save_claim("prod", replace(one, state=ClaimState.GONE))
    assert ledger.usage("prod") == {}


def test_room_that_was_given_back_can_be_used_again(ledger: Ledger) -> None:
    limits = {"default": Limits({NODES: 1})}
    (one,) = reserve(ledger, "l1", 1, limits)
    ledger.save_claim("prod", replace(one, state=ClaimState.GONE))
    reserve(ledger, "l2", 1, limits)
    assert ledger.usage("prod")["default"] == LARGE


def test_many_that_go_at_once_give_back_each_its_own(ledger: Ledger) -> None:
    for one in (reserved := reserve(ledger, "l1", 12)):
        assert one.version == 0
    at_once(lambda n: ledger.save_claim("prod", replace(reserved[n], state=ClaimState.GONE)), 12)
    assert (ledger.claims("prod"), ledger.usage("prod")) == ((), {})


# ---- counting anew


def test_usage_is_replaced_whole_under_the_epoch(ledger: Ledger) -> None:
    reserve(ledger, "l1", 1)
    reserve(ledger, "l2", 1, pool="other")
    ledger.set_usage("prod", 2, {"default": SMALL, "third": LARGE, "*": SMALL + LARGE})
    assert ledger.usage("prod") == {"default": SMALL, "third": LARGE, "*": SMALL + LARGE}
    assert ledger.epoch("prod") == 3
    ledger.set_usage("prod", 3, {})
    assert ledger.usage("prod") == {}


def test_what_was_counted_before_somebody_reserved_is_not_written(ledger: Ledger) -> None:
    reserve(ledger, "l1", 1)
    with pytest.raises(ConflictError):
        ledger.set_usage("prod", 0, {})
    assert (ledger.epoch("prod"), ledger.usage("prod")["default"]) == (1, LARGE)


def test_usage_of_many_pools_is_replaced_too(ledger: Ledger) -> None:
    many = {f"pool-{n:03d}": SMALL for n in range(150)}
    ledger.set_usage("prod", 0, many)
    assert ledger.usage("prod") == many
    ledger.set_usage("prod", ledger.epoch("prod"), {"default": LARGE})
    assert ledger.usage("prod") == {"default": LARGE}


# ---- launches within an hour

TWICE = {"*": Limits({LAUNCHES: 2})}
#: NOW is 12:00 and a fraction of a second.
NEXT_HOUR = NOW.replace(hour=13, microsecond=0)


def test_an_hour_has_so_many_launches_and_no_more(ledger: Ledger) -> None:
    reserve(ledger, "l1", 5, TWICE)
    reserve(ledger, "l2", 1, TWICE)
    before = told(ledger)
    with pytest.raises(LimitReachedError, match=r"launches per hour 2.*--launches-per-hour") as refused:
        reserve(ledger, "l3", 1, TWICE, created=NOW + timedelta(minutes=59))
    assert (refused.value.resource, refused.value.in_use, refused.value.wanted) == (LAUNCHES, 2, 1)
    assert told(ledger) == before


def test_the_next_hour_begins_anew_and_a_clock_that_is_behind_does_not_begin_it_again(ledger: Ledger) -> None:
    reserve(ledger, "l1", 1, TWICE)
    reserve(ledger, "l2", 1, TWICE, created=NEXT_HOUR)
    reserve(ledger, "l3", 1, TWICE, created=NEXT_HOUR - timedelta(minutes=1))
    for moment in (NEXT_HOUR - timedelta(minutes=1), NEXT_HOUR):
        with pytest.raises(LimitReachedError):
            reserve(ledger, "l4", 1, TWICE, created=moment)
    reserve(ledger, "l4", 1, TWICE, created=NEXT_HOUR + timedelta(hours=7))


def test_launches_are_counted_by_cluster(ledger: Ledger) -> None:
    reserve(ledger, "l1", 1, TWICE)
    reserve(ledger, "l2", 1, TWICE)
    ledger.reserve("test", 0, launch("l1"), nodes("l1", 1), TWICE)
    with pytest.raises(LimitReachedError):
        reserve(ledger, "l3", 1, TWICE)


def test_what_is_adopted_is_no_launch_and_turns_no_hour_back(ledger: Ledger) -> None:
    reserve(ledger, "l1", 1, TWICE)
    reserve(ledger, "adopted", 1, created=NOW - timedelta(days=3))
    reserve(ledger, "l2", 1, TWICE)
    with pytest.raises(LimitReachedError):
        reserve(ledger, "l3", 1, TWICE)


def test_counting_usage_anew_leaves_the_hours_launches_alone(ledger: Ledger) -> None:
    reserve(ledger, "l1", 1, TWICE)
    ledger.set_usage("prod", 1, {})
    reserve(ledger, "l2", 1, TWICE)
    with pytest.raises(LimitReachedError):
        reserve(ledger, "l3", 1, TWICE)
