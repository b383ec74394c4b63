"""Failures on demand, for any operation of any service."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from sandbox.aws.protocol import AwsError, Call

# EC2 answers 503 to a throttled caller; everything else here answers 400.
STATUS = {"RequestLimitExceeded": 503, "ServiceUnavailable": 503, "InternalError": 500, "AccessDenied": 403}
MESSAGES = {
    "RequestLimitExceeded": "Request limit exceeded.",
    "ThrottlingException": "Rate exceeded",
    "UnauthorizedOperation": "You are not authorized to perform this operation.",
}


@dataclass(slots=True)
class _Fault:
    service: str
    operation: str
    error: AwsError
    remaining: int
    after_effect: bool

    def concerns(self, call: Call) -> bool:
        return self.service == call.service and self.operation in ("*", call.operation)


@dataclass(slots=True)
class Faults:
    """What is to go wrong. Every call counts, also an SDK's own retries."""

    _pending: list[_Fault] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def fail(self, service: str, operation: str, code: str, times: int = 1, message: str | None = None) -> None:
        """Answer the next `times` calls with an error, without doing anything. Operation `*` is any."""
        self._add(service, operation, code, times, message, after_effect=False)

    def lose(self, service: str, operation: str, times: int = 1) -> None:
        """Do what the next `times` calls ask, but answer with an internal error: the effect is there, unknown."""
        self._add(service, operation, "InternalError", times, None, after_effect=True)

    def clear(self) -> None:
        """Nothing goes wrong any more."""
        with self._lock:
            self._pending.clear()

    def before(self, call: Call) -> None:
        """Raise what is to happen instead of the call."""
        self._strike(call, after_effect=False)

    @contextmanager
    def around(self, call: Call) -> Iterator[None]:
        """Raise before or after the call, as was asked for."""
        self.before(call)
        yield
        self._strike(call, after_effect=True)

    def _add(
        self, service: str, operation: str, code: str, times: int, message: str | None, *, after_effect: bool
    ) -> None:
        error = AwsError(
            code, message or MESSAGES.get(code, f"{code}: asked for by the sandbox"), STATUS.get(code, 400)
        )
        with self._lock:
            self._pending.append(_Fault(service, operation, error, times, after_effect))

    def _strike(self, call: Call, *, after_effect: bool) -> None:
        with self._lock:
            for fault in self._pending:
                if fault.after_effect is after_effect and fault.concerns(call):
                    self._spend(fault)
                    raise fault.error

    def _spend(self, fault: _Fault) -> None:
        fault.remaining -= 1
        if fault.remaining <= 0:
            self._pending.remove(fault)
