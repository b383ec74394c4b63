"""What one invocation came to."""

from dataclasses import dataclass
from typing import Any, TypeAlias

# Raw JSON: events, responses and template properties whose shape their readers check.
Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """A function's answer; an error answer has the runtime's `errorType` and `errorMessage` as its payload."""

    request_id: str
    payload: Json
    failed: bool
    duration_ms: float
    init_ms: float | None

    @property
    def error_type(self) -> str | None:
        """Such as `ValueError`, `Runtime.ExitError` or `Sandbox.Timedout`; None after a success."""
        return str(self.payload.get("errorType", "")) if self.failed else None


def error_payload(error_type: str, message: str) -> Json:
    """The body Lambda returns for an error that the function's own code did not report."""
    return {"errorType": error_type, "errorMessage": message}
