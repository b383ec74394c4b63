"""Requirements, labels, taints and limits of node pools."""

import re
from collections.abc import Iterable, Mapping
from typing import cast, get_args

from nodewright.adapters.manifests.fields import Fields
from nodewright.domain.labels import AWS_DOMAIN, normalise_key, restricted_reason
from nodewright.domain.limits import NODES, Limits
from nodewright.domain.nodes import CAPACITY_TYPE_LABEL, NODE_POOL_LABEL
from nodewright.domain.quantities import parse_quantity, unknown_resource
from nodewright.domain.requirements import Operator, Requirement, Requirements
from nodewright.domain.taints import Effect, Taint

#: Of labels whose values are a closed set, each with what is to be said of it.
_KNOWN_VALUES: Mapping[str, Mapping[str, str]] = {
    CAPACITY_TYPE_LABEL: {
        "on-demand": "",
        "spot": "",
        "reserved": "capacity reservations are not used, so nothing is bought as reserved",
    },
    f"{AWS_DOMAIN}/instance-tenancy": {
        "default": "",
        "dedicated": "nothing is bought with dedicated tenancy",
    },
}
_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_DOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?")


def read_requirements(fields: Fields, name: str, *, may_name_pool: bool = False) -> tuple[Requirement, ...]:
    """Requirement entries in their order; one that can't be read refuses the object.

    `may_name_pool`: they pick among the nodes of all pools, rather than say what one pool's nodes are.
    """
    read = (_read_requirement(entry, may_name_pool=may_name_pool) for entry in fields.children(name))
    return tuple(requirement for requirement in read if requirement is not None)


def read_labels(fields: Fields, name: str) -> dict[str, str]:
    """Labels for nodes. A label the API server would refuse keeps the node from ever joining."""
    labels = fields.pairs(name)
    for key, value in labels.items():
        problem = _restricted(key) or _label_problem(key, value)
        if problem:
            fields.refuse(f"{name}.{key}", problem)
    return labels


def join_requirements(entries: Iterable[Requirement], labels: Mapping[str, str], at: Fields, name: str) -> Requirements:
    """Entries and labels together; a key for which no value is left is named in a warning."""
    joined = Requirements((*entries, *Requirements.from_labels(labels).values()))
    for requirement in joined.values():
        if requirement.is_empty:
            at.warn(name, f"{requirement.key}: no value meets all requirements, so no node can be bought; loosen one")
    return joined


def read_taints(fields: Fields, name: str) -> tuple[Taint, ...]:
    """Taints; one that can't be read refuses the object."""
    read = (_read_taint(entry) for entry in fields.children(name))
    return tuple(taint for taint in read if taint is not None)


def refuse_repeated_taints(taints: Iterable[Taint], at: Fields) -> None:
    """The API server takes a key with an effect once, so a node with two would never join."""
    seen: set[tuple[str, str]] = set()
    for taint in taints:
        if (taint.key, taint.effect) in seen:
            at.refuse("", f"taint {taint.key}:{taint.effect} stands twice in taints and startupTaints; remove one")
        seen.add((taint.key, taint.effect))


def read_limits(fields: Fields, name: str) -> Limits | None:
    """Amounts by resource; None where the field is absent, which is without a limit."""
    if name not in fields:
        return None
    raw = fields.mapping(name)
    try:
        limits = Limits.parse(raw)
    except ValueError as error:
        fields.refuse(name, str(error))
        return None
    for resource, amount in limits.items():
        if problem := _limit_problem(resource, amount, raw[resource]):
            fields.warn(f"{name}.{resource}", problem)
    return limits


def _limit_problem(resource: str, amount: int, said: object) -> str | None:
    if unknown := unknown_resource(resource, NODES):
        return f"it limits nothing: {unknown}"
    if amount < 0:
        return "it is negative, so nothing is bought; limit it to 0 or more"
    if resource == NODES and parse_quantity(str(said)) != amount:
        return f"{said} counts as {amount}, for the next node would be beyond it; write a whole number"
    return None


def _read_requirement(entry: Fields, *, may_name_pool: bool) -> Requirement | None:
    key, operator, values = entry.text("key"), entry.text("operator"), entry.texts("values")
    least = entry.whole("minValues")
    restricted = restricted_reason(key) if may_name_pool else _restricted(key)
    problem = restricted or (None if _is_key(key) else f"{key!r} is not a label key")
    if problem:
        entry.refuse("key", problem)
        return None
    _warn_of_values(normalise_key(key), values, entry)
    try:
        return Requirement.of(key, cast(Operator, operator), values, least)
    except ValueError as error:
        entry.refuse("", str(error))
        return None


def _warn_of_values(key: str, values: Iterable[str], entry: Fields) -> None:
    """Values by which nothing is bought: those that don't exist, and those that we don't buy."""
    known = _KNOWN_VALUES.get(key, {})
    for value in dict.fromkeys(values):
        if known and value not in known:
            entry.warn("values", f"{value} is not known; there are {', '.join(known)}")
        elif known.get(value):
            entry.warn("values", f"not honoured in this version: {known[value]}")


def _restricted(key: str) -> str | None:
    if normalise_key(key) == NODE_POOL_LABEL:
        return f"{key} is set from the pool's own name; remove it"
    return restricted_reason(key)


def _read_taint(entry: Fields) -> Taint | None:
    key, value, effect = entry.text("key"), entry.text("value"), entry.text("effect")
    entry.known("timeAdded")
    problem = _label_problem(key, value)
    if problem is None and effect not in get_args(Effect):
        problem = f"effect {effect!r} is not known; use {', '.join(get_args(Effect))}"
    if problem:
        entry.refuse("", problem)
        return None
    return Taint(key, value, cast(Effect, effect))


def _label_problem(key: str, value: str) -> str | None:
    if not _is_key(key):
        return f"{key!r} is not a key; write name or domain/name with letters, digits, -, _ and ."
    if value and not _NAME.fullmatch(value):
        return f"{value!r} is not a value; use at most 63 letters, digits, -, _ and ., the ends being letters or digits"
    return None


def _is_key(key: str) -> bool:
    domain, slash, name = key.rpartition("/")
    return bool(_NAME.fullmatch(name)) and (not slash or bool(_DOMAIN.fullmatch(domain)))
