"""What node claims count towards limits (architecture §4, rule 1)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from nodewright.domain.claims import NodeClaim
from nodewright.domain.limits import NODES, PRICE, Limits
from nodewright.domain.quantities import Resources

WHOLE_CLUSTER: Final = "*"
"""Usage and limits are kept per pool, and for the whole cluster under this name."""
NO_LIMITS: Final[Mapping[str, Limits]] = {}


def node_usage(capacity: Resources, price: int) -> Resources:
    """What one node of this capacity and price counts: its capacity (not allocatable), itself and its price."""
    return capacity + Resources({NODES: 1, PRICE: price})


def counted(claim: NodeClaim) -> Resources:
    """What a claim counts; of one that an older release wrote, what it would have counted."""
    return claim.counts or node_usage(claim.capacity, claim.price)


def settled(claim: NodeClaim, reserved: Resources, price: int | None) -> NodeClaim:
    """A claim whose node came counts what came, at this price; None: it isn't known.

    Never more than was reserved for it: a limit that held when the node was decided on isn't passed
    because a spot price rose on the way.
    """
    came = node_usage(claim.capacity, reserved.get(PRICE) if price is None else price)
    return replace(claim, counts=Resources({name: min(came.get(name), reserved.get(name)) for name in came}))


def usage_of(claims: Iterable[NodeClaim]) -> Mapping[str, Resources]:
    """Pool, and `*` for all together → what these claims count; nothing for a pool without claims."""
    return added({claim.pool: counted(claim)} for claim in claims)


def added(each: Iterable[Mapping[str, Resources]]) -> Mapping[str, Resources]:
    """Sums by pool, and of all pools under `*`; those that come to nothing are left out."""
    sums: defaultdict[str, Resources] = defaultdict(Resources)
    for pool, amounts in (item for mapping in each for item in mapping.items()):
        sums[pool] += amounts
        sums[WHOLE_CLUSTER] += amounts
    return {pool: amounts for pool, amounts in sorted(sums.items()) if amounts}
