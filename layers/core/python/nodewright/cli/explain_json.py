"""Explanations as JSON: keys as in `plan --output json`, rules by their code."""

from collections.abc import Sequence

import msgspec

from nodewright.cli.plan_json import offered
from nodewright.domain.quantities import Resources, format_amount
from nodewright.domain.scheduling.explanations import (
    Fallen,
    NewNodeExplanation,
    NodeExplanation,
    OnNewNode,
    OnNode,
    Outcome,
    PodExplanation,
    PoolExplanation,
    Verdict,
)

Explanation = PodExplanation | NodeExplanation | NewNodeExplanation | PoolExplanation

_ENCODER = msgspec.json.Encoder(decimal_format="number")


def explanation_json(explanation: Explanation) -> str:
    """Indented."""
    return msgspec.json.format(_ENCODER.encode(_document(explanation)), indent=2).decode()


def _document(explanation: Explanation) -> dict[str, object]:
    match explanation:
        case PodExplanation():
            return _pod(explanation)
        case NodeExplanation():
            return _node(explanation)
        case NewNodeExplanation():
            return _new_node(explanation)
        case PoolExplanation():
            return _pool(explanation)


def _pod(told: PodExplanation) -> dict[str, object]:
    return {
        "pod": str(told.pod),
        "requests": _amounts(told.requests),
        "constraints": list(told.constraints),
        "outcome": _outcome(told.outcome),
        "why": list(told.why),
        "nodes": _verdict(told.nodes),
        "pools": [{"pool": each.name, **_verdict(each)} for each in told.pools],
        "advice": list(told.advice),
        "unmetPreferences": list(told.unmet),
        "warnings": list(told.warnings),
    }


def _node(told: NodeExplanation) -> dict[str, object]:
    return {
        "node": told.node,
        "pool": told.pool,
        "labels": dict(told.labels),
        "taints": list(told.taints),
        "takesPods": told.takes_pods,
        "free": _amounts(told.free),
        "running": told.running,
        "nominated": list(map(str, told.nominated)),
        "wouldDo": told.would_do,
        "otherPods": _fallen(told.fallen),
    }


def _new_node(told: NewNodeExplanation) -> dict[str, object]:
    return {
        "node": told.node,
        **offered(told.launch),
        "pods": list(map(str, told.pods)),
        **({"expected": list(map(str, told.expected))} if told.expected else {}),
        **({"headroom": list(map(str, told.headroom))} if told.headroom else {}),
        "requests": _amounts(told.launch.requests),
        "daemonSets": _amounts(told.daemons),
        "allocatable": _amounts(told.allocatable),
        "why": list(told.why),
    }


def _pool(told: PoolExplanation) -> dict[str, object]:
    return {
        "pool": told.pool,
        "weight": told.weight,
        "constraints": list(told.constraints),
        "limits": list(told.limits),
        **_verdict(told.shelf),
        "daemonSets": list(told.daemons),
        "launches": [{"firstNode": name, "nodes": len(each.nodes), **offered(each)} for name, each in told.bought],
        "waitingPods": _fallen(told.waiting),
        "warnings": list(told.warnings),
    }


def _outcome(outcome: Outcome) -> dict[str, object]:
    match outcome:
        case OnNode(node, others):
            return {"node": node, "otherPods": others}
        case OnNewNode(node, launch, others):
            return {"newNode": node, "otherPods": others, **offered(launch)}
        case _:
            return {"reason": outcome.reason, "message": outcome.message}


def _verdict(verdict: Verdict) -> dict[str, object]:
    return {
        "candidates": verdict.candidates,
        "left": verdict.left,
        "fallen": _fallen(verdict.fallen),
        "best": verdict.best,
        "nearest": verdict.nearest,
        "then": verdict.then,
        "advice": verdict.advice,
    }


def _fallen(several: Sequence[Fallen]) -> list[dict[str, object]]:
    return [{"rule": each.rule.value, "count": each.count, "detail": each.detail} for each in several]


def _amounts(resources: Resources) -> dict[str, str]:
    return {name: format_amount(name, amount) for name, amount in resources.items()}
