"""What of a node's capacity pods can't have: kubelet's reservations and its eviction threshold.

Source: karpenter-behaviour §5.2; the defaults are those of the EKS images.
"""

import math
from collections.abc import Mapping
from typing import Final

from nodewright.domain.nodeclasses import Kubelet
from nodewright.domain.quantities import CPU, EPHEMERAL_STORAGE, MEMORY, Resources, parse_quantity, whole

MIB: Final = 2**20
GIB: Final = 2**30


def overhead(capacity: Resources, kubelet: Kubelet, pods_for_memory: int, vcpus: int) -> Resources:
    """Everything reserved together. `pods_for_memory` is the count the image's memory formula uses.

    ValueError names the kubelet field.
    """
    kube = dict(_default_kube_reserved(pods_for_memory, vcpus)) | _reserved("kubeReserved", kubelet.kube_reserved)
    system = _reserved("systemReserved", kubelet.system_reserved)
    return Resources(kube) + Resources(system) + _eviction_threshold(capacity, kubelet.eviction_hard)


_CPU_TIERS: Final = ((1000, 600), (1000, 100), (2000, 50), (None, 25))
"""Width in millicores, then how much of it is reserved, in ten-thousandths."""
_MEMORY_BASE_MIB: Final = 255
_MEMORY_PER_POD_MIB: Final = 11
_EVICTION_MEMORY: Final = "100Mi"
_EVICTION_STORAGE: Final = "10%"


def _default_kube_reserved(pods: int, vcpus: int) -> Resources:
    memory = (_MEMORY_PER_POD_MIB * pods + _MEMORY_BASE_MIB) * MIB
    return Resources({CPU: _cpu_reserved(vcpus * 1000), MEMORY: memory, EPHEMERAL_STORAGE: GIB})


def _cpu_reserved(millicores: int) -> int:
    """Each tier is cut to whole millicores on its own."""
    reserved = 0
    for width, rate in _CPU_TIERS:
        part = millicores if width is None else min(millicores, width)
        reserved += part * rate // 10_000
        millicores -= part
    return reserved


def _reserved(field: str, given: Mapping[str, str]) -> dict[str, int]:
    """Keyed like the manifest, an explicit zero kept: it replaces the default."""
    try:
        return {name: Resources.parse({name: amount}).get(name) for name, amount in given.items()}
    except ValueError as error:
        raise ValueError(f"kubelet.{field}: {error}") from None


def _eviction_threshold(capacity: Resources, hard: Mapping[str, str]) -> Resources:
    memory = hard.get("memory.available", _EVICTION_MEMORY)
    storage = hard.get("nodefs.available", _EVICTION_STORAGE)
    return Resources(
        {
            MEMORY: _threshold("memory.available", memory, capacity.get(MEMORY)),
            EPHEMERAL_STORAGE: _threshold("nodefs.available", storage, capacity.get(EPHEMERAL_STORAGE)),
        }
    )


def _threshold(signal: str, text: str, capacity: int) -> int:
    """A quantity, or a share of capacity rounded up; kubelet takes 100 % for switched off."""
    try:
        if not text.endswith("%"):
            return whole(text)
        percent = parse_quantity(text.removesuffix("%"))
    except ValueError as error:
        raise ValueError(f"kubelet.evictionHard[{signal}]: {error}, or a percentage like 10%") from None
    return 0 if percent >= 100 else math.ceil(capacity * percent / 100)
