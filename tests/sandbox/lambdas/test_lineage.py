from urllib.parse import quote

import pytest

from sandbox.lambdas.lineage import Trace, current_trace, lineage_middleware

RETIRE, TICK = "arn:aws:lambda:eu-west-1:1:function:retire", "arn:aws:lambda:eu-west-1:1:function:tick"


def test_a_chain_counts_each_functions_passes() -> None:
    trace = Trace("1-a-b", {}).through(RETIRE).through(TICK).through(RETIRE)
    assert (trace.count(RETIRE), trace.count(TICK)) == (2, 1)


def test_a_header_says_what_it_was_made_from_even_when_the_sdk_has_quoted_it() -> None:
    trace = Trace("1-a-b", {}).through(RETIRE).through(TICK)
    assert Trace.parse(trace.header) == trace
    # As botocore's add_recursion_detection_header quotes it.
    assert Trace.parse(quote(trace.header, safe="-=;:+&[]{}\"',")) == trace


@pytest.mark.parametrize("header", ["", "Root=1-a-b", "Root=1-a-b;Lineage=", "Root=1-a-b;Lineage=x:many", "nonsense"])
def test_a_header_without_a_lineage_has_no_passes(header: str) -> None:
    assert Trace.parse(header).count(RETIRE) == 0


def test_of_a_batch_the_longer_chain_counts() -> None:
    short, long = Trace("a", {}).through(RETIRE), Trace("b", {}).through(RETIRE).through(RETIRE).through(TICK)
    merged = short.merged(long)
    assert (merged.count(RETIRE), merged.count(TICK)) == (2, 1)


def test_a_requests_header_is_known_while_it_is_served_and_no_longer() -> None:
    seen: list[str | None] = []

    def app(*_: object) -> list[bytes]:
        seen.append(current_trace.get())
        return []

    served = lineage_middleware(app)
    served({"HTTP_X_AMZN_TRACE_ID": "Root=1"}, lambda *_: None)
    served({}, lambda *_: None)
    assert seen == ["Root=1", None]
    assert current_trace.get() is None
