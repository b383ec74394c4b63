"""Candidates and situations for the tests of disruption methods."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta

from nodewright.domain.budgets import Census
from nodewright.domain.claims import ClaimState
from nodewright.domain.disruption.method import Candidate, Objection, Relocation, Situation
from nodewright.domain.pods import Pod
from nodewright.domain.pools import DisruptionBudget, NodePool
from tests.builders import NOW, claim, node, pod, pool

HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)
#: Lets everything go at once.
FREE = pool(budgets=())


def budgeted(nodes: str, *reasons: str, name: str = "default", after: timedelta | None = timedelta()) -> NodePool:
    return pool(name, budgets=(DisruptionBudget(nodes, reasons=reasons),), consolidate_after=after)


def candidate(name: str = "n", *pods: Pod, of: NodePool = FREE, **changes: object) -> Candidate:
    """A node, empty for an hour and a day old unless told otherwise."""
    kept = {key: changes.pop(key) for key in ("objections", "expected") if key in changes}
    defaults: dict[str, object] = {
        "state": ClaimState.INITIALIZED,
        "node_name": name,
        "pool": of.name,
        "created": NOW - 24 * HOUR,
        "pods_hash": "none",
        "last_pod_event": NOW - HOUR,
    }
    there = tuple(replace(each, node_name=name) for each in pods)
    return Candidate(claim(name, **{**defaults, **changes}), node(name), of, there, **kept)  # type: ignore[arg-type]


def held(by: str = "held") -> tuple[Objection, ...]:
    return (Objection(pod(by), f"default/{by} forbids it"),)


def situation(
    candidates: Iterable[Candidate],
    relocate: Callable[[Candidate], Relocation] = lambda _: Relocation(),
    pools: Mapping[str, Census] | None = None,
) -> Situation:
    """Ten nodes of the default pool, none of them leaving, unless told otherwise."""
    return Situation(NOW, tuple(candidates), relocate, {"default": Census(10, 0), **(pools or {})})
