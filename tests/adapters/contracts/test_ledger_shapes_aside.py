"""Shapes set aside, in memory and on the table."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.application.errors import ConflictError
from nodewright.application.ports import Ledger
from nodewright.domain.set_aside import ShapeAside
from tests.adapters.builders import NOW

SHAPE = ShapeAside("ab12", 2, 3, NOW, NOW + timedelta(minutes=5), "0/1 nodes are available: 1 é.")


def test_shapes_come_back_as_they_were_saved_sorted_by_key_each_cluster_its_own(ledger: Ledger) -> None:
    later = ledger.save_shape_aside("prod", replace(SHAPE, shape="cd34"))
    first = ledger.save_shape_aside("prod", SHAPE)
    assert first == replace(SHAPE, version=1)
    assert ledger.shapes_aside("prod") == (first, later)
    assert ledger.shapes_aside("test") == ()


def test_a_shape_is_replaced_where_it_is_as_it_was_read(ledger: Ledger) -> None:
    first = ledger.save_shape_aside("prod", SHAPE)
    second = ledger.save_shape_aside("prod", replace(first, failures=3))
    assert ledger.shapes_aside("prod") == (replace(SHAPE, failures=3, version=2),) == (second,)


@pytest.mark.parametrize("version", [0, 1, 3])
def test_of_two_that_count_the_same_one_is_told_that_it_changed(ledger: Ledger, version: int) -> None:
    second = ledger.save_shape_aside("prod", ledger.save_shape_aside("prod", SHAPE))
    with pytest.raises(ConflictError):
        ledger.save_shape_aside("prod", replace(SHAPE, failures=9, version=version))
    assert ledger.shapes_aside("prod") == (second,)


def test_one_that_was_removed_since_it_was_read_is_saved_anew(ledger: Ledger) -> None:
    saved = ledger.save_shape_aside("prod", replace(SHAPE, version=4))
    assert ledger.shapes_aside("prod") == (saved,)
