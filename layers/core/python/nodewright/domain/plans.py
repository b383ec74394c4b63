"""A plan: what to launch, which pods go to nodes that are there, and why the rest waits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from nodewright.domain.catalogue import CapacityType
from nodewright.domain.pods import PodKey
from nodewright.domain.quantities import Resources


@dataclass(frozen=True, slots=True)
class LaunchOffering:
    """One entry of a launch list."""

    instance_type: str
    zone: str
    price: int
    """Nanodollars per hour."""


class Content(NamedTuple):
    """What one node is bought for."""

    pods: tuple[PodKey, ...]
    expected: tuple[PodKey, ...] = ()
    headroom: tuple[PodKey, ...] = ()


@dataclass(frozen=True, slots=True)
class Launch:
    """Nodes of equal content: one CreateFleet call with capacity len(nodes).

    `offerings`: cheapest first, all of one capacity type, every one of which holds the load.
    `price`: nanodollars per hour of one node at the planned (cheapest) offering.
    """

    pool: str
    capacity_type: CapacityType
    offerings: tuple[LaunchOffering, ...]
    price: int
    requests: Resources
    """Of one node: its pods, without DaemonSets."""
    nodes: tuple[tuple[PodKey, ...], ...]
    selected_labels: tuple[str, ...] = ()
    """Label keys its pods' constraints read; types that differ in one get user data of their own."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels the pool leaves open (`team In [a, b]`) as its pods chose them; the nodes must carry them."""
    relaxed_min_values: tuple[str, ...] = ()
    """Keys of minValues that its offerings don't reach (`nodewright.dev/min-values-policy: BestEffort`)."""
    expected: tuple[tuple[PodKey, ...], ...] = ()
    """Node by node, pods that don't exist yet; nothing at all where none of them has any. `requests` counts them."""
    headroom: tuple[tuple[PodKey, ...], ...] = ()
    """Node by node, what is to stay free."""

    @property
    def instance_types(self) -> tuple[str, ...]:
        """Names, cheapest first."""
        return tuple(dict.fromkeys(o.instance_type for o in self.offerings))

    @property
    def zones(self) -> tuple[str, ...]:
        """Zones it may land in, sorted."""
        return tuple(sorted({o.zone for o in self.offerings}))

    @property
    def contents(self) -> tuple[Content, ...]:
        """What each node is bought for."""
        nothing: tuple[tuple[PodKey, ...], ...] = ((),) * len(self.nodes)
        each = zip(self.nodes, self.expected or nothing, self.headroom or nothing, strict=True)
        return tuple(Content(*parts) for parts in each)


@dataclass(frozen=True, slots=True)
class Nomination:
    """Pods that fit on a node that exists or is coming."""

    node: str
    pods: tuple[PodKey, ...]


@dataclass(frozen=True, slots=True)
class Unschedulable:
    """A pod no node is bought for, and why: what was tried, what ruled it out, what would help."""

    pod: PodKey
    reason: str
    """One CamelCase word, e.g. NoInstanceType, NoPool, LimitReached, Unsupported."""
    message: str


@dataclass(frozen=True, slots=True)
class Relaxed:
    """A preference that doesn't hold for some of the pods which have it and have a place."""

    preference: str
    """In the field's words, with its weight."""
    pods: int
    """How many of them."""
    example: PodKey
    reason: str


@dataclass(frozen=True, slots=True)
class Foresight:
    """What becomes of pods of one sort that aren't there: expected ones, or headroom."""

    nominations: tuple[Nomination, ...] = ()
    """Those that nodes have room for which exist or are coming. Nobody is told of them."""
    bought: int = 0
    """How many of them new nodes have room for."""
    cost: int = 0
    """What they add to the plan's cost, nanodollars per hour."""
    left: tuple[Unschedulable, ...] = ()
    """Those nothing is bought for, and why."""

    @property
    def placed(self) -> int:
        """How many there is room for without a new node."""
        return sum(len(each.pods) for each in self.nominations)

    def __len__(self) -> int:
        return self.placed + self.bought + len(self.left)


@dataclass(frozen=True, slots=True)
class Plan:
    """The answer of `solve`."""

    launches: tuple[Launch, ...] = ()
    nominations: tuple[Nomination, ...] = ()
    unschedulable: tuple[Unschedulable, ...] = ()
    cost: int = 0
    """Nanodollars per hour of all launches."""
    bound: int | None = None
    """Proven lower bound of `cost` for the pods placed on new nodes, expected ones and headroom among them; None when
    not computed."""
    truncated: bool = field(default=False)
    """A wall-clock guard cut it: what is placed may be launched, the rest waits."""
    relaxed: tuple[Relaxed, ...] = ()
    """Preferences that it doesn't keep for all."""
    expected: Foresight = Foresight()
    headroom: Foresight = Foresight()
