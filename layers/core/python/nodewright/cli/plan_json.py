"""A plan as JSON (architecture §11): stable, prices exact."""

from collections.abc import Mapping

import msgspec

from nodewright.application.plan import Planned
from nodewright.domain.gaps import gap
from nodewright.domain.money import to_usd
from nodewright.domain.plans import Foresight, Launch, Nomination, Relaxed, Unschedulable
from nodewright.domain.scheduling.constraint_costs import ConstraintCosts
from nodewright.domain.scheduling.type_choices import TypeChoices
from nodewright.domain.scheduling.type_words import told_of

_ENCODER = msgspec.json.Encoder(decimal_format="number")


def plan_json(planned: Planned, costs: ConstraintCosts | None = None) -> str:
    """Indented, in the order of the plan."""
    return msgspec.json.format(_ENCODER.encode(plan_document(planned, costs)), indent=2).decode()


def plan_document(planned: Planned, costs: ConstraintCosts | None = None) -> dict[str, object]:
    """As plain values; prices are Decimal."""
    plan, choices = planned.plan, TypeChoices(planned.snapshot, planned.plan)
    return {
        "cost": to_usd(plan.cost),
        "bound": None if plan.bound is None else to_usd(plan.bound),
        "gapPercent": gap(plan),
        "currency": "USD/h",
        "launches": [{**_launch(each), "why": list(told_of(each, choices.of(each)))} for each in plan.launches],
        "nominations": [_nomination(each) for each in plan.nominations],
        "unschedulable": [_unschedulable(each) for each in plan.unschedulable],
        "warnings": [{"object": w.object, "path": w.path, "message": w.message} for w in planned.warnings],
        **({"preferences": [_relaxed(each) for each in plan.relaxed]} if plan.relaxed else {}),
        **({"expected": _foresight(plan.expected)} if plan.expected else {}),
        **({"headroom": _foresight(plan.headroom)} if plan.headroom else {}),
        **({} if costs is None else _costs(costs)),
    }


def offered(launch: Launch) -> Mapping[str, object]:
    """What is asked of EC2 for each node of a launch, and one node's price."""
    return {
        "pool": launch.pool,
        "instanceTypes": list(launch.instance_types),
        "zones": list(launch.zones),
        "capacityType": launch.capacity_type,
        "price": to_usd(launch.price),
    }


def _foresight(each: Foresight) -> Mapping[str, object]:
    """Pods that aren't there: only where there is room for some, or should be."""
    return {
        "pods": len(each),
        "bought": each.bought,
        "cost": to_usd(each.cost),
        "nominations": [_nomination(n) for n in each.nominations],
        "unschedulable": [_unschedulable(u) for u in each.left],
    }


def _nomination(each: Nomination) -> Mapping[str, object]:
    return {"node": each.node, "pods": list(map(str, each.pods))}


def _unschedulable(each: Unschedulable) -> Mapping[str, object]:
    return {"pod": str(each.pod), "reason": each.reason, "message": each.message}


def _costs(costs: ConstraintCosts) -> Mapping[str, object]:
    """Only where they were asked for."""
    told = [
        {
            "subject": each.subject,
            "constraint": each.rule,
            "pods": each.pods,
            "cost": to_usd(each.cost),
            "unschedulable": each.waiting,
        }
        for each in costs.costs
    ]
    return {"constraintCosts": told, "constraintsSkipped": costs.skipped}


def _relaxed(each: Relaxed) -> Mapping[str, object]:
    return {"preference": each.preference, "pods": each.pods, "example": str(each.example), "reason": each.reason}


def _launch(launch: Launch) -> Mapping[str, object]:
    return {
        **offered(launch),
        "nodes": [list(map(str, pods)) for pods in launch.nodes],
        **({"expected": [list(map(str, pods)) for pods in launch.expected]} if launch.expected else {}),
        **({"headroom": [list(map(str, pods)) for pods in launch.headroom]} if launch.headroom else {}),
    }
