"""Plans of pods hardly two of which are alike."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewright.domain.scheduling import linear_program
from nodewright.domain.scheduling.arrays import Floats, Ints
from nodewright.domain.scheduling.budget import AT_ONCE, Budget, Meter, never
from nodewright.domain.scheduling.generating import generate, narrow_first
from nodewright.domain.scheduling.improving import Packed, pack_all
from nodewright.domain.scheduling.linear_program import MANY_ITEMS, Column, Master
from nodewright.domain.scheduling.packing import pack
from nodewright.domain.scheduling.patterns import fill
from nodewright.domain.scheduling.pricing import by_wholes
from nodewright.domain.scheduling.problems import Problem
from nodewright.domain.scheduling.rounding import rounded
from nodewright.domain.scheduling.sampling import samples
from tests.domain.scheduling.test_packing_parts import problem

NO_LIMITS = np.zeros((1, 0))
PRICES = (18_800_000, 37_600_000, 75_200_000, 85_000_000, 306_000_000)
ROOM = ((1930, 1200, 8), (1930, 3200, 17), (1930, 7000, 35), (1930, 3300, 29), (7910, 14500, 58))


def unlike(many: int) -> Problem:
    """So many items of one pod each, no two of a size: millicores, MiB, pods."""
    demand = [(100 + at * 37 % 1801, 128 + at * 91 % 2999, 1) for at in range(many)]
    room = np.array(ROOM)
    return problem(PRICES, ROOM, demand, allowed=np.array([[(row >= each).all() for each in demand] for row in room]))


def packed(many: int, budget: Budget) -> tuple[Packed, int]:
    """And what it costs."""
    whole = unlike(many)
    found = pack_all(whole, np.ones(many, dtype=np.int64), NO_LIMITS, Meter(budget, never))
    return found, sum(each.times * PRICES[each.row] for each in found.patterns())


def test_up_to_a_thousand_items_are_packed_together() -> None:
    (together,) = samples(unlike(1_000))

    assert together.tolist() == list(range(1_000))


def test_more_of_them_are_dealt_out_fairly() -> None:
    whole = unlike(2_500)
    dealt = list(samples(whole))
    means = np.array([whole.demand[sample].mean(axis=0) for sample in dealt])

    assert sorted(np.concatenate(dealt).tolist()) == list(range(2_500))
    assert {len(sample) for sample in dealt} == {833, 834}
    assert means == pytest.approx(np.tile(whole.demand.mean(axis=0), (3, 1)), rel=0.03)


def test_every_sample_has_some_of_those_that_may_use_little() -> None:
    choosy = np.arange(2_500) % 7 == 0
    allowed = np.ones((2, 2_500), dtype=np.bool_)
    allowed[0] = ~choosy
    whole = problem([1, 2], [(4000, 9000, 9)] * 2, unlike(2_500).demand.astype(np.int64).tolist(), allowed=allowed)

    assert {int(choosy[sample].sum()) for sample in samples(whole)} <= {119, 120}


def test_all_of_them_get_a_place_that_holds_them_and_samples_cost_next_to_nothing() -> None:
    whole = unlike(1_100)
    found, cost = packed(1_100, AT_ONCE)
    alone = pack(whole, np.ones(1_100, dtype=np.int64), NO_LIMITS, Meter(AT_ONCE, never))
    placed = np.sum([each.times * each.counts for each in found.patterns()], axis=0)

    assert placed.tolist() == [1] * 1_100
    assert all((each.counts @ whole.demand <= whole.room[each.row]).all() for each in found.patterns())
    assert found.bound <= cost <= alone.cost * 1.01


def test_hundreds_of_items_are_made_cheaper_within_the_budget() -> None:
    _, quick = packed(150, AT_ONCE)
    _, whole = packed(150, Budget())

    assert whole < quick * 0.985


def test_a_pod_is_worth_no_more_than_among_its_like() -> None:
    whole, counts = unlike(MANY_ITEMS + 1), np.full(MANY_ITEMS + 1, 9)
    master = Master(whole, counts, NO_LIMITS)
    generated = generate(whole, master, counts, 0.0, Meter(Budget(patterns=100_000), never), narrow_first(whole))

    assert generated is not None
    assert (generated.relaxation.values <= by_wholes(whole) * 1.000_001).all()
    assert generated.bound <= generated.relaxation.cost * 1.003


def limited(whole: Problem) -> Problem:
    """Every node counts one of a limit."""
    rows = len(whole.prices)
    return replace(whole, purse=np.zeros(rows, dtype=np.int64), usage=np.ones((rows, 1)))


@pytest.mark.parametrize(
    ("whole", "limits"),
    [(unlike(MANY_ITEMS), NO_LIMITS), (limited(unlike(MANY_ITEMS + 9)), np.full((1, 1), 1e6))],
    ids=["few", "limited"],
)
def test_of_few_items_or_under_limits_whatever_has_a_place_is_given_one(whole: Problem, limits: Floats) -> None:
    """At the price of being among its like a relaxation would rather leave it out."""
    many = len(whole.demand)
    master = Master(whole, np.ones(many, dtype=np.int64), limits)
    master.add([Column(4, content) for content in np.eye(many, dtype=np.int64)])
    relaxation = master.solve()

    assert relaxation is not None
    assert relaxation.times == pytest.approx(np.ones(many))


@given(st.lists(st.integers(0, 3), min_size=12, max_size=12), st.lists(st.integers(0, 1), min_size=12, max_size=12))
def test_what_is_kept_stays_and_the_rest_fits_beside_it(left: list[int], kept: list[int]) -> None:
    whole = unlike(12)
    some = np.minimum(kept, left) * np.ones((1, 12), dtype=np.int64)
    if (some @ whole.demand > whole.room[4]).any():
        some[:] = 0
    content: Ints = fill(whole.room[4:], whole.demand, whole.allowed[4:], np.array(left), whole.demand[:, 0], some)

    assert (some <= content).all()
    assert (content <= left).all()
    assert (content @ whole.demand <= whole.room[4]).all()
    gaps = whole.room[4] - content[0] @ whole.demand
    assert not [at for at in np.flatnonzero(content[0] < left) if (whole.demand[at] <= gaps).all()]


def test_of_many_columns_whole_numbers_are_looked_for_among_those_that_lose_least(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, counts = unlike(4), np.ones(4, dtype=np.int64)
    master = Master(whole, counts, NO_LIMITS)
    master.add([Column(4, counts), *(Column(4, content) for content in np.eye(4, dtype=np.int64))])
    start = master.solve()
    assert start is not None
    monkeypatch.setattr(linear_program, "_MIP_ENTRIES", 4)
    times = master.whole(start, 4 * PRICES[4])

    assert times is not None
    assert times.tolist() == [1, 0, 0, 0, 0]
    assert not any(master._highs.getLp().col_upper_[5:])


def test_around_very_many_groups_no_contents_are_worked_out_on_the_way() -> None:
    """A fill for each of a hundred groups of which a node holds one took two seconds, at each of thirty steps."""
    groups = np.eye(100, dtype=np.int64)
    rows = 400
    whole = problem(
        list(range(1_000_000, 1_000_000 + rows)),
        [[4_000 + 10 * row, *[1] * 100] for row in range(rows)],
        [[300 + 7 * group, *groups[group].tolist()] for group in range(100)],
    )
    counts = np.full(100, 2)
    master = Master(whole, counts, NO_LIMITS)
    master.add([Column(rows - 1, content) for content in groups])
    start = master.solve()
    assert start is not None
    before = len(master.columns)
    packing = rounded(whole, counts, NO_LIMITS, master, start)

    assert not packing.left.any()
    assert len(master.columns) == before
