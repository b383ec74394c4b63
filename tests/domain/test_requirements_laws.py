"""Requirements are sets of label values with absence as one more member; these are the set laws.

`members` lists which of a universe large enough to tell any two generated sets apart are in a set.
"""

import itertools
from collections.abc import Iterable
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewright.domain.requirements import Operator, Requirement, Requirements

pytestmark = pytest.mark.property

ABSENT = None
WORDS = ("a", "b", "1", "5", "05", "9")
FRESH = ("x", "", "1.5", "1_0", "٣", str(2**63), str(2**63 - 1))
INTEGERS = tuple(itertools.chain.from_iterable((str(n), f"0{n}", f"00{n}") for n in range(13)))
UNIVERSE: tuple[str | None, ...] = (ABSENT, *dict.fromkeys((*WORDS, *FRESH, *INTEGERS, "-1", "-2", "-3")))
KEYS = ("zone", "size", "custom.io/team")


@st.composite
def entries(draw: st.DrawFn, key: str = "size", with_min_values: bool = True) -> Requirement:
    operator: Operator = draw(st.sampled_from(get_args(Operator)))
    values: Iterable[str] = ()
    if operator in {"In", "NotIn"}:
        values = draw(st.lists(st.sampled_from(WORDS), min_size=int(operator == "In"), max_size=4))
    elif operator not in {"Exists", "DoesNotExist"}:
        values = (str(draw(st.integers(min_value=0, max_value=10))),)
    wish = draw(st.none() | st.integers(min_value=1, max_value=50)) if with_min_values and operator != "In" else None
    return Requirement.of(key, operator, values, wish)


def sets(key: str = "size", with_min_values: bool = True) -> st.SearchStrategy[Requirement]:
    """Whatever a few entries intersect to."""
    some = st.lists(entries(key, with_min_values), min_size=1, max_size=4)
    return some.map(lambda parts: Requirements(parts)[key])


requirement_maps = st.lists(st.sampled_from(KEYS).flatmap(entries), max_size=5).map(Requirements)


def members(requirement: Requirement) -> frozenset[str | None]:
    return frozenset(one for one in UNIVERSE if admits(requirement, one))


def admits(requirement: Requirement, one: str | None) -> bool:
    return requirement.allows_absent if one is None else requirement.allows(one)


@given(sets(), sets())
def test_intersection_admits_what_both_admit(a: Requirement, b: Requirement) -> None:
    assert members(a.intersect(b)) == members(a) & members(b)


@given(sets())
def test_intersection_with_itself_changes_nothing(a: Requirement) -> None:
    assert a.intersect(a) == a


@given(sets(), sets())
def test_intersection_does_not_depend_on_order(a: Requirement, b: Requirement) -> None:
    assert a.intersect(b) == b.intersect(a)
    assert hash(a.intersect(b)) == hash(b.intersect(a))


@given(sets(), sets(), sets())
def test_intersection_does_not_depend_on_grouping(a: Requirement, b: Requirement, c: Requirement) -> None:
    assert a.intersect(b).intersect(c) == a.intersect(b.intersect(c))


@given(sets())
def test_excluding_nothing_is_the_identity(a: Requirement) -> None:
    anything = Requirement.of("size", "NotIn")
    assert members(anything) == frozenset(UNIVERSE)
    assert anything.intersect(a) == a


@given(sets())
def test_the_empty_set_absorbs(a: Requirement) -> None:
    nothing = Requirement.nothing("size")
    assert a.intersect(nothing).is_empty
    assert members(nothing) == frozenset()


@given(st.lists(st.sampled_from(WORDS), min_size=1))
def test_in_and_not_in_split_everything(values: list[str]) -> None:
    inside, outside = (Requirement.of("size", operator, values) for operator in ("In", "NotIn"))
    assert members(inside) | members(outside) == frozenset(UNIVERSE)
    assert inside.intersect(outside).is_empty


def test_exists_and_does_not_exist_split_everything() -> None:
    present, absent = Requirement.of("size", "Exists"), Requirement.of("size", "DoesNotExist")
    assert members(present) | members(absent) == frozenset(UNIVERSE)
    assert present.intersect(absent).is_empty


@given(st.integers(min_value=0, max_value=10))
def test_bounds_split_the_integers_and_nothing_else(n: int) -> None:
    above, at_most = Requirement.of("size", "Gt", [str(n)]), Requirement.of("size", "Lte", [str(n)])
    integers = {one for one in UNIVERSE if one is not None and admits(above, one) != admits(at_most, one)}
    assert integers == {*INTEGERS, "5", "05", "9", "1", "-1", "-2", "-3", str(2**63 - 1)}
    assert above.intersect(at_most).is_empty
    assert above == Requirement.of("size", "Gte", [str(n + 1)])


@given(sets(with_min_values=False), sets(with_min_values=False))
def test_the_same_set_is_the_same_value_however_it_was_written(a: Requirement, b: Requirement) -> None:
    assert (a == b) == (members(a) == members(b))


@given(sets(with_min_values=False))
def test_a_set_is_what_its_terms_intersect_to(a: Requirement) -> None:
    assert Requirements(Requirement.of("size", operator, values) for operator, values in a.terms)["size"] == a


@given(sets())
def test_only_a_set_without_members_is_empty(a: Requirement) -> None:
    assert a.is_empty == (members(a) == frozenset())


@given(sets())
def test_some_value_is_a_member_wherever_there_is_one(a: Requirement) -> None:
    value = a.some_value()
    if value is None:
        assert members(a) <= {ABSENT}
    else:
        assert a.allows(value)


@given(sets(), sets())
def test_the_larger_min_values_stays(a: Requirement, b: Requirement) -> None:
    wishes = [one.min_values for one in (a, b) if one.min_values is not None]
    assert a.intersect(b).min_values == max(wishes, default=None)


@given(requirement_maps, requirement_maps)
def test_maps_intersect_key_by_key_and_in_any_order(a: Requirements, b: Requirements) -> None:
    both = a.intersect(b)
    assert both == b.intersect(a)
    assert hash(both) == hash(b.intersect(a))
    assert both.intersect(a) == both
    assert a.intersect(Requirements()) == a


@given(requirement_maps, requirement_maps, st.dictionaries(st.sampled_from(KEYS), st.sampled_from(WORDS)))
def test_an_intersection_admits_nodes_both_admit(a: Requirements, b: Requirements, labels: dict[str, str]) -> None:
    assert a.intersect(b).admits(labels) == (a.admits(labels) and b.admits(labels))


@given(requirement_maps, requirement_maps)
def test_an_intersection_is_empty_exactly_when_no_node_satisfies_both(a: Requirements, b: Requirements) -> None:
    for key, both in a.intersect(b).items():
        asked = [side[key] for side in (a, b) if key in side]
        assert both.is_empty == (not any(all(admits(one, value) for one in asked) for value in UNIVERSE))
