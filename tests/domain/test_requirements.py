from typing import get_args

import pytest

from nodewright.domain.labels import WELL_KNOWN, normalise_key, restricted_reason
from nodewright.domain.requirements import Operator, Requirement, Requirements

MAX_INT64 = str(2**63 - 1)
CPU = "karpenter.k8s.aws/instance-cpu"


def req(operator: Operator, *values: str, key: str = "k", at_least: int | None = None) -> Requirement:
    return Requirement.of(key, operator, values, at_least)


NOTHING = Requirement.nothing("k")


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (req("In", "a", "b"), req("In", "b", "c"), req("In", "b")),
        (req("In", "a"), req("In", "b"), NOTHING),
        (req("In", "a", "b"), req("NotIn", "b"), req("In", "a")),
        (req("In", "a"), req("Exists"), req("In", "a")),
        (req("In", "a"), req("DoesNotExist"), NOTHING),
        (req("NotIn", "a"), req("NotIn", "b"), req("NotIn", "a", "b")),
        (req("NotIn", "a"), req("DoesNotExist"), req("DoesNotExist")),
        (req("DoesNotExist"), req("DoesNotExist"), req("DoesNotExist")),
        (req("Exists"), req("DoesNotExist"), NOTHING),
        (req("Gt", "8"), req("In", "4", "16", "large"), req("In", "16")),
        (req("Gt", "8"), req("DoesNotExist"), NOTHING),
        (req("Gt", "24"), req("Lt", "8"), NOTHING),
        (req("Gt", "8"), req("Gte", "9"), req("Gt", "8")),
        (req("Gte", "4"), req("Exists"), req("Gte", "4")),
        (req("Gte", "4"), req("NotIn", "2", "word"), req("Gte", "4")),
        (req("Lt", "8"), req("Lte", "5"), req("Lte", "5")),
    ],
)
def test_two_requirements_of_a_key_intersect(one: Requirement, other: Requirement, both: Requirement) -> None:
    assert one.intersect(other) == both


@pytest.mark.parametrize(
    ("requirement", "allowed", "refused", "absent"),
    [
        (req("In", "a", "b"), ["a", "b"], ["c", ""], False),
        (req("NotIn", "a"), ["b", ""], ["a"], True),
        (req("Exists"), ["a", ""], [], False),
        (req("DoesNotExist"), [], ["a", ""], True),
        (req("Gt", "8"), ["9", "16", "096"], ["8", "2", "large", "", "9.5", "1_6"], False),
        (req("Lt", "8"), ["7", "0"], ["8", "16", "x"], False),
        (req("Gte", "8"), ["8", MAX_INT64], ["7", str(2**63)], False),
        (req("Lte", "8"), ["8"], ["9"], False),
        (req("Gt", MAX_INT64), [], ["1", MAX_INT64], True),
        (req("Exists").intersect(req("NotIn", "a")), ["b"], ["a"], False),
        (NOTHING, [], ["a", ""], False),
    ],
)
def test_an_operator_admits_values_and_absence(
    requirement: Requirement, allowed: list[str], refused: list[str], absent: bool
) -> None:
    assert [value for value in (*allowed, *refused) if requirement.allows(value)] == allowed
    assert requirement.allows_absent is absent


def test_strict_bounds_keep_what_lies_between_as_numbers() -> None:
    asked = Requirements([req("Gt", "8", key=CPU), req("Lt", "24", key=CPU)])
    assert [cpus for cpus in ("8", "16", "24", "96") if asked.admits({CPU: cpus})] == ["16"]
    assert not asked.admits({})


def test_impossible_bounds_are_empty_and_name_the_key() -> None:
    asked = Requirements([req("Gt", "24", key=CPU), req("Lt", "8", key=CPU)])
    assert asked[CPU].is_empty
    assert str(asked) == f"{CPU}: no value is possible"


def test_a_concrete_set_keeps_its_min_values() -> None:
    both = req("In", "a", "b", "c", at_least=2).intersect(req("NotIn", "a", at_least=3))
    assert (both.values, both.min_values) == (frozenset({"b", "c"}), 3)


@pytest.mark.parametrize(
    ("operator", "values", "min_values", "problem"),
    [
        ("In", [], None, "at least one value"),
        ("Exists", ["a"], None, "takes no values"),
        ("DoesNotExist", ["a"], None, "takes no values"),
        ("Gt", [], None, "exactly one value"),
        ("Gt", ["1", "2"], None, "exactly one value"),
        ("Lt", ["large"], None, "whole number"),
        ("Gte", ["1.5"], None, "whole number"),
        ("Lte", [str(2**63)], None, "whole number"),
        ("Gte", ["1_0"], None, "whole number"),
        ("Near", ["1"], None, "not known"),
        ("In", ["a", "a"], 2, "more than it has values"),
        ("Exists", [], 0, "between 1 and 50"),
        ("Exists", [], 51, "between 1 and 50"),
    ],
)
def test_a_bad_entry_is_refused_with_key_operator_and_values(
    operator: Operator, values: list[str], min_values: int | None, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem) as refusal:
        Requirement.of("example.com/size", operator, values, min_values)
    assert f"example.com/size {operator} [{', '.join(values)}]" in str(refusal.value)


