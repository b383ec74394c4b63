"""Ports that a pod takes of its node (cases.md 12)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

_ANY: Final = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - compared with, not listened on


@dataclass(frozen=True, slots=True, order=True)
class HostPort:
    """One (address, port, protocol); an address that isn't said is all of them."""

    port: int
    protocol: str = "TCP"
    address: str = ""

    def conflicts(self, other: "HostPort") -> bool:
        """Whether two pods can't have both on one node."""
        if (self.port, self.protocol) != (other.port, other.protocol):
            return False
        return self.address == other.address or bool({self.address, other.address} & _ANY)

    def __str__(self) -> str:
        return f"{self.port}/{self.protocol}" + ("" if self.address in _ANY else f" on {self.address}")


def conflicts(wanted: Iterable[HostPort], taken: Iterable[HostPort]) -> Iterator[tuple[HostPort, HostPort]]:
    """Pairs (wanted, taken) that can't be together."""
    others = tuple(taken)
    return ((mine, its) for mine in wanted for its in others if mine.conflicts(its))
