"""What may go wrong with one call to the outside, and where."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import NamedTuple

from nodewright.application.errors import RefusedError, UnavailableError, UnreachableError

#: How many further calls of the same name a throttle keeps refusing.
THROTTLED_CALLS = 2


class KilledError(BaseException):
    """The function is no more: nothing of ours runs after it, no `except` of ours hears of it."""


class Kind(StrEnum):
    """Ways to fail."""

    KILLED_BEFORE = "killed-before"
    KILLED = "killed"
    """Right after the call took effect."""
    LOST = "lost"
    """It took effect, but the answer never came."""
    UNAVAILABLE = "unavailable"
    """No effect; the next try may do."""
    THROTTLED = "throttled"
    """No effect, nor have the next tries at once."""
    REFUSED = "refused"
    """No effect: a right is missing, a service confused."""


class Site(NamedTuple):
    """One call: the how manieth of the how manieth run of a function, and what it was."""

    verb: str
    run: int
    call: int
    name: str


class Fault(NamedTuple):
    """At the site of that number this happens."""

    verb: str
    run: int
    call: int
    kind: Kind

    def __repr__(self) -> str:
        return f"Fault({self.verb!r}, {self.run}, {self.call}, Kind.{self.kind.name})"


#: Calls that change nothing: their lost answer is no more than an answer that didn't come.
_READS = ("read", "pending", "claim", "launches", "owner", "epoch", "catalogue", "unavailable", "last_run", "decisions")
_READS_TOO = (
    "cluster",
    "usage",
    "launched",
    "ours",
    "subnets",
    "security_groups",
    "by_",
    "node_",
    "pods_on",
    "attached",
    "workload",
)
_READS_OF_BUDGETS = ("disruption_budgets",)


def is_read(name: str) -> bool:
    """Whether the call `port.method` changes nothing outside."""
    return name.partition(".")[2].startswith((*_READS, *_READS_TOO, *_READS_OF_BUDGETS))


def kinds_at(name: str) -> tuple[Kind, ...]:
    """What can go wrong there and makes a difference."""
    return tuple(kind for kind in Kind if kind is not Kind.KILLED_BEFORE and not (kind is Kind.LOST and is_read(name)))


@dataclass
class Faults:
    """Decides at every call. Given faults happen once; with a chance, more are drawn and written down."""

    given: Sequence[Fault] = ()
    chance: Random | None = None
    probability: float = 0.0
    happened: list[Fault] = field(default_factory=list)
    _throttled: dict[str, int] = field(default_factory=dict)

    def end(self) -> None:
        """Nothing more is drawn, and no throttle goes on."""
        self.probability = 0.0
        self._throttled.clear()

    def around(self, site: Site, effect: Callable[[], object]) -> object:
        """The call, and what goes wrong with it."""
        kind = self._kind(site)
        if kind is Kind.KILLED_BEFORE:
            raise KilledError(f"{site}, before it")
        if kind in {Kind.UNAVAILABLE, Kind.THROTTLED, Kind.REFUSED}:
            if kind is Kind.THROTTLED and site.name == "hints.send":
                return None  # the adapter counts a throttle as sent
            raise _error(kind, site)
        result = effect()
        if kind is Kind.KILLED:
            raise KilledError(f"{site}, after it")
        if kind is Kind.LOST:
            raise _error(kind, site)
        return result

    def _kind(self, site: Site) -> Kind | None:
        if self._throttled.get(site.name, 0):
            self._throttled[site.name] -= 1
            return Kind.UNAVAILABLE
        kind = self._given(site) or self._drawn(site)
        if kind is not None:
            self.happened.append(Fault(site.verb, site.run, site.call, kind))
        if kind is Kind.THROTTLED:
            self._throttled[site.name] = THROTTLED_CALLS
        return kind

    def _given(self, site: Site) -> Kind | None:
        return next((fault.kind for fault in self.given if fault[:3] == site[:3]), None)

    def _drawn(self, site: Site) -> Kind | None:
        if self.chance is None or self.chance.random() >= self.probability:
            return None
        return self.chance.choice(kinds_at(site.name))


def _error(kind: Kind, site: Site) -> Exception:
    if kind is Kind.REFUSED:
        return RefusedError(f"{site.name}: injected refusal")
    # A Kubernetes API server that doesn't answer at all is left alone for a while.
    unanswered = site.name.startswith("cluster.") and kind is not Kind.THROTTLED
    return (UnreachableError if unanswered else UnavailableError)(f"{site.name}: injected, {kind}")
