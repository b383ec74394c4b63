"""A cluster's standing for programs: quantities as Kubernetes writes them, prices in USD per hour."""

from collections.abc import Iterable
from datetime import datetime

from nodewright.application.ports import DecisionRecord, UnavailableOffering
from nodewright.application.standing import Standing
from nodewright.domain.claims import NodeClaim
from nodewright.domain.limits import PRICE
from nodewright.domain.money import show_usd
from nodewright.domain.quantities import Resources, format_amount
from nodewright.domain.set_aside import ShapeAside
from nodewright.domain.usage import WHOLE_CLUSTER

#: Of the pseudo-resource that counts money.
USD_PER_HOUR = "usdPerHour"


def status_json(standing: Standing) -> dict[str, object]:
    """Of one cluster."""
    pools = sorted({*standing.usage, *standing.limits} - {WHOLE_CLUSTER})
    return {
        "paused": standing.cluster.paused,
        "unreachableUntil": _moment(standing.cluster.unreachable_until),
        "launchesPerHour": standing.cluster.launches_per_hour,
        **_usage(standing, WHOLE_CLUSTER),
        "pools": [{"name": pool, **_usage(standing, pool)} for pool in pools],
        "limitsUnknown": standing.limits_unknown,
        "claims": [_claim(claim) for claim in standing.claims],
        "setAside": [_aside(shape) for shape in standing.aside],
        "unavailable": [_unavailable(offering) for offering in standing.unavailable],
        "decisions": [_decision(decision) for decision in standing.decisions],
    }


def _usage(standing: Standing, pool: str) -> dict[str, object]:
    """Limits are null where they aren't known, and lack what isn't limited."""
    limits = standing.limits.get(pool)
    return {
        "inUse": _amounts(standing.usage.get(pool, Resources()).items()),
        "limits": None if limits is None else _amounts(limits.items()),
    }


def _amounts(amounts: Iterable[tuple[str, int]]) -> dict[str, str]:
    return {
        USD_PER_HOUR if name == PRICE else name: show_usd(amount) if name == PRICE else format_amount(name, amount)
        for name, amount in amounts
    }


def _claim(claim: NodeClaim) -> dict[str, object]:
    retirement = claim.retirement
    return {
        "id": claim.id,
        "state": claim.state.value,
        "pool": claim.pool,
        "node": claim.node_name,
        "instance": claim.instance_id,
        "instanceType": claim.instance_type,
        "zone": claim.zone,
        "capacityType": claim.capacity_type,
        "price": show_usd(claim.price),
        "retirement": retirement
        and {
            "reason": retirement.reason,
            "step": retirement.step.value,
            "notBefore": _moment(retirement.not_before),
            "deadline": _moment(retirement.deadline),
        },
    }


def _aside(shape: ShapeAside) -> dict[str, object]:
    return {
        "shape": shape.shape,
        "pod": shape.example,
        "failures": shape.failures,
        "nodes": shape.nodes,
        "until": _moment(shape.until),
        "message": shape.message,
    }


def _unavailable(offering: UnavailableOffering) -> dict[str, object]:
    return {
        "instanceType": offering.instance_type,
        "zone": offering.zone,
        "capacityType": offering.capacity_type,
        "until": _moment(offering.until),
        "reason": offering.reason,
    }


def _decision(decision: DecisionRecord) -> dict[str, object]:
    return {
        "time": _moment(decision.time),
        "kind": decision.kind,
        "summary": decision.summary,
        "details": decision.details,
    }


def _moment(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
