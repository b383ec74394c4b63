"""What was decided and why, kept in the table and told on the pods (architecture §4, decision)."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from nodewright.application.errors import OutsideError
from nodewright.application.launching import Outcome
from nodewright.application.ports import Cluster, DecisionRecord, Ledger, ManifestWarning, Observer
from nodewright.domain.claims import NodeClaim
from nodewright.domain.gaps import gap
from nodewright.domain.money import show_usd
from nodewright.domain.plans import Foresight, Launch, Plan, Relaxed, Unschedulable
from nodewright.domain.scheduling.type_choices import TypeChoices
from nodewright.domain.scheduling.type_words import told_of
from nodewright.domain.snapshot import Snapshot

#: Pods told by an event in one run, and of those that share a reason: thousands needn't each hear it.
EVENTS_PER_RUN = 50
EVENTS_PER_REASON = 10
#: Pod names in one decision; the table's items have a size.
PODS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Decided:
    """One run's plan and what became of it."""

    plan: Plan
    snapshot: Snapshot
    outcomes: Sequence[Outcome]
    warnings: Sequence[ManifestWarning]


def record(decided: Decided, cluster: str, ledger: Ledger, kubernetes: Cluster, observer: Observer) -> None:
    """Store the decision and tell the pods, only when it differs from the last one or buys something.

    Best effort: a plan that was carried out must not fail because its story couldn't be written.
    """
    details = _details(decided)
    digest = hashlib.sha256(msgspec.json.encode(details, order="sorted")).hexdigest()[:16]
    try:
        if not _worth_telling(decided) or (not decided.plan.launches and _is_last(digest, cluster, ledger)):
            return
        ledger.record_decision(
            cluster, DecisionRecord(digest, decided.snapshot.now, "provision", summary(decided.plan), details)
        )
        _tell_pods(decided, kubernetes)
    except OutsideError as error:
        observer.problem(cluster, "decision", str(error))


def _is_last(digest: str, cluster: str, ledger: Ledger) -> bool:
    return any(decision.id == digest for decision in ledger.decisions(cluster, 1))


def summary(plan: Plan) -> str:
    """One line for people."""
    nominated = sum(len(n.pods) for n in plan.nominations)
    parts = (
        [f"{_bought_for(plan)} → {_nodes(plan)} at {show_usd(plan.cost)} USD/h{_proven(plan)}"] if plan.launches else []
    )
    parts += [f"{nominated} pods to nodes that are there"] if nominated else []
    parts += [f"{len(plan.unschedulable)} pods wait"] if plan.unschedulable else []
    return "; ".join(parts) or "nothing to do"


def _bought_for(plan: Plan) -> str:
    """`200 pods, 800 expected, 4 of headroom`; pods that aren't there only where some are bought for."""
    placed = sum(len(pods) for launch in plan.launches for pods in launch.nodes)
    foreseen = ((plan.expected.bought, "expected"), (plan.headroom.bought, "of headroom"))
    told = [f"{number} {what}" for number, what in foreseen if number]
    return ", ".join([f"{placed} pods", *told] if placed or not told else told)


def _proven(plan: Plan) -> str:
    return "" if plan.bound is None else f" (at least {show_usd(plan.bound)}: gap {gap(plan)} %)"


def _nodes(plan: Plan) -> str:
    counts: Counter[str] = Counter()
    for launch in plan.launches:
        counts[f"{launch.offerings[0].instance_type} {launch.capacity_type}"] += len(launch.nodes)
    return ", ".join(f"{count} × {name}" for name, count in counts.items())


def _worth_telling(decided: Decided) -> bool:
    plan = decided.plan
    short = plan.expected.left or plan.headroom.left
    return bool(plan.launches or plan.nominations or plan.unschedulable or decided.warnings or short)


