"""Several calls at a time."""

from threading import Barrier, Event

import pytest

from nodewright.adapters.threads import AT_A_TIME, several


def test_answers_come_in_the_order_of_the_items() -> None:
    assert several(lambda item: item * 2, range(100)) == [item * 2 for item in range(100)]


def test_so_many_are_done_at_a_time() -> None:
    together = Barrier(AT_A_TIME, timeout=300)
    assert sorted(several(lambda _: together.wait(), range(AT_A_TIME))) == list(range(AT_A_TIME))


def test_after_a_failure_what_was_not_begun_never_is() -> None:
    begun: list[int] = []

    def first_fails(item: int) -> None:
        begun.append(item)
        if item == 0:
            raise ValueError("the first fails")
        Event().wait(0.01)

    with pytest.raises(ValueError, match="the first fails"):
        several(first_fails, range(10_000))
    assert len(begun) < 10_000
