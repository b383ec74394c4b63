"""Answers in pages, so that a client that doesn't ask for the next one is found out."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from sandbox.aws.protocol import AwsError

Row = TypeVar("Row")


def page(rows: Sequence[Row], parameters: Mapping[str, Any], largest: int) -> tuple[Sequence[Row], str | None]:
    """The rows after NextToken, at most MaxResults of them and never more than AWS's own limit, and the next token."""
    start = _start(parameters.get("NextToken"))
    end = start + min(int(parameters.get("MaxResults") or largest), largest)
    return rows[start:end], f"page-{end}" if end < len(rows) else None


def _start(token: str | None) -> int:
    if not token:
        return 0
    if not token.startswith("page-"):
        raise AwsError("InvalidParameterValue", f"NextToken {token!r} was not given out by this service.")
    return int(token.removeprefix("page-"))
