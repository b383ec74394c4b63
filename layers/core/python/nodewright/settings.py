"""What each function is told by its environment. The only reader of environment variables.

infra builds every function's environment block from `NAMES`, and a test feeds the synthesized
blocks to `from_env`, so the stack and the code can't disagree.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass


class SettingsError(Exception):
    """A variable is missing or unreadable; the message names it and the fix."""


@dataclass(frozen=True, slots=True)
class Settings:
    """One function's environment. Every function gets the same block: less to get wrong."""

    stack_id: str
    """Value of the tag `nodewright.dev/stack` on everything we make; what carries it is ours."""
    table: str
    """Name of the DynamoDB table that holds all state."""
    provision_queue_url: str
    """provision.fifo: hints 'look at cluster X', grouped by cluster."""
    reconcile_queue_url: str
    """reconcile.fifo: the same for the truth-keeper."""
    disrupt_queue_url: str
    """disrupt.fifo: the same for whatever may go."""
    retire_queue_url: str
    """Turns of nodes on their way out; a standard queue."""
    node_role: str
    """Name of the node role used where a class names none."""
    node_instance_profile: str
    """Name of the instance profile used where a class names neither profile nor role."""
    region: str
    """AWS region; Lambda sets AWS_REGION itself."""
    function_timeout_seconds: int
    """This function's own timeout: the lease of a launch, and the outer guard of a plan."""
    endpoint_url: str = ""
    """AWS_ENDPOINT_URL, where AWS isn't at its usual address (a sandbox); the SDK's clients read it by themselves."""

    @classmethod
    def load(cls) -> "Settings":
        """Of this process."""
        return cls.from_env(os.environ)

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> "Settings":
        """Read all variables, or raise SettingsError naming every one that is missing."""
        missing = [name for field, name in NAMES.items() if field not in OPTIONAL and not env.get(name)]
        if missing:
            raise SettingsError(f"environment lacks {', '.join(missing)}: deploy the stack again, it sets them")
        values = {field: env.get(name, "") for field, name in NAMES.items()}
        timeout = values.pop("function_timeout_seconds")
        if not timeout.isdecimal() or int(timeout) == 0:
            raise SettingsError(f"{NAMES['function_timeout_seconds']}={timeout!r} is not a whole number of seconds")
        return cls(function_timeout_seconds=int(timeout), **values)


#: field of Settings → environment variable.
NAMES: Mapping[str, str] = {
    "stack_id": "NODEWRIGHT_STACK",
    "table": "NODEWRIGHT_TABLE",
    "provision_queue_url": "NODEWRIGHT_PROVISION_QUEUE",
    "reconcile_queue_url": "NODEWRIGHT_RECONCILE_QUEUE",
    "disrupt_queue_url": "NODEWRIGHT_DISRUPT_QUEUE",
    "retire_queue_url": "NODEWRIGHT_RETIRE_QUEUE",
    "node_role": "NODEWRIGHT_NODE_ROLE",
    "node_instance_profile": "NODEWRIGHT_NODE_INSTANCE_PROFILE",
    "region": "AWS_REGION",
    "function_timeout_seconds": "NODEWRIGHT_FUNCTION_TIMEOUT",
    "endpoint_url": "AWS_ENDPOINT_URL",
}

#: Fields whose variable the stack doesn't set.
OPTIONAL: frozenset[str] = frozenset({"endpoint_url"})
