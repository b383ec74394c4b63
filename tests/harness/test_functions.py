"""The harness deploys what the stack deploys."""

from infra.functions import VERBS
from tests.harness.functions import FUNCTIONS


def test_every_function_but_refresh_is_there_with_its_timeout() -> None:
    stack = {verb.name: verb.timeout_seconds for verb in VERBS if verb.name != "refresh"}
    assert {verb: function.timeout.total_seconds() for verb, function in FUNCTIONS.items()} == stack
