"""disrupt, ready to run."""

from nodewright.application.disrupt import Disrupt
from nodewright.wiring.hinted import HintedFunction
from nodewright.wiring.nodes import buying
from nodewright.wiring.retire import retire_queue
from nodewright.wiring.state import base


def disrupt_function() -> HintedFunction[Disrupt]:
    """Made at cold start."""
    parts = base("disrupt")
    bought = buying(parts)
    use = Disrupt(
        parts.ledger,
        bought.clusters,
        bought.market,
        bought.launcher,
        retire_queue(parts),
        parts.observer,
        parts.clock,
        parts.settings.stack_id,
    )
    return HintedFunction(use, parts, "disrupt")
