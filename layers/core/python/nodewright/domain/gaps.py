"""How far a plan may be from the cheapest there is."""

from decimal import ROUND_HALF_UP, Decimal

from nodewright.domain.plans import Plan


def gap(plan: Plan) -> Decimal | None:
    """Percent of the cost that a cheaper plan could save at most, to a tenth; None where nothing is proven."""
    if plan.bound is None:
        return None
    share = Decimal(max(0, plan.cost - plan.bound)) / max(plan.cost, 1)
    return (share * 100).quantize(Decimal("0.1"), ROUND_HALF_UP)
