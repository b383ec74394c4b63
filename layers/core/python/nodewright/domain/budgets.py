"""How many nodes of a pool may be disrupted now (karpenter-behaviour §1.4)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from cronsim import CronSim, CronSimError

from nodewright.domain.claims import ClaimState, NodeClaim, is_leaving
from nodewright.domain.nodes import Node
from nodewright.domain.pools import DisruptionBudget, NodePool

BudgetReason = Literal["Empty", "Expired", "Drifted", "Underutilized"]
"""What a budget may name. None can name Expired, so of expiry only budgets for all reasons count."""

UNLIMITED: Final = 2**31
"""Where no budget is active; more nodes than a cluster has."""

_MACROS: Final[Mapping[str, str]] = {
    "@annually": "0 0 1 1 *",
    "@yearly": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


@dataclass(frozen=True, slots=True)
class Census:
    """The nodes of one pool, as its budgets count them."""

    total: int = 0
    """Initialized, and their instance not being ended."""
    disrupting: int = 0
    """Of those: not Ready, or leaving, whoever wanted it."""


def census(claims: Iterable[NodeClaim], nodes: Iterable[Node], now: datetime) -> Mapping[str, Census]:
    """By pool. A claim whose node isn't there counts as not Ready."""
    by_name = {node.name: node for node in nodes}
    total: Counter[str] = Counter()
    disrupting: Counter[str] = Counter()
    for claim in claims:
        if claim.state is not ClaimState.INITIALIZED or _is_ending(claim):
            continue
        node = by_name.get(claim.node_name)
        total[claim.pool] += 1
        disrupting[claim.pool] += node is None or not node.ready or node.terminating or is_leaving(claim, now)
    return {pool: Census(total[pool], disrupting[pool]) for pool in total}


def allowed(pool: NodePool, reason: BudgetReason, counted: Census, now: datetime) -> int:
    """How many more nodes of the pool may be disrupted for this reason: the tightest active budget decides."""
    limits = [_limit(budget, counted.total, now) for budget in pool.budgets if _applies(budget, reason)]
    limit = min((limit for limit in limits if limit is not None), default=UNLIMITED)
    return max(0, limit - counted.disrupting)


def _is_ending(claim: NodeClaim) -> bool:
    return claim.retirement is not None and not claim.retirement.withdrawable


def _applies(budget: DisruptionBudget, reason: BudgetReason) -> bool:
    return not budget.reasons or reason in budget.reasons


def _limit(budget: DisruptionBudget, total: int, now: datetime) -> int | None:
    """None while its schedule doesn't hold; what can't be read lets nothing be disrupted."""
    try:
        return _nodes(budget.nodes, total) if _is_active(budget, now) else None
    except (ValueError, CronSimError):
        return 0


def _nodes(text: str, total: int) -> int:
    """A number of nodes, or a share of them rounded up. ValueError for anything else."""
    amount = text.removesuffix("%")
    if not (amount.isascii() and amount.isdecimal()):
        raise ValueError(f"{text!r} is neither a number of nodes nor a percentage")
    return -(-int(amount) * total // 100) if text.endswith("%") else int(amount)


def _is_active(budget: DisruptionBudget, now: datetime) -> bool:
    """Whether its schedule, in UTC, last hit less than its duration ago. Without either it always holds."""
    if not budget.schedule and budget.duration is None:
        return True
    if not budget.schedule or budget.duration is None:
        raise ValueError("a schedule and a duration need each other")
    fields = _MACROS.get(budget.schedule, budget.schedule)
    if len(fields.split()) != 5:  # CronSim would take a sixth, for seconds
        raise ValueError(f"{budget.schedule!r} is no cron schedule")
    # The first hit after then; of none within CronSim's 50 years (0 0 31 2 *) the fields were refused.
    return next(CronSim(fields, now - budget.duration)) <= now
