"""Emptying a node: who is asked to leave now, who waits, and who is made to leave (karpenter-behaviour §8.9)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from nodewright.domain.pod_disruption_budgets import PodDisruptionBudget, blocking
from nodewright.domain.pods import DO_NOT_DISRUPT, Pod
from nodewright.domain.retirement import DISRUPTED
from nodewright.domain.taints import tolerates

#: A pod still there so long after its grace is waited for no more: kubelet or its node is gone.
STUCK_AFTER: Final = timedelta(minutes=1)

_MIRROR: Final = "kubernetes.io/config.mirror"


class Forced(NamedTuple):
    """A pod that is deleted whatever a budget or its annotation says."""

    pod: Pod
    grace_seconds: int


@dataclass(frozen=True, slots=True)
class Drain:
    """What is to be done about the pods of one node now."""

    remaining: tuple[Pod, ...]
    """Everybody the node waits for."""
    evict: tuple[Pod, ...]
    """The first wave that isn't through, without those who are leaving or may not be asked."""
    force: tuple[Forced, ...]
    held: tuple[Pod, ...]
    """Not asked, for they carry karpenter.sh/do-not-disrupt."""
    next_force: datetime | None
    """When the next of them is made to leave."""


def drain(pods: Iterable[Pod], now: datetime, deadline: datetime | None, *, urgent: bool = False) -> Drain:
    """Evictions, wave by wave: others before daemons, critical ones last; each waits until the one before is gone.

    With a deadline a pod is deleted at deadline less its own grace, so that it is through by then.
    """
    remaining = tuple(sorted((pod for pod in pods if must_leave(pod, now)), key=lambda pod: (_wave(pod), pod.key)))
    force = tuple(_forced(pod, now, deadline) for pod in remaining if deadline and _is_due(pod, now, deadline))
    made_to_leave = {forced.pod.key for forced in force}
    staying = [pod for pod in remaining if not pod.terminating and pod.key not in made_to_leave]
    held = tuple(pod for pod in staying if not urgent and pod.forbids_disruption(now))
    first = [pod for pod in staying if _wave(pod) == _wave(remaining[0])]
    return Drain(
        remaining=remaining,
        evict=tuple(pod for pod in first if pod not in held),
        force=force,
        held=held,
        next_force=min((deadline - _grace(pod) for pod in staying), default=None) if deadline else None,
    )


def must_leave(pod: Pod, now: datetime) -> bool:
    """Whether the node waits for it: neither finished, bound to it for ever, at home on it, nor stuck."""
    if pod.is_terminal or is_mirror(pod) or tolerates(pod.tolerations, DISRUPTED):
        return False
    return pod.deletion is None or now <= pod.deletion + STUCK_AFTER


def is_mirror(pod: Pod) -> bool:
    """A static pod of kubelet's own: the API has only its image."""
    return _MIRROR in pod.annotations or (pod.owner is not None and pod.owner.kind == "Node")


def objections(pods: Iterable[Pod], budgets: Iterable[PodDisruptionBudget], now: datetime) -> tuple[str, ...]:
    """Why the node can't be emptied now, each naming its pod (karpenter-behaviour §8.2, pod blocks)."""
    known = tuple(budgets)
    reasons = (_objection(pod, known, now) for pod in pods if not pod.is_terminal)
    return tuple(reason for reason in reasons if reason)


def longest_grace(pods: Iterable[Pod], now: datetime) -> timedelta:
    """Of those that must leave; nothing for an empty node."""
    return max((_grace(pod) for pod in pods if must_leave(pod, now)), default=timedelta())


def _objection(pod: Pod, budgets: tuple[PodDisruptionBudget, ...], now: datetime) -> str:
    """Even a daemon's or a mirror pod may forbid it; budgets hold only who would be evicted."""
    if pod.forbids_disruption(now):
        return f"{pod.key} forbids it by annotation {DO_NOT_DISRUPT}"
    return blocking(pod, budgets) if must_leave(pod, now) and not pod.terminating else ""


def _wave(pod: Pod) -> tuple[bool, bool]:
    return pod.critical, pod.is_daemon


def _grace(pod: Pod) -> timedelta:
    return timedelta(seconds=pod.termination_grace_seconds)


def _is_due(pod: Pod, now: datetime, deadline: datetime) -> bool:
    """One that is leaving is hurried only when it would take too long."""
    if pod.terminating:
        return pod.deletion is not None and pod.deletion > deadline
    return now >= deadline - _grace(pod)


def _forced(pod: Pod, now: datetime, deadline: datetime) -> Forced:
    left = int((deadline - now).total_seconds())
    return Forced(pod, max(1, min(pod.termination_grace_seconds, left)))
