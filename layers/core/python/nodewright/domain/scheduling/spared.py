"""Offerings spared for those who ask: accelerated and bare-metal types, and arm64.

Nothing in a pod says for which architecture its image was built, so one that says nothing about
architectures gets amd64 where there is a choice (cases.md 31), unless its pool says otherwise. A
pod that doesn't ask for a GPU gets no GPU node while a plain one will do (cases.md 32).
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from nodewright.domain.catalogue import InstanceType
from nodewright.domain.nodes import ARCH_LABEL
from nodewright.domain.pools import NodePool
from nodewright.domain.scheduling.arrays import Bools
from nodewright.domain.scheduling.offerings import Market
from nodewright.domain.scheduling.shapes import Wish
from nodewright.domain.snapshot import PoolOptions

ASSUME_ARCH: Final = "nodewright.dev/assume-arch"
"""Setting of a pool: `amd64` (the default) or `any`."""


def exotic(market: Market) -> Bools:
    """Rows of bare-metal, GPU and accelerator types."""
    return _of_types(market, [_is_exotic(kind) for kind in market.shelf.types])


def foreign(market: Market) -> Bools:
    """Rows of an architecture that images may not have been built for."""
    return _of_types(market, [_is_foreign(market.pool, kind) for kind in market.shelf.types])


def why_spared(options: PoolOptions) -> Mapping[str, tuple[bool, bool]]:
    """Of a pool's types by name: whether each is exotic, and whether foreign."""
    return {kind.name: (_is_exotic(kind), _is_foreign(options.pool, kind)) for kind in options.instance_types}


def minds_architecture(wish: Wish) -> bool:
    """Selects an architecture, or tolerates arm64 nodes: then it knows what it can run on."""
    return ARCH_LABEL in wish.keys or any(
        toleration.value == "arm64" or toleration.key == ARCH_LABEL for toleration in wish.tolerations
    )


def spare(mask: Bools, kept_back: Sequence[Bools], holds: Bools) -> Bools:
    """`mask` without what is kept back, as far as something that holds the pod remains."""
    for rows in kept_back:
        without = mask & ~rows
        if (without & holds).any():
            mask = without
    return mask


_ACCELERATORS: Final = (
    "nvidia.com/gpu",
    "amd.com/gpu",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "aws.amazon.com/neurondevice",
    "habana.ai/gaudi",
)


def _is_exotic(kind: InstanceType) -> bool:
    bare_metal = kind.name.rpartition(".")[2].startswith("metal")
    return bare_metal or any(kind.capacity.get(resource) for resource in _ACCELERATORS)


def _is_foreign(pool: NodePool, kind: InstanceType) -> bool:
    return pool.settings.get(ASSUME_ARCH, "amd64") != "any" and kind.labels.get(ARCH_LABEL, "amd64") != "amd64"


def _of_types(market: Market, verdicts: Sequence[bool]) -> Bools:
    return np.array(verdicts, dtype=np.bool_)[market.shelf.type_of]
