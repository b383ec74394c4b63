import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewright.adapters.manifests.fields import Fields, Report
from nodewright.adapters.manifests.tag_selectors import MOST_COMBINATIONS, read_image_selector, read_selector
from nodewright.application.ports import ManifestWarning
from nodewright.domain.nodeclasses import SelectorTerm


def read(selector: object, name: str = "subnetSelector") -> tuple[tuple[SelectorTerm, ...], list[ManifestWarning]]:
    report = Report("AWSNodeTemplate/default", "it is left out")
    spec = Fields({name: selector}, "spec", report)
    terms = read_image_selector(spec) if name == "amiSelector" else read_selector(spec, name)
    return terms, report.warnings


def sound(selector: object, name: str = "subnetSelector") -> tuple[SelectorTerm, ...]:
    terms, warnings = read(selector, name)
    assert warnings == []
    return terms


def tagged(**tags: str) -> SelectorTerm:
    return SelectorTerm(tags=tags)


@pytest.mark.parametrize("key", ["aws-ids", "aws::ids"])
def test_each_id_of_a_list_is_a_term(key: str) -> None:
    assert sound({key: "subnet-1, subnet-2"}) == (SelectorTerm(id="subnet-1"), SelectorTerm(id="subnet-2"))


def test_tags_must_all_match_and_of_a_listed_value_any() -> None:
    assert sound({"Name": "a,b", "team": "x"}) == (tagged(Name="a", team="x"), tagged(Name="b", team="x"))


@pytest.mark.parametrize("value", ["*", "", ","])
def test_a_star_or_nothing_asks_for_the_key_alone(value: str) -> None:
    assert sound({"team": value}) == (tagged(team="*"),)


def test_the_name_tag_is_a_tag_and_not_the_group_s_name() -> None:
    assert sound({"Name": "nodes"}, "securityGroupSelector") == (tagged(Name="nodes"),)


def test_ids_leave_tags_out_with_a_warning() -> None:
    terms, (warning,) = read({"aws-ids": "subnet-1", "team": "a"})
    assert terms == (SelectorTerm(id="subnet-1"),)
    assert warning.path == "spec.subnetSelector"
    assert "team is ignored" in warning.message


@pytest.mark.parametrize(
    ("selector", "path"),
    [
        (None, "spec.subnetSelector"),
        ({}, "spec.subnetSelector"),
        ("subnet-1", "spec.subnetSelector"),
        ({"aws::name": "a"}, "spec.subnetSelector.aws::name"),
        ({"team": {"a": "b"}}, "spec.subnetSelector.team"),
        (dict.fromkeys("ab", "1,2,3,4,5,6,7,8,9,10,11"), "spec.subnetSelector"),
    ],
)
def test_what_selects_nothing_or_can_not_be_read_is_refused(selector: object, path: str) -> None:
    _, warnings = read(selector)
    assert path in {warning.path for warning in warnings}
    assert "it is left out until this is fixed" in warnings[0].message


def test_images_are_named_by_id_name_owner_and_tags() -> None:
    assert sound({"aws-ids": "ami-1,ami-2"}, "amiSelector") == (SelectorTerm(id="ami-1"), SelectorTerm(id="ami-2"))
    assert sound({"aws::name": "a-*"}, "amiSelector") == (SelectorTerm(name="a-*"),)
    assert sound({"Name": "mine", "team": "*"}, "amiSelector") == (tagged(Name="mine", team="*"),)


def test_owners_multiply_with_names_and_tags() -> None:
    selector = {"aws::owners": "self,1234", "aws::name": "a,b", "team": "x"}
    assert set(map(str, sound(selector, "amiSelector"))) == {
        str(SelectorTerm(name=name, owner=owner, tags={"team": "x"}))
        for name, owner in itertools.product("ab", ("self", "1234"))
    }


def test_without_a_selector_no_image_is_named() -> None:
    assert sound(None, "amiSelector") == ()
    assert sound({}, "amiSelector") == ()


@pytest.mark.parametrize(
    "selector",
    [
        {"aws::owners": "self"},
        {"aws::sums": "x", "team": "a"},
        {"aws::name": "1,2,3,4,5,6,7,8,9,10,11", "aws::owners": "1,2,3,4,5,6,7,8,9,10"},
    ],
)
def test_an_image_selector_that_says_too_little_too_much_or_the_unknown_is_refused(selector: dict[str, str]) -> None:
    _, (warning,) = read(selector, "amiSelector")
    assert warning.path.startswith("spec.amiSelector")
    assert "it is left out until this is fixed" in warning.message


_VALUES = st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True)


@pytest.mark.property
@given(st.dictionaries(st.sampled_from(["Name", "team", "stage"]), _VALUES, min_size=1))
def test_terms_pick_exactly_what_the_old_selector_picked(lists: dict[str, list[str]]) -> None:
    terms = sound({key: ",".join(values) for key, values in lists.items()})
    assert 1 <= len(terms) <= MOST_COMBINATIONS
    for values in itertools.product("abc", repeat=len(lists)):
        tags = dict(zip(lists, values, strict=True))
        picked = any(term.tags == tags for term in terms)
        assert picked == all(tags[key] in values for key, values in lists.items())
