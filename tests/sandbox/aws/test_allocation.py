from decimal import Decimal

from sandbox.aws.allocation import Allocation, Candidate, allocate
from sandbox.aws.capacity import Offering
from sandbox.aws.protocol import AwsError


def candidate(index: int, price: str, *, zone: str = "a", weight: int = 1, priority: float = 1) -> Candidate:
    return Candidate(index, Offering(f"t{index}", zone, "spot"), Decimal(price), priority, weight)


def plenty(_: Candidate) -> AwsError | None:
    return None


def spread(*candidates: Candidate, amount: int, strategy: str = "lowest-price") -> Allocation:
    return allocate(candidates, amount, strategy, plenty)


def test_price_is_by_unit_of_weight() -> None:
    assert spread(candidate(0, "1"), candidate(1, "3", weight=4), amount=4).counts == {1: 1}


def test_the_last_instance_may_exceed_the_target() -> None:
    result = spread(candidate(0, "1", weight=3), amount=4)
    assert result.counts == {0: 2}
    assert result.fulfilled == 6


def test_diversified_takes_from_all_in_turn() -> None:
    assert spread(candidate(0, "1"), candidate(1, "9"), amount=4, strategy="diversified").counts == {0: 2, 1: 2}


def test_nothing_to_choose_from_fulfils_nothing() -> None:
    assert spread(amount=3) == Allocation()


def test_the_order_of_candidates_does_not_matter() -> None:
    forth = [candidate(0, "2"), candidate(1, "1"), candidate(2, "1")]
    assert allocate(forth, 5, "lowest-price", plenty) == allocate(forth[::-1], 5, "lowest-price", plenty)
