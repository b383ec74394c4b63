"""What a disruption method is: it looks at a situation and proposes commands; it carries nothing out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol

from nodewright.domain.budgets import BudgetReason, Census, allowed
from nodewright.domain.claims import NodeClaim
from nodewright.domain.nodes import Node
from nodewright.domain.plans import Launch, Unschedulable
from nodewright.domain.pods import Pod
from nodewright.domain.pools import NodePool
from nodewright.domain.retirement import Reason


class Objection(NamedTuple):
    """A pod that would not leave, by its annotation or a budget that covers it."""

    pod: Pod
    why: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node that may be disrupted at all (karpenter-behaviour §8.2), with what a method judges it by."""

    claim: NodeClaim
    node: Node
    pool: NodePool
    pods: tuple[Pod, ...]
    """On the node, finished ones left out."""
    objections: tuple[Objection, ...] = ()
    """Why its pods can't be asked to leave now."""
    expected: str = ""
    """Which pod is still to come here; without its node another would be bought for it (cases.md 33)."""


@dataclass(frozen=True, slots=True)
class Relocation:
    """Where the occupants of nodes that go would be."""

    launches: tuple[Launch, ...] = ()
    """To be bought first; only nodes that take at least one of them."""
    awaited: tuple[str, ...] = ()
    """Claims already on their way that take some."""
    homeless: tuple[Unschedulable, ...] = ()
    """Those for whom there is no place."""


@dataclass(frozen=True, slots=True)
class Command:
    """Nodes to retire together, and what must be ready before they drain."""

    reason: Reason
    candidates: tuple[Candidate, ...]
    relocation: Relocation = Relocation()
    deadline: datetime | None = None
    """When their instances are ended whatever still runs; None: only what leaves of its own accord is waited for."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """A node that was due, and why it stays."""

    candidate: Candidate
    why: str
    by: Pod | None = None
    """The pod that keeps it, where it is one."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a method came to. One command at a time: after it the cluster is another."""

    command: Command | None = None
    blocked: tuple[Blocked, ...] = ()


@dataclass(frozen=True, slots=True)
class Situation:
    """What a method looks at, taken at one moment."""

    now: datetime
    candidates: tuple[Candidate, ...]
    relocate: Callable[[Candidate], Relocation]
    """Plans its occupants onto the other nodes and new ones. Dear, so asked only of one that is about to go."""
    pools: Mapping[str, Census] = field(default_factory=dict)

    def allowed(self, pool: NodePool, reason: BudgetReason) -> int:
        """How many more nodes of the pool its budgets let go."""
        return allowed(pool, reason, self.pools.get(pool.name, Census()), self.now)


class Method(Protocol):
    """One reason for which nodes go although nothing is wrong with them. Its place in METHODS is policy."""

    @property
    def reason(self) -> Reason:
        """Of the retirements it starts."""
        ...

    def propose(self, situation: Situation) -> Proposal:
        """What to do now. The application carries it out and looks again, so it may be one step of many."""
        ...

    def objection(self, planned: Candidate, now_there: Candidate, now: datetime) -> str:
        """Why it isn't to be done after all, judged by a node tainted and listed anew; empty: go on."""
        ...

    def due(self, candidate: Candidate) -> datetime | None:
        """When it would first propose this node as it stands; None: never, unless something changes."""
        ...
