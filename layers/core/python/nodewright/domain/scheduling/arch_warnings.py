"""What one should know where a pod says nothing about architectures (cases.md 31)."""

from collections.abc import Iterator

import numpy as np

from nodewright.domain.money import show_usd
from nodewright.domain.nodes import ARCH_LABEL
from nodewright.domain.pods import Pod
from nodewright.domain.scheduling import flexibility
from nodewright.domain.scheduling.arrays import Bools
from nodewright.domain.scheduling.offerings import Market
from nodewright.domain.scheduling.shapes import Wish
from nodewright.domain.scheduling.spared import ASSUME_ARCH, minds_architecture
from nodewright.domain.snapshot import Room

_AMD64 = "amd64"


def market_warnings(pod: Pod, market: Market, left: Bools) -> Iterator[str]:
    """`left`: the market's rows that would do for it."""
    other = _elsewhere(market) & left
    if _minds(pod) or not other.any():
        return
    pool = market.pool
    named = ", ".join(sorted(_architectures(market, other)))
    if (left & ~other).any() and pool.settings.get(ASSUME_ARCH, _AMD64) != "any" and not flexibility.wishes(market):
        yield (
            f"it says nothing about architectures, so {_AMD64} (from {_from(market, left & ~other)} USD/h) is preferred"
            f" to {named} (from {_from(market, other)}) in {pool}; if its images are built for both, select"
            f" {ARCH_LABEL} In [{_AMD64}, {named}], or set the pool's annotation {ASSUME_ARCH}: any"
        )
        return
    yield (
        f"it says nothing about architectures and may come to {named} in {pool}; if its images are built for {_AMD64}"
        f" alone, select {ARCH_LABEL}: {_AMD64}"
    )


def room_warnings(pod: Pod, room: Room) -> Iterator[str]:
    """For a pod that goes to a node that is there."""
    arch = room.labels.get(ARCH_LABEL, _AMD64)
    if arch != _AMD64 and not _minds(pod):
        yield (
            f"it says nothing about architectures and goes to {room.name}, which is {arch}; if its images are built"
            f" for {_AMD64} alone, select {ARCH_LABEL}: {_AMD64}"
        )


def _minds(pod: Pod) -> bool:
    return minds_architecture(Wish(pod.alternatives, pod.tolerations))


def _elsewhere(market: Market) -> Bools:
    column = market.columns.column(ARCH_LABEL)
    return np.array([(value or _AMD64) != _AMD64 for value in column.values], dtype=np.bool_)[column.codes]


def _architectures(market: Market, rows: Bools) -> set[str]:
    column = market.columns.column(ARCH_LABEL)
    return {column.values[code] or _AMD64 for code in np.unique(column.codes[rows])}


def _from(market: Market, rows: Bools) -> str:
    return show_usd(int(market.shelf.prices[rows].min()))
