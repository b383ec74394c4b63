"""DynamoDB isolates its calls from each other and does a transaction once for each token; moto does neither."""

import json
from hashlib import sha256
from threading import RLock
from time import monotonic
from typing import Any

from moto.core.responses import ActionResult
from moto.dynamodb.exceptions import ERROR_TYPE_PREFIX, DynamodbException
from moto.dynamodb.responses import DynamoHandler

from sandbox.aws.patches import Patches

# How long DynamoDB knows a transaction's token.
KNOWN_SECONDS = 600


class Tables:
    """One call at a time: a transaction that moto cancels puts the whole table back."""

    def install(self, patches: Patches) -> None:
        """From now on."""
        lock, done = RLock(), _Done()

        def call_action(handler: DynamoHandler) -> Any:
            with lock:
                return original(handler)

        def transact(handler: DynamoHandler) -> Any:
            token, asked = handler.body.get("ClientRequestToken", ""), _digest(handler.body)
            if done.before(token, asked):
                return ActionResult({})
            answer = transact_anew(handler)  # one that is cancelled raises: its token may be used again
            done.remember(token, asked)
            return answer

        original = patches.replace(DynamoHandler, "call_action", call_action)
        transact_anew = patches.replace(DynamoHandler, "transact_write_items", transact)


class _Done:
    """Transactions that took effect lately, by their tokens."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, bytes]] = {}

    def before(self, token: str, asked: bytes) -> bool:
        """Whether it is one of them; an error where its token stands for another."""
        when, what = self._known.get(token, (-KNOWN_SECONDS, b""))
        if monotonic() - when >= KNOWN_SECONDS:
            return False
        if what != asked:
            raise DynamodbException(
                ERROR_TYPE_PREFIX + "IdempotentParameterMismatchException", "The token stands for another transaction."
            )
        return True

    def remember(self, token: str, asked: bytes) -> None:
        """It took effect just now; those that were long ago are forgotten."""
        now = monotonic()
        self._known = {token: known for token, known in self._known.items() if now - known[0] < KNOWN_SECONDS}
        if token:
            self._known[token] = (now, asked)


def _digest(asked: dict[str, Any]) -> bytes:
    return sha256(json.dumps(asked, sort_keys=True).encode()).digest()
