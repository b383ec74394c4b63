"""The pieces of packing by shape: fair shares, prices of resources, zones apart, seats."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewright.domain.nodes import HOSTNAME_LABEL
from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling.allotments import levelled
from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.budget import AT_ONCE, Budget, Known, Meter, never
from nodewright.domain.scheduling.dividing import divided
from nodewright.domain.scheduling.fluid import cheapest_mix
from nodewright.domain.scheduling.improving import pack_all
from nodewright.domain.scheduling.patterns import fill
from nodewright.domain.scheduling.problems import Problem, distinct_sizes
from nodewright.domain.scheduling.rules import NodeFilter, RepulsionRule, SpreadRule
from nodewright.domain.scheduling.seating import Manners, Seating
from nodewright.domain.scheduling.singles import around_singles
from tests.builders import selector, term


def problem(
    prices: Sequence[int], room: Sequence[Sequence[int]], demand: Sequence[Sequence[int]], **given: Ints | Bools
) -> Problem:
    """Everything may go everywhere unless told otherwise."""
    rows, items = len(prices), len(demand)
    return Problem(
        offering=np.arange(rows),
        prices=np.array(prices),
        room=np.array(room, dtype=np.float64),
        demand=np.array(demand, dtype=np.float64),
        allowed=np.asarray(given.get("allowed", np.ones((rows, items))), dtype=np.bool_),
        purse=np.full(rows, -1),
        usage=np.zeros((rows, 0)),
        block=np.asarray(given.get("block", np.zeros(rows)), dtype=np.int64),
    )


class TestLevelled:
    def test_the_lowest_are_raised_first(self) -> None:
        assert levelled([5, 1, 2], 3) == [0, 2, 1]

    def test_what_is_over_goes_where_it_is_preferred(self) -> None:
        assert levelled([0, 0, 0], 4, [[3.0, 1.0, 2.0]]) == [1, 2, 1]

    @given(st.lists(st.integers(0, 9), min_size=1, max_size=5), st.integers(0, 30))
    def test_nobody_could_have_got_one_more_before_another(self, counts: list[int], many: int) -> None:
        pods = levelled(counts, many)
        after = [before + more for before, more in zip(counts, pods, strict=True)]

        assert sum(pods) == many
        assert all(number <= min(after) + 1 for number, got in zip(after, pods, strict=True) if got)


class TestNarrowed:
    """A place for a pod of each of many owners is a resource each; what only one item asks for is a number instead."""

    OWNERS = 9

    def asking(self, many: int) -> Problem:
        """Of `many` owners: cpu, a place for each one's pods, of which a node has three and asked are one or two."""
        places = np.eye(many, dtype=np.int64) * [[1 + owner % 2] for owner in range(many)]
        demand = [[100 + 50 * owner, *row] for owner, row in enumerate(places.tolist())]
        return problem([5, 9], [[1000, *[3] * many], [2000, *[3] * many]], demand)

    def test_numbers_take_the_place_of_resources_that_one_item_asks_for(self) -> None:
        lean, most = self.asking(self.OWNERS).narrowed()

        assert lean.demand.tolist() == [[100.0 + 50 * owner] for owner in range(self.OWNERS)]
        assert most.tolist() == [[3 if owner % 2 == 0 else 1 for owner in range(self.OWNERS)]] * 2

    def test_of_a_few_resources_all_stay(self) -> None:
        whole = self.asking(3)

        assert whole.narrowed()[0] is whole

    @given(st.lists(st.integers(0, 9), min_size=OWNERS, max_size=OWNERS))
    def test_contents_that_keep_the_numbers_fit_the_node(self, left: list[int]) -> None:
        whole = self.asking(self.OWNERS)
        lean, most = whole.narrowed()
        contents = fill(lean.room, lean.demand, lean.allowed, np.minimum(most, left), lean.demand[:, 0])

        assert (contents @ whole.demand <= whole.room).all()
        assert (contents <= left).all()

    def test_packings_keep_them_and_cost_hardly_more_than_is_proven(self) -> None:
        whole, counts = self.asking(self.OWNERS), np.full(self.OWNERS, 6)
        packed = pack_all(whole, counts, np.zeros((1, 0)), Meter(Budget(), never))

        placed = np.sum([pattern.times * pattern.counts for pattern in packed.patterns()], axis=0)

        assert placed.tolist() == counts.tolist()
        assert all((pattern.counts @ whole.demand <= whole.room[pattern.row]).all() for pattern in packed.patterns())
        assert sum(pattern.times * whole.prices[pattern.row] for pattern in packed.patterns()) <= packed.bound * 1.3


class TestFluid:
    def test_the_cheapest_mix_of_two_kinds(self) -> None:
        # One unit of each resource: half a node of either kind, at 3 and 5.
        values = cheapest_mix(np.array([[1.0, 3.0], [1.0, 0.0], [2.0, 1.0]]), np.array([6.0, 5.0, 5.0]))

        assert values.sum() == pytest.approx(0.2 * 6 + 0.4 * 5)

    @given(
        st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=6),
        st.data(),
    )
    def test_no_kind_supplies_more_than_it_costs_and_the_need_is_worth_a_mix(
        self, kinds: list[tuple[int, int, int]], data: st.DataObject
    ) -> None:
        supply, prices = np.array(kinds, dtype=np.float64), np.array([data.draw(st.integers(1, 50)) for _ in kinds])
        values = cheapest_mix(supply, prices.astype(np.float64))

        assert (supply @ values <= prices * (1 + 1e-9)).all()
        assert values.sum() >= max((prices[:, None] / supply).min(axis=0)) * (1 - 1e-9) or len(kinds) > 1
        assert values.sum() <= (prices / supply.min(axis=1)).min() * (1 + 1e-9)


