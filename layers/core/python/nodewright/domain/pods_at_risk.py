"""How many pods of one owner a pool puts on one node: what is lost at most when that node is."""

import re
from fractions import Fraction
from typing import Final

from nodewright.domain.pools import NodePool

MAX_PODS_AT_RISK: Final = "nodewright.dev/max-pods-at-risk"
"""Setting of a pool: a number of pods, or a share of all the owner has, like `25%`."""

_SHARE: Final = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)%", re.ASCII)
_COUNT: Final = re.compile(r"[0-9]{1,9}", re.ASCII)
_WHOLE: Final = 100


def fault(text: str) -> str | None:
    """What is wrong with a value of the setting."""
    share = _SHARE.fullmatch(text)
    if share is None and not _COUNT.fullmatch(text):
        return f"{text!r} is neither a number of pods nor a share of them; write it like 3 or 25%"
    if Fraction(text.removesuffix("%")) == 0:
        return f"{text} would keep every pod off the pool; use 1 or 1% at least"
    if share is not None and Fraction(share[1]) > _WHOLE:
        return f"{text} is more than everything; use 1% to 100%"
    return None


def most_on_a_node(pool: NodePool, replicas: int) -> int | None:
    """Pods of an owner with so many of them that one node of the pool may have; one at least. None: any number."""
    text = pool.settings.get(MAX_PODS_AT_RISK)
    if text is None:
        return None
    share = _SHARE.fullmatch(text)
    return max(1, int(Fraction(share[1]) * replicas / _WHOLE)) if share else int(text)
