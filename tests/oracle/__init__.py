"""A slow, obvious judge of plans, written from Kubernetes' rules and not from the solver.

It shares the domain's values with the solver and no code besides.
"""

from tests.oracle.checking import check
from tests.oracle.crowding import crowded
from tests.oracle.placing import could_place, placeable

__all__ = ["check", "could_place", "crowded", "placeable"]
