"""Nodewright's own settings of a pool: its annotations `nodewright.dev/…` (architecture §6)."""

import difflib
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

from nodewright.adapters.manifests.fields import Report
from nodewright.domain.durations import go_duration
from nodewright.domain.headroom import HEADROOM, parse_headroom
from nodewright.domain.interruption.lead import SCHEDULED_EVENT_LEAD
from nodewright.domain.pods_at_risk import MAX_PODS_AT_RISK, fault
from nodewright.domain.preference_settings import PREFERENCE_BUDGET, PREFERENCES

DOMAIN: Final = "nodewright.dev/"
PRICE_LIMIT: Final = f"{DOMAIN}limit-usd-per-hour"


def read_settings(annotations: Mapping[str, str], report: Report) -> dict[str, str]:
    """Those that can be read. A setting that nobody knows, or a value that it can't have, is a warning."""
    own = {key: value for key, value in annotations.items() if key.startswith(DOMAIN)}
    problems = {key: _problem(key, value) for key, value in own.items()}
    for key, problem in problems.items():
        if problem:
            report.warn(f"metadata.annotations.{key}", problem)
    return {key: value for key, value in own.items() if not problems[key]}


def _problem(key: str, value: str) -> str | None:
    if key in SETTINGS:
        fault = SETTINGS[key](value)
        return f"{fault}; it counts as not set" if fault else None
    near = difflib.get_close_matches(
        key.removeprefix(DOMAIN), sorted(each.removeprefix(DOMAIN) for each in SETTINGS), 1
    )
    fix = f"did you mean {DOMAIN}{near[0]}?" if near else f"there are {', '.join(sorted(SETTINGS))}"
    return f"unknown setting, ignored: {fix}"


def _choice(*values: str) -> Callable[[str], str | None]:
    return lambda text: None if text in values else f"{text!r} is not known; use {' or '.join(values)}"


def _duration(text: str) -> str | None:
    return None if go_duration(text) is not None else f"{text!r} is not a duration; write it like 24h or 90m"


def _percentage(text: str) -> str | None:
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?%", text, re.ASCII):
        return f"{text!r} is not a percentage; write it like 10%"
    return f"{text} is more than everything; use 0% to 100%" if Fraction(text[:-1]) > _WHOLE else None


_WHOLE: Final = 100


def _headroom(text: str) -> str | None:
    try:
        parse_headroom(text)
    except ValueError as error:
        return str(error)
    return None


def _elsewhere(_: str) -> None:
    """Who reads it judges it: a limit that can't be read refuses the pool."""


#: Every setting there is, and what is wrong with a value of it.
SETTINGS: Final[Mapping[str, Callable[[str], str | None]]] = {
    PRICE_LIMIT: _elsewhere,
    SCHEDULED_EVENT_LEAD: _duration,
    HEADROOM: _headroom,
    f"{DOMAIN}assume-arch": _choice("amd64", "any"),
    f"{DOMAIN}min-values-policy": _choice("Strict", "BestEffort"),
    MAX_PODS_AT_RISK: fault,
    PREFERENCE_BUDGET: _percentage,
    PREFERENCES: _choice("respect", "ignore"),
}