@pytest.mark.parametrize(
    ("requirement", "shown", "operator"),
    [
        (req("In", "b", "a"), "k In [a, b]", "In"),
        (req("NotIn", "a"), "k NotIn [a]", "NotIn"),
        (req("Exists"), "k Exists", "Exists"),
        (req("DoesNotExist"), "k DoesNotExist", "DoesNotExist"),
        (req("Gt", "8").intersect(req("Lt", "24")), "k Gte 9, Lte 23", "Gte"),
        (req("Lt", "24").intersect(req("NotIn", "7")), "k Lte 23, NotIn [7]", "Lte"),
        (NOTHING, "k: no value is possible", "Exists"),
    ],
)
def test_a_requirement_is_shown_as_it_would_be_written(requirement: Requirement, shown: str, operator: str) -> None:
    assert str(requirement) == shown
    assert requirement.operator == operator


@pytest.mark.parametrize(
    ("requirement", "value"),
    [
        (req("In", "b", "a"), "a"),
        (req("Exists"), "0"),
        (req("NotIn", "0", "1"), "2"),
        (req("Gt", "8"), "9"),
        (req("Lt", "0"), "-1"),
        (req("Lte", "5").intersect(req("NotIn", "0")), "1"),
        (req("DoesNotExist"), None),
    ],
)
def test_some_value_is_always_the_same(requirement: Requirement, value: str | None) -> None:
    assert requirement.some_value() == value


@pytest.mark.parametrize(
    ("alias", "key"),
    [
        ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
        ("beta.kubernetes.io/os", "kubernetes.io/os"),
        ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
        ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
        ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
        ("topology.ebs.csi.aws.com/zone", "topology.kubernetes.io/zone"),
        ("karpenter.sh/provisioner-name", "karpenter.sh/nodepool"),
        ("example.com/team", "example.com/team"),
    ],
)
def test_an_alias_means_the_label_it_stands_for(alias: str, key: str) -> None:
    assert normalise_key(alias) == key
    assert Requirement.of(alias, "Exists").key == key


def test_a_label_outranks_its_own_alias() -> None:
    labels = {"beta.kubernetes.io/arch": "arm64", "kubernetes.io/arch": "amd64", "example.com/a": "1"}
    assert Requirements.from_labels(labels) == Requirements(
        [req("In", "amd64", key="kubernetes.io/arch"), req("In", "1", key="example.com/a")]
    )
    assert Requirements.from_labels({"beta.kubernetes.io/os": "linux"}).admits({"kubernetes.io/os": "linux"})


@pytest.mark.parametrize("absent_for", [req("NotIn", "a"), req("DoesNotExist")])
@pytest.mark.parametrize("also_absent", [req("NotIn", "b"), req("DoesNotExist")])
def test_excluding_requirements_never_conflict(absent_for: Requirement, also_absent: Requirement) -> None:
    assert not absent_for.intersect(also_absent).is_empty


@pytest.mark.parametrize(
    "key",
    [
        "kubernetes.io/hostname",
        "karpenter.sh/registered",
        "karpenter.k8s.aws/instance-pods",
        "sub.karpenter.sh/x",
        "compatibility.karpenter.k8s.aws/x",
    ],
)
def test_keys_of_the_autoscaler_are_not_for_users(key: str) -> None:
    assert key in (restricted_reason(key) or "")


@pytest.mark.parametrize(
    "key",
    [
        *sorted(WELL_KNOWN),
        "karpenter.sh/provisioner-name",
        "example.com/team",
        "team",
        "node.kubernetes.io/x",
        "notkarpenter.sh/x",
    ],
)
def test_other_keys_are_for_users(key: str) -> None:
    assert restricted_reason(key) is None


def test_every_operator_can_be_read() -> None:
    values = {"Exists": (), "DoesNotExist": ()}
    assert {req(operator, *values.get(operator, ("1",))).key for operator in get_args(Operator)} == {"k"}


def test_requirements_are_shown_and_compared_by_content() -> None:
    one, other = Requirements([req("In", "a", key="z"), req("Exists", key="b")]), {"b": req("Exists", key="b")}
    assert str(one) == "b Exists; z In [a]"
    assert str(Requirements()) == "anything"
    assert Requirements([req("Exists", key="b")]) == other
