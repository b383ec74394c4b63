"""What a pool says of its pods' preferences (architecture §7)."""

from fractions import Fraction
from typing import Final

from nodewright.domain.pools import NodePool

PREFERENCES: Final = "nodewright.dev/preferences"
"""Setting of a pool: `respect` (the default) or `ignore`."""
PREFERENCE_BUDGET: Final = "nodewright.dev/preference-budget"
"""Setting of a pool: how much of a plan's cost preferences for zones may add, like `10%`."""
DEFAULT_BUDGET: Final = "10%"


def respects_preferences(pool: NodePool) -> bool:
    """Whether preferences count for pods that may come to it."""
    return pool.settings.get(PREFERENCES, "respect") != "ignore"


def preference_budget(pool: NodePool) -> Fraction:
    """As a share of the plan's cost; the settings were read, so it is a percentage."""
    return Fraction(pool.settings.get(PREFERENCE_BUDGET, DEFAULT_BUDGET).removesuffix("%")) / 100
