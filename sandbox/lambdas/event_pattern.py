"""EventBridge event patterns, from its documentation of comparison operators.

https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html: a pattern names fields, each
with a list of alternatives; an array in the event matches when one of its elements does.
"""

import ipaddress
import operator
import re
from collections.abc import Callable, Iterator, Mapping

from sandbox.lambdas.outcome import Json

_ABSENT = object()


class UnknownOperatorError(ValueError):
    """The pattern uses a comparison that EventBridge doesn't have, or that is not matched here."""


def matches(pattern: Mapping[str, Json], event: Json) -> bool:
    """Whether every field the pattern names accepts the event's."""
    return all(_field_matches(name, wanted, event) for name, wanted in pattern.items())


def _field_matches(name: str, wanted: Json, event: Json) -> bool:
    if name == "$or":
        return any(matches(alternative, event) for alternative in wanted)
    value = event.get(name, _ABSENT) if isinstance(event, dict) else _ABSENT
    if isinstance(wanted, dict):
        # Fields below an absent one are absent too, which `exists: false` asks for.
        below = value if isinstance(value, list) else [value]
        return any(matches(wanted, item) for item in below)
    return any(_accepts(alternative, value) for alternative in wanted)


def _accepts(alternative: Json, value: Json) -> bool:
    if isinstance(alternative, dict) and "exists" in alternative:
        return bool(alternative["exists"]) == (value is not _ABSENT)
    return any(_leaf_accepts(alternative, leaf) for leaf in _leaves(value))


def _leaves(value: Json) -> Iterator[Json]:
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif value is not _ABSENT and not isinstance(value, dict):
        yield value


def _leaf_accepts(alternative: Json, leaf: Json) -> bool:
    if not isinstance(alternative, dict):
        # JSON's true is not its 1, though Python's is.
        return (type(alternative) is type(leaf) and alternative == leaf) or _same_number(alternative, leaf)
    ((name, argument),) = alternative.items()
    if name not in _OPERATORS:
        raise UnknownOperatorError(
            f"event pattern: unknown comparison {name!r}; known are {', '.join(sorted(_OPERATORS))}"
        )
    return _OPERATORS[name](argument, leaf)


def _anything_but(argument: Json, leaf: Json) -> bool:
    if isinstance(argument, dict):
        ((name, patterns),) = argument.items()
        listed = patterns if isinstance(patterns, list) else [patterns]
        return not any(_OPERATORS[name](pattern, leaf) for pattern in listed)
    return not any(_leaf_accepts(value, leaf) for value in (argument if isinstance(argument, list) else [argument]))


def _edge(test: Callable[[str, str], bool]) -> Callable[[Json, Json], bool]:
    def accepts(argument: Json, leaf: Json) -> bool:
        if isinstance(argument, dict):
            return isinstance(leaf, str) and test(leaf.lower(), argument["equals-ignore-case"].lower())
        return isinstance(leaf, str) and test(leaf, argument)

    return accepts


def _numeric(argument: Json, leaf: Json) -> bool:
    if not _is_number(leaf):
        return False
    pairs = zip(argument[::2], argument[1::2], strict=True)
    return all(_COMPARISONS[sign](leaf, bound) for sign, bound in pairs)


def _wildcard(argument: Json, leaf: Json) -> bool:
    expression = ".*".join(re.escape(part) for part in argument.split("*"))
    return isinstance(leaf, str) and re.fullmatch(expression, leaf, re.DOTALL) is not None


def _equals_ignore_case(argument: Json, leaf: Json) -> bool:
    return isinstance(leaf, str) and leaf.lower() == argument.lower()


def _cidr(argument: Json, leaf: Json) -> bool:
    try:
        return ipaddress.ip_address(leaf) in ipaddress.ip_network(argument)
    except ValueError:
        return False


def _same_number(one: Json, other: Json) -> bool:
    return _is_number(one) and _is_number(other) and one == other


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_COMPARISONS: dict[str, Callable[[Json, Json], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

_OPERATORS: dict[str, Callable[[Json, Json], bool]] = {
    "prefix": _edge(str.startswith),
    "suffix": _edge(str.endswith),
    "anything-but": _anything_but,
    "numeric": _numeric,
    "wildcard": _wildcard,
    "equals-ignore-case": _equals_ignore_case,
    "cidr": _cidr,
}
