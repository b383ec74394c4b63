"""reconcile, ready to run."""

from nodewright.adapters.threads import several
from nodewright.application.node_deletions import NodeDeletions
from nodewright.application.reconcile import Reconcile
from nodewright.application.registering import Registrar
from nodewright.application.retirement_starts import RetirementStarts
from nodewright.application.upkeep import Upkeep
from nodewright.wiring.hinted import HintedFunction
from nodewright.wiring.nodes import buying
from nodewright.wiring.retire import retire_queue
from nodewright.wiring.state import base


def reconcile_function() -> HintedFunction[Reconcile]:
    """Made at cold start."""
    parts = base("reconcile")
    bought = buying(parts)
    queue = retire_queue(parts)
    starts = RetirementStarts(parts.ledger, parts.hints, queue, parts.clock)
    use = Reconcile(
        parts.ledger,
        bought.clusters,
        bought.market,
        bought.launcher,
        Registrar(parts.ledger, bought.fleet, parts.observer),
        NodeDeletions(starts),
        Upkeep(parts.ledger, bought.fleet, starts, parts.observer),
        queue,
        parts.hints,
        parts.observer,
        parts.clock,
        several,
    )
    return HintedFunction(use, parts, "reconcile")
