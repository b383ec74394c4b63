"""What an explanation says, as values: what was looked at, which rule ruled out how much of it, and what would help."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from nodewright.domain.plans import Launch
from nodewright.domain.pods import PodKey
from nodewright.domain.quantities import Resources


class Rule(StrEnum):
    """Why an instance type or a node won't do, in the order in which it is asked."""

    REQUIREMENTS = "requirements"
    """The pool's own."""
    TAINTS = "taints"
    LABELS = "labels"
    """nodeSelector and required node affinity."""
    VOLUMES = "volumes"
    """Where its volumes can be reached."""
    SIZE = "size"
    ATTACHMENTS = "attachments"
    """How many volumes can be attached."""
    HOST_PORTS = "hostPorts"
    COMPANY = "company"
    """Rules between pods: spread, affinity, anti-affinity."""
    CAPACITY = "capacity"
    """EC2 has none of it just now."""
    MIN_VALUES = "minValues"
    LIMITS = "limits"
    SPARED = "spared"
    """Accelerated, bare-metal and other architectures' types, while another will do."""


@dataclass(frozen=True, slots=True)
class Fallen:
    """What one rule ruled out of what the rules before it had left."""

    rule: Rule
    count: int
    """Instance types, nodes or pods."""
    detail: str
    """With names and numbers."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a pod fares in one pool, or on all nodes that are there."""

    name: str
    """Of the pool; empty for the nodes."""
    candidates: int
    fallen: tuple[Fallen, ...]
    left: int
    """Those that would do."""
    best: str = ""
    """The cheapest of them."""
    nearest: str = ""
    """Where none would: the nearest miss, with numbers."""
    then: str = ""
    """What would rule out all that is left if that were cured; empty where something would do."""
    advice: str = ""
    """Where none would: what would help."""


@dataclass(frozen=True, slots=True)
class OnNode:
    """It goes to a node that is there."""

    node: str
    others: int
    """Further pods this plan sends there."""


@dataclass(frozen=True, slots=True)
class OnNewNode:
    """It goes to a node that is bought."""

    node: str
    """`new-1`: the first of the plan's new nodes."""
    launch: Launch
    others: int
    """Further pods of the node."""


@dataclass(frozen=True, slots=True)
class Waits:
    """It goes nowhere now."""

    reason: str
    message: str


Outcome = OnNode | OnNewNode | Waits


@dataclass(frozen=True, slots=True)
class PodExplanation:
    """Where a pod goes or why it waits, and what was looked at."""

    pod: PodKey
    requests: Resources
    constraints: tuple[str, ...]
    outcome: Outcome
    why: tuple[str, ...]
    """Why just there."""
    nodes: Verdict
    pools: tuple[Verdict, ...]
    """In the order in which they are tried."""
    advice: tuple[str, ...]
    """For one that waits: what would help, the most promising first."""
    unmet: tuple[str, ...]
    """Preferences that don't hold where it goes."""
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodeExplanation:
    """What a node that is there has room for, and why no more goes there."""

    node: str
    pool: str
    labels: Mapping[str, str]
    taints: tuple[str, ...]
    takes_pods: bool
    free: Resources
    """Before this plan."""
    running: int
    nominated: tuple[PodKey, ...]
    """What this plan sends there."""
    fallen: tuple[Fallen, ...]
    """Of the other pending pods."""
    would_do: int
    """Pending pods that it would hold and that went elsewhere."""


@dataclass(frozen=True, slots=True)
class NewNodeExplanation:
    """What a node that is bought is for."""

    node: str
    launch: Launch
    pods: tuple[PodKey, ...]
    daemons: Resources
    """What DaemonSets take of the planned type."""
    allocatable: Resources
    """Of the planned type."""
    why: tuple[str, ...] = ()
    """Why that type."""
    expected: tuple[PodKey, ...] = ()
    """Pods that aren't there, but will come."""
    headroom: tuple[PodKey, ...] = ()
    """What is to stay free."""


@dataclass(frozen=True, slots=True)
class PoolExplanation:
    """What a pool sells, what is bought of it, and why pods that wait found nothing there."""

    pool: str
    weight: int
    constraints: tuple[str, ...]
    limits: tuple[str, ...]
    """What remains of each before this plan."""
    shelf: Verdict
    """Its instance types, without any pod."""
    daemons: tuple[str, ...]
    """DaemonSets that run on its nodes."""
    bought: tuple[tuple[str, Launch], ...]
    """First node's name of each launch, and the launch."""
    waiting: tuple[Fallen, ...] = ()
    """Pods that wait, by the rule that ruled out the last of its types."""
    warnings: tuple[str, ...] = field(default=())
