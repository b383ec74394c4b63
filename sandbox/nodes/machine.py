"""How large a Node an instance type makes: what kubelet would report, by EKS's published formulas.

Not the planner's model: real machines keep a little more memory than it assumes, and so do these.
"""

import re
from collections.abc import Mapping
from typing import Any

from sandbox.nodes.user_data import Joining

# One entry of DescribeInstanceTypes.
Described = Mapping[str, Any]

MIB = 2**20
#: Firmware and kernel take some: a few per cent on small machines.
_VISIBLE_MEMORY = 0.96
_EVICTION_MEMORY = 100 * MIB
#: Millicores kept per thousand, by EKS's tiers of a machine's first, second, next two and further cores.
_CPU_TIERS = ((1000, 60), (1000, 10), (2000, 5))
_CPU_REST = 2.5


def capacity(described: Described, joining: Joining) -> dict[str, str]:
    """`status.capacity` as Kubernetes quantities."""
    return {
        "cpu": str(described["VCpuInfo"]["DefaultVCpus"]),
        "memory": str(_memory(described)),
        "pods": str(joining.max_pods if joining.max_pods is not None else eni_pods(described)),
        "ephemeral-storage": str(20 * 2**30),
        **_gpus(described),
    }


def allocatable(described: Described, joining: Joining) -> dict[str, str]:
    """`status.allocatable`: capacity less what kubelet keeps for itself, the system and eviction."""
    whole = capacity(described, joining)
    cpu = int(whole["cpu"]) * 1000
    kept = _millicores(joining.kube_reserved.get("cpu"), cpu_reserved(cpu)) + _millicores(
        joining.system_reserved.get("cpu"), 0
    )
    memory = _bytes(joining.kube_reserved.get("memory"), (11 * eni_pods(described) + 255) * MIB)
    memory += _bytes(joining.system_reserved.get("memory"), 0)
    memory += _bytes(joining.eviction_hard.get("memory.available"), _EVICTION_MEMORY)
    return {**whole, "cpu": f"{cpu - kept}m", "memory": str(int(whole["memory"]) - memory)}


def eni_pods(described: Described) -> int:
    """Pods by addresses: interfaces × (addresses each − 1) + 2."""
    network = described["NetworkInfo"]
    card = network.get("DefaultNetworkCardIndex", 0)
    cards = {c["NetworkCardIndex"]: c["MaximumNetworkInterfaces"] for c in network.get("NetworkCards", [])}
    interfaces = cards.get(card, network["MaximumNetworkInterfaces"])
    return int(interfaces) * (int(network["Ipv4AddressesPerInterface"]) - 1) + 2


def cpu_reserved(millicores: int) -> int:
    """6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of the rest."""
    kept, left = 0, millicores
    for size, permille in _CPU_TIERS:
        kept += min(left, size) * permille // 1000
        left = max(0, left - size)
    return kept + int(left * _CPU_REST / 1000)


def arch(described: Described) -> str:
    """`amd64` or `arm64`."""
    return "arm64" if "arm64" in described["ProcessorInfo"]["SupportedArchitectures"] else "amd64"


def _memory(described: Described) -> int:
    return int(int(described["MemoryInfo"]["SizeInMiB"]) * _VISIBLE_MEMORY) * MIB


def _gpus(described: Described) -> dict[str, str]:
    counts: dict[str, int] = {}
    for gpu in described.get("GpuInfo", {}).get("Gpus", []):
        name = {"NVIDIA": "nvidia.com/gpu", "AMD": "amd.com/gpu"}.get(gpu["Manufacturer"])
        if name:
            counts[name] = counts.get(name, 0) + int(gpu["Count"])
    return {name: str(count) for name, count in counts.items()}


def _millicores(text: str | None, otherwise: int) -> int:
    if text is None:
        return otherwise
    return int(text[:-1]) if text.endswith("m") else int(float(text) * 1000)


def _bytes(text: str | None, otherwise: int) -> int:
    if text is None:
        return otherwise
    match = re.fullmatch(r"(\d+)(Ki|Mi|Gi)?", text)
    if match is None:
        raise ValueError(f"kubelet can't read the amount {text!r}")
    return int(match[1]) * {None: 1, "Ki": 2**10, "Mi": MIB, "Gi": 2**30}[match[2]]
