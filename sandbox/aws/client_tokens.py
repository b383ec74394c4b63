"""EC2's idempotency: a client token stands for one request and its one answer."""

import json
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from sandbox.aws.protocol import AwsError


class ClientTokens:
    """Remembers what was asked under each token, and what came of it."""

    def __init__(self) -> None:
        self._answers: dict[str, tuple[str, object]] = {}
        self._lock = Lock()

    def once(self, parameters: Mapping[str, Any], run: Callable[[], object]) -> object:
        """Run the request unless its token was used: then the same answer, or an error if it asks for something else.

        An error raised by `run` isn't remembered: the token may be used again, as with EC2.
        """
        token = parameters.get("ClientToken")
        if not token:
            return run()
        asked = json.dumps(dict(parameters), sort_keys=True, default=str)
        # Held while running: a second request that arrives meanwhile waits for the first one's answer.
        with self._lock:
            if token not in self._answers:
                self._answers[token] = (asked, run())
            remembered, result = self._answers[token]
        if remembered != asked:
            message = (
                "Arguments on this idempotent request are inconsistent with arguments used in previous request(s)."
            )
            raise AwsError("IdempotentParameterMismatch", message)
        return result

    def clear(self) -> None:
        """Forget every token."""
        with self._lock:
            self._answers.clear()
