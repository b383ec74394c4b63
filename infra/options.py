"""What a deployment may choose: CDK context, from cdk.json or `cdk deploy -c name=value`."""

import re
from collections.abc import Callable
from dataclasses import dataclass

#: The longest name made of it is the node role's: 64 characters less `-node-` and a region.
_LONGEST_NAME = 36


@dataclass(frozen=True, slots=True)
class Options:
    """Read once; everything else takes values."""

    stack_name: str = "Nodewright"
    """Name of the stack, and value of the tag `nodewright.dev/stack`: what carries it is this stack's."""
    node_roles: tuple[str, ...] = ()
    """Further roles that node classes may give their nodes, with path where they have one; the stack's is allowed."""
    retain_state: bool = True
    """Keep the table when the stack is destroyed. A sandbox says no."""

    @classmethod
    def read(cls, context: Callable[[str], object]) -> "Options":
        """From the app's context; `-c` gives text, cdk.json may give lists and booleans."""
        return cls(
            stack_name=_stack_name(context("stackName") or "Nodewright"),
            node_roles=_names(context("nodeRoles") or ()),
            retain_state=_boolean("retainState", context("retainState"), default=True),
        )


def _stack_name(value: object) -> str:
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", value) and len(value) <= _LONGEST_NAME:
        return value
    wanted = f"letters, digits and hyphens, a letter first, at most {_LONGEST_NAME}"
    raise ValueError(f"context stackName={value!r} can't name a stack: use {wanted}")


def _names(value: object) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"context nodeRoles={value!r} is no list of role names: write them separated by commas")
    names = tuple(str(part).strip() for part in parts)
    for name in names:
        # IAM's own rule for names and paths; above all, nothing that is a wildcard in a policy.
        if not re.fullmatch(r"[\w+=.@/-]+", name, re.ASCII) or name.startswith("/"):
            raise ValueError(f"context nodeRoles: {name!r} is no role name; give NAME or PATH/NAME, not the ARN")
    return names


def _boolean(name: str, value: object, *, default: bool) -> bool:
    known = {None: default, True: True, False: False, "true": True, "false": False}
    if (value is None or isinstance(value, bool | str)) and value in known:
        return known[value]
    raise ValueError(f"context {name}={value!r} is neither true nor false")