def _details(decided: Decided) -> dict[str, object]:
    plan, choices = decided.plan, TypeChoices(decided.snapshot, decided.plan)
    return {
        "launches": [_launch(launch, choices) for launch in plan.launches],
        "nominations": [{"node": n.node, "pods": _names(n.pods)} for n in plan.nominations],
        "unschedulable": _reasons(plan.unschedulable),
        "preferences": [_relaxed(each) for each in plan.relaxed],
        "errors": sorted({f"{e.code}: {e.message}" for o in decided.outcomes for e in o.errors}),
        "refused": sorted({o.refused for o in decided.outcomes if o.refused}),
        "warnings": sorted(f"{w.object} {w.path}: {w.message}" for w in decided.warnings),
        "cost": show_usd(plan.cost),
        "bound": None if plan.bound is None else show_usd(plan.bound),
        "gapPercent": None if plan.bound is None else str(gap(plan)),
        "truncated": plan.truncated,
        **_bought([claim for outcome in decided.outcomes for claim in outcome.nodes]),
        **{name: _foresight(each) for name, each in (("expected", plan.expected), ("headroom", plan.headroom)) if each},
    }


def _foresight(each: Foresight) -> dict[str, object]:
    """Pods that aren't there, in numbers: nobody could be told of one."""
    return {
        "pods": len(each),
        "onNodes": [{"node": n.node, "pods": len(n.pods)} for n in each.nominations],
        "bought": each.bought,
        "cost": show_usd(each.cost),
        "unschedulable": _reasons(each.left),
    }


def _bought(nodes: Sequence[NodeClaim]) -> dict[str, object]:
    """What EC2 chose from the launches' lists, and its price; nothing where nothing came."""
    came = Counter((node.pool, node.instance_type, node.zone, node.capacity_type, node.price) for node in nodes)
    told = [
        {"pool": p, "instanceType": t, "zone": z, "capacityType": c, "price": show_usd(price), "nodes": many}
        for (p, t, z, c, price), many in sorted(came.items())
    ]
    return {"bought": told, "boughtCost": show_usd(sum(node.price for node in nodes))} if told else {}


def _launch(launch: Launch, choices: TypeChoices) -> dict[str, object]:
    return {
        "pool": launch.pool,
        "capacityType": launch.capacity_type,
        "price": show_usd(launch.price),
        "instanceTypes": list(launch.instance_types),
        "zones": list(launch.zones),
        "nodes": len(launch.nodes),
        "pods": _names([pod for pods in launch.nodes for pod in pods]),
        **({"expected": _names([pod for pods in launch.expected for pod in pods])} if launch.expected else {}),
        **({"headroom": _names([pod for pods in launch.headroom for pod in pods])} if launch.headroom else {}),
        "why": list(told_of(launch, choices.of(launch))),
    }


def _relaxed(each: Relaxed) -> dict[str, object]:
    return {"preference": each.preference, "pods": each.pods, "example": str(each.example), "reason": each.reason}


def _names(pods: Sequence[object]) -> list[str]:
    shown = [str(p) for p in pods[:PODS_SHOWN]]
    return shown + ([f"… and {len(pods) - PODS_SHOWN} more"] if len(pods) > PODS_SHOWN else [])


def _reasons(unschedulable: Sequence[Unschedulable]) -> list[dict[str, object]]:
    return [
        {"reason": reason, "message": message, "pods": _names([entry.pod for entry in entries])}
        for (reason, message), entries in _by_reason(unschedulable)
    ]


def _by_reason(unschedulable: Sequence[Unschedulable]) -> list[tuple[tuple[str, str], list[Unschedulable]]]:
    """Grouped by what is said: pods of one shape share a reason."""
    groups: dict[tuple[str, str], list[Unschedulable]] = {}
    for entry in unschedulable:
        groups.setdefault((entry.reason, entry.message), []).append(entry)
    return sorted(groups.items())


def _tell_pods(decided: Decided, kubernetes: Cluster) -> None:
    uids = {pod.key: pod.uid for pod in decided.snapshot.pods}
    groups = _by_reason(decided.plan.unschedulable)
    told = [entry for _, entries in groups for entry in entries[:EVENTS_PER_REASON]]
    for entry in told[:EVENTS_PER_RUN]:
        kubernetes.record_event(
            entry.pod, uids[entry.pod], "FailedScheduling", f"{entry.reason}: {entry.message}", decided.snapshot.now
        )
