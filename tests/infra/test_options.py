from collections.abc import Callable, Mapping

import pytest

from infra.options import Options


def context(values: Mapping[str, object]) -> Callable[[str], object]:
    return values.get


def test_nothing_chosen_keeps_state_and_allows_only_the_role_of_the_stack() -> None:
    assert Options.read(context({})) == Options(stack_name="Nodewright", node_roles=(), retain_state=True)


def test_the_command_line_gives_text() -> None:
    options = Options.read(context({"stackName": "Other", "nodeRoles": "A, teams/B", "retainState": "false"}))

    assert options == Options(stack_name="Other", node_roles=("A", "teams/B"), retain_state=False)


def test_cdk_json_gives_lists_and_booleans() -> None:
    options = Options.read(context({"nodeRoles": ["A", "B"], "retainState": False}))

    assert options == Options(node_roles=("A", "B"), retain_state=False)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"stackName": "my stack"}, "stackName='my stack' can't name a stack"),
        ({"stackName": "x" * 37}, "at most 36"),
        ({"stackName": 7}, "stackName=7"),
        ({"nodeRoles": "*"}, "'\\*' is no role name"),
        ({"nodeRoles": "arn:aws:iam::123456789012:role/A"}, "not the ARN"),
        ({"nodeRoles": "A,,B"}, "'' is no role name"),
        ({"nodeRoles": 3}, "nodeRoles=3 is no list"),
        ({"retainState": "no"}, "retainState='no' is neither true nor false"),
        ({"retainState": 1}, "retainState=1 is neither"),
        ({"retainState": ["true"]}, "neither true nor false"),
    ],
)
def test_a_bad_choice_is_named_with_its_fix(values: Mapping[str, object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Options.read(context(values))
