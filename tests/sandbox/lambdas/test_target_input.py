from typing import Any

import pytest

from sandbox.lambdas.outcome import Json
from sandbox.lambdas.specs import Target
from sandbox.lambdas.target_input import target_input

EVENT = {
    "source": "aws.ec2",
    "time": "t",
    "resources": ["a", "b"],
    "detail": {"instance-id": "i-1", "n": 3, "q": 'x"y'},
}


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, EVENT),
        ({"input": '{"duty": "prices"}'}, {"duty": "prices"}),
        ({"input_path": "$.detail"}, EVENT["detail"]),
        ({"input_path": "$.resources[1]"}, "b"),
        ({"input_path": "$.detail.absent"}, None),
        (
            {
                "input_paths": {"id": "$.detail.instance-id", "n": "$.detail.n"},
                "input_template": '{"i": <id>, "n": <n>}',
            },
            {"i": "i-1", "n": 3},
        ),
        ({"input_paths": {"id": "$.detail.instance-id"}, "input_template": '"node <id> goes"'}, "node i-1 goes"),
        ({"input_paths": {"q": "$.detail.q"}, "input_template": '{"q": <q>, "t": "<q>"}'}, {"q": 'x"y', "t": 'x"y'}),
        (
            {"input_template": '{"rule": "<aws.events.rule-name>", "whole": <aws.events.event>}'},
            {"rule": "R", "whole": EVENT},
        ),
        ({"input_template": "no <json> here"}, "no <json> here"),
    ],
)
def test_a_target_is_given_what_its_rule_makes_of_the_event(changes: dict[str, Any], wanted: Json) -> None:
    target = Target(**{**_EVERYTHING, **changes})
    assert target_input(target, EVENT, "R", "arn:aws:events:eu-west-1:1:rule/R") == wanted


_EVERYTHING: dict[str, Any] = {
    "resource": "Queue",
    "message_group_id": None,
    "input": None,
    "input_path": None,
    "input_paths": {},
    "input_template": None,
}
