"""Headroom: room that is kept free, so that pods to come find it at once (docs/manifests.md, Headroom).

A pool says how much in the annotation `nodewright.dev/headroom`, a CapacityBuffer in so many pods like one. Either
becomes pods of the lowest rank, of which only planners know.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from itertools import count, islice
from typing import Final

from nodewright.domain.nodes import NODE_POOL_LABEL, Node
from nodewright.domain.occupants import occupants
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.pools import NodePool
from nodewright.domain.quantities import CPU, LARGEST, MEMORY, PODS, Resources, unknown_resource
from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.taints import Toleration

#: Setting of a pool: resources like `cpu=4,memory=8Gi`, or a share like `10%` of what its pods request.
HEADROOM: Final = "nodewright.dev/headroom"
#: More pods than this stand for no headroom; those of a pool are larger instead.
MOST: Final = 1_000

_SHARE: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?%", re.ASCII)
_EVERYTHING: Final = (Toleration(operator="Exists"),)
#: No namespace can be called so: what stands for a pool's headroom is like no pod.
_NOWHERE: Final = "nodewright.dev"
_WHOLE: Final = 100
_UNIT_OF: Final = "-headroom-"
#: What one of a pool's units has at most, where it isn't said in how many to part it.
_UNIT: Final = ((CPU, 1000), (MEMORY, 4 * 2**30))


@dataclass(frozen=True, slots=True)
class CapacityBuffer:
    """A CapacityBuffer object (autoscaling.x-k8s.io), with what it refers to."""

    key: PodKey
    template: Pod
    """One unit of it."""
    replicas: int | None = None
    percentage: int | None = None
    """Of `scaled`, rounded up."""
    scaled: int = 0
    """Replicas of the workload it refers to."""
    limits: Resources | None = None
    """Of what all units request together."""

    def __str__(self) -> str:
        return f"CapacityBuffer/{self.key}"

    @property
    def units(self) -> int:
        """The larger of replicas and percentage, as far as the limits allow; without either as many as they allow."""
        sizes = [] if self.replicas is None else [self.replicas]
        if self.percentage is not None:
            sizes.append(math.ceil(Fraction(self.percentage * self.scaled, _WHOLE)))
        allowed = self._allowed()
        return min(max(sizes, default=MOST if allowed is not None else 0), MOST if allowed is None else allowed, MOST)

    @property
    def limits_nothing(self) -> bool:
        """Whether no unit requests any of what the limits name."""
        return self._allowed() is None

    def _allowed(self) -> int | None:
        """None where the limits limit nothing that a unit requests."""
        requests = self.template.requests
        bounds = [
            max(0, most) // requests[name] for name, most in (self.limits or {}).items() if requests.get(name) > 0
        ]
        return min(bounds, default=None)


def parse_headroom(text: str) -> Resources | Fraction:
    """Resources, or a share of what the pool's pods request. ValueError says what is wrong and how to write it."""
    example = "write resources like cpu=4,memory=8Gi, or a share like 10%"
    if text.endswith("%"):
        return _share(text, example)
    pairs = [part.partition("=") for part in text.replace(" ", "").split(",")]
    if not all(name and equals and amount for name, equals, amount in pairs):
        raise ValueError(f"{text!r} is no headroom; {example}")
    given = Resources.parse({name: amount for name, _, amount in pairs})
    if problem := next(filter(None, map(unknown_resource, given)), None):
        raise ValueError(f"{text!r}: {problem}; {example}")
    if any(amount > LARGEST for amount in given.values()):
        raise ValueError(f"{text!r} is more than any node has; {example}")
    if len({name for name, _, _ in pairs}) < len(pairs) or any(amount < 0 for amount in given.values()):
        raise ValueError(f"{text!r} names a resource twice or less than nothing of it; {example}")
    if given.keys() == {PODS}:
        raise ValueError(f"{text!r} says in how many parts, but not of what; {example}")
    return given


