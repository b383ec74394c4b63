"""DynamoDB isolates its calls from each other; a transaction that moto cancels puts the whole table back."""

from threading import RLock
from typing import Any

from moto.dynamodb.responses import DynamoHandler

from sandbox.aws.patches import Patches


class Tables:
    """One call at a time."""

    def install(self, patches: Patches) -> None:
        """From now on."""
        lock = RLock()

        def call_action(handler: DynamoHandler) -> Any:
            with lock:
                return original(handler)

        original = patches.replace(DynamoHandler, "call_action", call_action)
