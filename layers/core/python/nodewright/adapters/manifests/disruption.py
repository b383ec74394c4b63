"""`spec.disruption` of a NodePool: when nodes may go although nothing is wrong with them.

What can't be read never refuses the pool, whose pods need nodes: it is read as what disrupts least.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from cronsim import CronSim, CronSimError

from nodewright.adapters.manifests.durations import parse_duration, read_duration
from nodewright.adapters.manifests.fields import Fields
from nodewright.domain.pools import ConsolidationPolicy, DisruptionBudget

DEFAULT_EXPIRY: Final = timedelta(hours=720)

_POLICIES: Final[dict[str, ConsolidationPolicy]] = {
    "WhenEmpty": "WhenEmpty",
    "WhenEmptyOrUnderutilized": "WhenEmptyOrUnderutilized",
    # v1beta1's name of it.
    "WhenUnderutilized": "WhenEmptyOrUnderutilized",
    "Balanced": "WhenEmptyOrUnderutilized",
}
_REASONS: Final = ("Underutilized", "Empty", "Drifted")
_MACROS: Final = frozenset({"@annually", "@yearly", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})
_NODES: Final = re.compile(r"(?:100|[0-9]{1,2})%|[0-9]+")
_DURATION: Final = re.compile(r"(?:[0-9]{1,9}[hm])+(?:0s)?")
_ANY_DAY: Final = datetime(2026, 1, 1, tzinfo=UTC)
_CLOSED: Final = "until this is fixed no node of the pool is disrupted for any reason a budget covers"


@dataclass(frozen=True, slots=True)
class Disruption:
    """The section as the domain has it (karpenter-behaviour §1.4, §3.1)."""

    consolidation_policy: ConsolidationPolicy
    consolidate_after: timedelta | None
    budgets: tuple[DisruptionBudget, ...]
    expire_after: timedelta | None
    """v1beta1's place of it, so the default of v1's."""


def read_disruption(spec: Fields) -> Disruption:
    """Warnings name what is wrong and what holds instead."""
    section = spec.child("disruption")
    return Disruption(
        consolidation_policy=_policy(section),
        consolidate_after=_consolidate_after(section),
        budgets=_budgets(section),
        expire_after=read_duration(section, "expireAfter", DEFAULT_EXPIRY),
    )


def _policy(section: Fields) -> ConsolidationPolicy:
    text = section.text("consolidationPolicy", "WhenEmptyOrUnderutilized")
    if text not in _POLICIES:
        known = ", ".join(sorted(_POLICIES))
        section.warn("consolidationPolicy", f"{text!r} is not known, so only empty nodes go; use {known}")
        return "WhenEmpty"
    if text == "Balanced":
        section.warn("consolidationPolicy", "Balanced is not told apart in this version from WhenEmptyOrUnderutilized")
    return _POLICIES[text]


def _consolidate_after(section: Fields) -> timedelta | None:
    if "consolidateAfter" not in section:
        return timedelta(0)
    try:
        return parse_duration(section.text("consolidateAfter"))
    except ValueError as error:
        section.warn("consolidateAfter", f"{error}; until then no node is consolidated, empty or not")
        return None


def _budgets(section: Fields) -> tuple[DisruptionBudget, ...]:
    """Karpenter's own where the field is absent; a list that is empty is no bound."""
    if "budgets" not in section:
        return (DisruptionBudget(),)
    return tuple(_budget(entry) for entry in section.children("budgets"))


def _budget(entry: Fields) -> DisruptionBudget:
    """A budget that can't be read lets nothing be disrupted, as in Karpenter."""
    nodes, schedule, duration = entry.text("nodes", "10%"), entry.text("schedule"), entry.text("duration")
    reasons = _reasons(entry)
    problem = _nodes_problem(nodes) or _schedule_problem(schedule) or _duration_problem(schedule, duration)
    if problem:
        entry.warn(problem[0], f"{problem[1]}; {_CLOSED}")
        return DisruptionBudget("0")
    return DisruptionBudget(nodes, schedule, parse_duration(duration) if duration else None, reasons)


def _reasons(entry: Fields) -> tuple[str, ...]:
    """None named means all, which also is what is safe where one isn't known."""
    reasons = entry.texts("reasons")
    unknown = [reason for reason in reasons if reason not in _REASONS]
    if unknown:
        known = ", ".join(_REASONS)
        entry.warn("reasons", f"{', '.join(unknown)} is no reason, so the budget counts for all; use {known}")
        return ()
    return reasons


def _nodes_problem(text: str) -> tuple[str, str] | None:
    if _NODES.fullmatch(text):
        return None
    return "nodes", f"{text!r} is neither a number of nodes nor a percentage; write it like 3 or 10%"


def _schedule_problem(text: str) -> tuple[str, str] | None:
    if not text or text in _MACROS or _is_cron(text):
        return None
    return "schedule", f"{text!r} is no cron schedule; write five fields, like 0 9 * * 1-5, or @daily"


def _duration_problem(schedule: str, duration: str) -> tuple[str, str] | None:
    if bool(schedule) != bool(duration):
        missing = "duration" if schedule else "schedule"
        return missing, "a schedule and a duration need each other; give both or neither"
    if duration and not _DURATION.fullmatch(duration):
        return "duration", f"{duration!r} is not a duration in hours and minutes; write it like 8h or 1h30m"
    return None


def _is_cron(text: str) -> bool:
    try:
        CronSim(text, _ANY_DAY)
    except CronSimError:
        return False
    return len(text.split()) == 5  # CronSim would take a sixth, for seconds
