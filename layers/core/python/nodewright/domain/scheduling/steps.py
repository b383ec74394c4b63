"""Where one more pod may go in a tier: what it needs of a node, and a node that does."""

from dataclasses import dataclass

from nodewright.domain.scheduling.arrays import Bools, Ints


@dataclass(frozen=True, slots=True)
class Step:
    """Somewhere to put a pod: a node (None: a new one) and the offering it then counts as."""

    price: int
    """By how much the plan gets dearer."""
    crowd: int
    row: int
    node: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Need:
    """What one more pod needs of a node of this tier."""

    mask: int
    """Of offerings; index into the tier's."""
    wanted: Ints
    """One vector, or one for each node."""
    whole: Ints
    """What it needs of a new node."""
    group: Ints
    """What a new node must be able to grow to."""
    localities: Bools
    opening: Bools
    """Localities where a node may be opened."""
    crowds: Ints
    nodes: Ints
    """How many there are in each locality."""
    rows: Bools | None = None
    """Offerings that a new node must be one of, where that matters."""