def test_rows_hardly_larger_than_a_cheaper_one_are_left_out_unless_something_needs_them() -> None:
    room = [[100, 100], [105, 100], [120, 100], [125, 100]]
    allowed = np.array([[1, 0], [1, 0], [1, 0], [1, 1]])
    found = distinct_sizes(problem([1, 2, 3, 4], room, [[50, 1], [124, 1]], allowed=allowed))

    assert found.tolist() == [0, 2, 3]


class TestDivided:
    def many(self, **given: Ints | Bools) -> Problem:
        """Zones 0 and 1 sell the same; item 0 may choose, of the others a half is bound to each."""
        demand = [[1 + item % 7] for item in range(101)]
        allowed = np.array([[item == 0 or (item % 2 == block) for item in range(101)] for block in (0, 0, 1, 1)])
        return problem(
            [5, 9, 5, 9], [[50], [90], [50], [90]], demand, allowed=allowed, block=np.array([0, 0, 1, 1]), **given
        )

    def test_each_zone_gets_its_own_and_its_share_of_the_others(self) -> None:
        counts = np.full(101, 2)
        counts[0] = 40
        parts = list(divided(self.many(), counts))

        assert [part.rows.tolist() for part in parts] == [[0, 1], [2, 3]]
        total = np.zeros(101, dtype=np.int64)
        for part in parts:
            total[part.items] += part.counts
        assert total.tolist() == counts.tolist()
        assert all(abs(int(part.counts[0]) - 20) <= 2 for part in parts)

    def test_not_where_prices_differ(self) -> None:
        dearer = self.many()
        dearer.prices[2] = 6

        assert len(list(divided(dearer, np.full(101, 2)))) == 1

    def test_nor_where_there_is_little_to_pack(self) -> None:
        small = self.many().part(np.arange(20))

        assert len(list(divided(small, np.full(20, 2)))) == 1


def test_a_single_is_decided_before_what_shares_its_node() -> None:
    # By density the two small ones would fill the node; with the single it is worth more.
    asked = problem([10], [[10, 1]], [[5, 0], [6, 1]])
    ((rows, contents),) = around_singles(asked, np.array([2, 1]), np.array([5.0, 9.0]), np.array([1.0, 3.0]))

    assert rows.tolist() == [0]
    assert contents.tolist() == [[0, 1]]


SPREAD = SpreadRule(HOSTNAME_LABEL, selector({"app": "w"}), 1, 1, frozenset({HOSTNAME_LABEL}), NodeFilter())
CHOOSY = Manners(owns=(0,))
MINDED = Manners(selected=(0,))
Guests = Mapping[int, Sequence[tuple[PodKey, Manners]]]


def guests(*several: tuple[int, Manners, int]) -> Guests:
    """(shape, manners, how many)."""
    found: dict[int, list[tuple[PodKey, Manners]]] = {}
    for number, (shape, manners, many) in enumerate(several):
        found.setdefault(shape, []).extend((PodKey("default", f"{number}-{each}"), manners) for each in range(many))
    return found


class TestSeating:
    def test_who_minds_sits_with_at_most_one_of_those_it_minds(self) -> None:
        nodes = [{0: 1, 1: 1}, {0: 1, 1: 1}, {1: 4}]
        seats = Seating({0: SPREAD}, nodes).seat(guests((0, CHOOSY, 2), (1, MINDED, 6)))

        assert [sorted(key.name[0] for key in table) for table in seats] == [["0", "1"], ["0", "1"], ["1"] * 4]

    def test_somebody_changes_his_place_for_the_last_one(self) -> None:
        # The node with the choosy one has two places for shape 1; an indifferent pod has to take one of them.
        nodes = [{0: 1, 1: 2}, {1: 2}]
        pods = guests((0, CHOOSY, 1), (1, MINDED, 3), (1, Manners(), 1))
        seats = Seating({0: SPREAD}, nodes).seat(pods)

        assert [len(table) for table in seats] == [3, 2]

    def test_nobody_sits_where_he_may_not(self) -> None:
        rule = RepulsionRule(term(HOSTNAME_LABEL, {"app": "w"}))
        seats = Seating({0: rule}, [{0: 1, 1: 1}]).seat(guests((0, CHOOSY, 1), (1, MINDED, 1)))

        assert [[key.name for key in table] for table in seats] == [["0-0"]]


def test_what_was_packed_for_a_quick_plan_is_not_packed_again_to_be_made_cheaper() -> None:
    world = problem([10, 15], [[4], [7]], [[3], [2], [1]])
    counts = np.array([5, 7, 9])
    known: Known = {}
    first = pack_all(world, counts, np.zeros((0, 0)), Meter(AT_ONCE, never, known))
    again = pack_all(world, counts, np.zeros((0, 0)), Meter(Budget(patterns=0, columns=0), never, known))
    anew = pack_all(world, counts, np.zeros((0, 0)), Meter(Budget(patterns=0, columns=0), never))
    assert [(each.row, each.counts.tolist(), each.times) for each in again.patterns()] == [
        (each.row, each.counts.tolist(), each.times) for each in first.patterns()
    ]
    assert not list(anew.patterns())
