"""What each role really asked of AWS, to hold against what its policies allow."""

from collections import defaultdict
from threading import Lock

from sandbox.aws.actions import actions
from sandbox.aws.credentials import Credentials
from sandbox.aws.protocol import Call


class Calls:
    """The record of calls, by role and by operation."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._actions: dict[str, set[str]] = defaultdict(set)
        self._counts: dict[tuple[str | None, str], int] = defaultdict(int)
        self._lock = Lock()

    def record(self, call: Call) -> str | None:
        """Note a call; returns the role that made it, None for the administrator."""
        role = self._credentials.role(call.access_key)
        with self._lock:
            self._counts[role, f"{call.service}:{call.operation}"] += 1
            if role is not None:
                self._actions[role] |= actions(call)
        return role

    def by_role(self) -> dict[str, set[str]]:
        """Role ARN → the IAM actions its calls needed."""
        with self._lock:
            return {role: set(used) for role, used in self._actions.items()}

    def count(self, service: str, operation: str, role_arn: str | None = None) -> int:
        """How often an operation was called: by a role, or by anybody."""
        called = f"{service}:{operation}"
        with self._lock:
            counts = self._counts.items()
            return sum(times for (role, name), times in counts if name == called and role_arn in {None, role})

    def clear(self) -> None:
        """Forget all of it."""
        with self._lock:
            self._actions.clear()
            self._counts.clear()
