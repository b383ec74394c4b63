"""provision, ready to run."""

from nodewright.application.provision import Provision
from nodewright.wiring.hinted import HintedFunction
from nodewright.wiring.nodes import buying
from nodewright.wiring.state import base


def provision_function() -> HintedFunction[Provision]:
    """Made at cold start."""
    parts = base("provision")
    bought = buying(parts)
    use = Provision(
        parts.ledger,
        bought.clusters,
        bought.market,
        bought.launcher,
        parts.hints,
        parts.observer,
        parts.clock,
        parts.settings.stack_id,
    )
    return HintedFunction(use, parts, "provision")
