"""Retirements and what is seen of them, with keyword overrides."""

from dataclasses import replace
from datetime import datetime, timedelta

from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.nodes import Node
from nodewright.domain.pod_disruption_budgets import PodDisruptionBudget
from nodewright.domain.pods import DO_NOT_DISRUPT, Owner, Pod
from nodewright.domain.requirements import Requirements
from nodewright.domain.retirement import DISRUPTED, Reason, Retirement, Step
from nodewright.domain.retirement_turns import View
from tests.builders import NOW, claim, node, pod

#: At eleven the deadline of case 20 ends a node whose drain began at ten.
TEN = NOW.replace(hour=10)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)


def running(name: str = "p", **overrides: object) -> Pod:
    """A pod of node n with a grace of a minute."""
    defaults: dict[str, object] = {
        "node_name": "n",
        "phase": "Running",
        "ready": True,
        "termination_grace_seconds": 60,
        "owner": Owner("ReplicaSet", "app", "uid-app"),
    }
    return pod(name, **{**defaults, **overrides})  # type: ignore[arg-type]


def staying(name: str = "p", value: str = "true", **overrides: object) -> Pod:
    """One that may not be disrupted."""
    return running(name, annotations={DO_NOT_DISRUPT: value}, **overrides)


def leaving(name: str = "p", *, until: datetime, **overrides: object) -> Pod:
    """One that was told to go."""
    return running(name, terminating=True, deletion=until, **overrides)


def daemon(name: str = "d", **overrides: object) -> Pod:
    """Of a DaemonSet that doesn't tolerate our taint."""
    return running(name, owner=Owner("DaemonSet", "agent", "uid-agent"), **overrides)


def budget(allowed: int = 0, namespace: str = "default", **overrides: object) -> PodDisruptionBudget:
    """Over every pod of the namespace."""
    made = PodDisruptionBudget(namespace, "pdb", Requirements(), allowed)
    return replace(made, **overrides)  # type: ignore[arg-type]


def retirement(reason: Reason = "node-deleted", step: Step = Step.DRAIN, **overrides: object) -> Retirement:
    """Begun at ten, its step reached then."""
    made = Retirement(epoch=1, reason=reason, started=TEN, not_before=TEN, next_at=TEN, step=step, step_since=TEN)
    return replace(made, **overrides)  # type: ignore[arg-type]


def retiring(**overrides: object) -> NodeClaim:
    """Initialized, with instance i-n and node n."""
    defaults: dict[str, object] = {"state": ClaimState.INITIALIZED, "instance_id": "i-n", "node_name": "n"}
    return claim(**{**defaults, **overrides})  # type: ignore[arg-type]


def marked(**overrides: object) -> Node:
    """The node, Ready, as it is from the first step on."""
    return node("n", taints=(DISRUPTED,), **overrides)  # type: ignore[arg-type]


def view(of: Retirement, *pods: Pod, **overrides: object) -> View:
    """A Ready, marked node with these pods."""
    defaults: dict[str, object] = {"claim": retiring(), "node": marked()}
    return View(retirement=of, pods=pods, **{**defaults, **overrides})  # type: ignore[arg-type]
