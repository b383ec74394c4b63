"""How a fleet is spread over what it may launch: by strategy, price and what can be had. No calls, no chance."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from sandbox.aws.capacity import Offering
from sandbox.aws.protocol import AwsError


@dataclass(frozen=True, slots=True)
class Candidate:
    """One override of the request: an offering with its price (USD per hour), priority and weight."""

    index: int
    offering: Offering
    price: Decimal
    priority: float
    weight: int
    max_price: Decimal | None = None


# Says why there's no more of a candidate, or takes one and says nothing.
Take = Callable[[Candidate], AwsError | None]


@dataclass(slots=True)
class Allocation:
    """What came of it: how many of which candidate, and which refused and why."""

    counts: dict[int, int] = field(default_factory=dict)
    refusals: dict[int, AwsError] = field(default_factory=dict)
    fulfilled: int = 0
    cost: Decimal = Decimal(0)


def allocate(
    candidates: Sequence[Candidate], amount: int, strategy: str, take: Take, max_total_price: Decimal | None = None
) -> Allocation:
    """Fill `amount` units of weight, in the strategy's order, round-robin over candidates that rank equal.

    The spot strategies about capacity come down to price here: the sandbox's capacity is all the same until it is gone.
    """
    result = Allocation()
    for group in _ranked(candidates, strategy):
        _fill(group, amount, take, max_total_price, result)
        if result.fulfilled >= amount:
            break
    return result


def _fill(group: list[Candidate], amount: int, take: Take, max_total_price: Decimal | None, result: Allocation) -> None:
    waiting = list(group)
    while waiting and result.fulfilled < amount:
        candidate = waiting.pop(0)
        refusal = _refusal(candidate, result.cost, max_total_price) or take(candidate)
        if refusal is not None:
            result.refusals[candidate.index] = refusal
            continue
        result.counts[candidate.index] = result.counts.get(candidate.index, 0) + 1
        result.fulfilled += candidate.weight
        result.cost += candidate.price
        waiting.append(candidate)


def _ranked(candidates: Sequence[Candidate], strategy: str) -> list[list[Candidate]]:
    """Groups of equal rank, best first; inside a group by type and zone."""
    groups: dict[tuple[float, Decimal], list[Candidate]] = {}
    for candidate in sorted(candidates, key=_by_name):
        groups.setdefault(_rank(candidate, strategy), []).append(candidate)
    return [groups[rank] for rank in sorted(groups)]


def _rank(candidate: Candidate, strategy: str) -> tuple[float, Decimal]:
    if strategy == "diversified":
        return (0, Decimal(0))
    priority = candidate.priority if strategy.endswith("prioritized") else 0.0
    return (priority, candidate.price / candidate.weight)


def _by_name(candidate: Candidate) -> tuple[str, str, int]:
    return (candidate.offering.instance_type, candidate.offering.zone, candidate.index)


def _refusal(candidate: Candidate, spent: Decimal, max_total_price: Decimal | None) -> AwsError | None:
    if candidate.max_price is not None and candidate.price > candidate.max_price:
        message = (
            f"Your Spot request price of {candidate.max_price} is lower than the minimum required Spot request "
            f"fulfillment price of {candidate.price}."
        )
        return AwsError("SpotMaxPriceTooLow", message)
    if max_total_price is not None and spent + candidate.price > max_total_price:
        return AwsError("UnfulfillableCapacity", "The fleet's MaxTotalPrice has been reached.")
    return None