def headroom(
    pools: Iterable[NodePool],
    buffers: Sequence[CapacityBuffer],
    nodes: Iterable[Node],
    pods: Sequence[Pod],
    now: datetime,
) -> tuple[Pod, ...]:
    """All that is to stay free; `nodes` and `pods` are all there are, whatever goes on with a node."""
    keeping = [pool for pool in pools if HEADROOM in pool.settings and not pool.terminating]
    wanted = [(pool, parse_headroom(pool.settings[HEADROOM])) for pool in keeping]
    used = _requested(nodes, pods) if any(isinstance(each, Fraction) for _, each in wanted) else {}
    of_pools = [_of_pool(pool, said, used.get(pool.name, Resources()), now) for pool, said in wanted]
    taken = {pod.key for pod in pods} if buffers else frozenset()
    of_buffers = [_of_buffer(buffer, taken, now) for buffer in buffers]
    return tuple(unit for units in (*of_pools, *of_buffers) for unit in units)


def buffer_of(unit: PodKey) -> PodKey:
    """The buffer whose unit has this name."""
    return PodKey(unit.namespace, unit.name.rpartition(_UNIT_OF)[0])


def _share(text: str, example: str) -> Fraction:
    if not _SHARE.fullmatch(text):
        raise ValueError(f"{text!r} is no share; {example}")
    share = Fraction(text[:-1]) / _WHOLE
    if share > 1:
        raise ValueError(f"{text} is more than everything; use 0% to 100%; {example}")
    return share


def _of_pool(pool: NodePool, wanted: Resources | Fraction, used: Resources, now: datetime) -> Iterator[Pod]:
    amounts = wanted if isinstance(wanted, Resources) else _part(wanted, used)
    for number, requests in enumerate(_parted(amounts)):
        yield _pool_unit(pool, PodKey(_NOWHERE, f"{pool.name}{_UNIT_OF}{number}"), requests, now)


def _requested(nodes: Iterable[Node], pods: Iterable[Pod]) -> Mapping[str, Resources]:
    """By pool, what its pods request, but for those that come with every node."""
    pool_of = {node.name: node.labels.get(NODE_POOL_LABEL, "") for node in nodes}
    found: dict[str, Resources] = {}
    for pod in occupants(pod for pod in pods if pool_of.get(pod.node_name)):
        pool = pool_of[pod.node_name]
        found[pool] = found.get(pool, Resources()) + pod.requests
    return found


def _part(share: Fraction, used: Resources) -> Resources:
    """Of cores and memory."""
    return Resources({name: math.ceil(share * used.get(name)) for name in (CPU, MEMORY)})


def _parted(amounts: Resources) -> Iterator[Resources]:
    """In equal units, so that it needn't lie on one node: `pods` of them, else of at most a core each."""
    sizes = Resources({name: amount for name, amount in amounts.items() if name != PODS})
    units = min(MOST, amounts.get(PODS) or _units(sizes)) if sizes else 0
    for number in range(units):
        parts = {name: amount * (number + 1) // units - amount * number // units for name, amount in sizes.items()}
        yield Resources({**parts, PODS: 1})


def _units(sizes: Resources) -> int:
    for name, most in _UNIT:
        if name in sizes:
            return max(1, math.ceil(Fraction(sizes[name], most)))
    return max(1, *sizes.values())


def _pool_unit(pool: NodePool, key: PodKey, requests: Resources, now: datetime) -> Pod:
    here = Requirements((Requirement.of(NODE_POOL_LABEL, "In", (pool.name,)),))
    return Pod(
        key=key,
        uid="",
        labels={},
        annotations={},
        requests=requests,
        alternatives=(here,),
        tolerations=_EVERYTHING,
        created=now,
        stands_for="headroom",
    )


def _of_buffer(buffer: CapacityBuffer, taken: Collection[PodKey], now: datetime) -> Iterator[Pod]:
    names = (PodKey(buffer.key.namespace, f"{buffer.key.name}{_UNIT_OF}{number}") for number in count())
    for key in islice((name for name in names if name not in taken), buffer.units):
        yield replace(buffer.template, key=key, created=now, stands_for="headroom")
