"""An instance type under a node class: what a node of it has, what of it pods can have, its labels.

Source: karpenter-behaviour §5. Exact integers throughout.
"""

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from nodewright.domain.catalogue import InstanceType, Offering
from nodewright.domain.instance_facts import InstanceFacts, type_labels
from nodewright.domain.labels import AWS_DOMAIN
from nodewright.domain.nodeclasses import AmiFamily, NodeClass
from nodewright.domain.nodes import REGION_LABEL
from nodewright.domain.offerings import OfferingTriple, PriceBook, offerings
from nodewright.domain.overhead import GIB, MIB, overhead
from nodewright.domain.quantities import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, Resources

__all__ = ["CapacityOptions", "PriceBook", "instance_type", "instance_types", "node_capacity"]


@dataclass(frozen=True, slots=True)
class CapacityOptions:
    """What the model can't know of an account."""

    vm_memory_overhead_ppm: int = 75_000
    """Share of memory, in millionths, that hypervisor and kernel keep before kubelet sees any."""
    reserved_enis: int = 0
    """Network interfaces that pods' addresses may not use (VPC CNI custom networking: 1)."""


def instance_types(
    facts: Iterable[InstanceFacts],
    node_class: NodeClass,
    zones_by_type: Mapping[str, frozenset[str]],
    prices: PriceBook,
    zones: frozenset[str],
    unavailable: AbstractSet[OfferingTriple] = frozenset(),
    options: CapacityOptions = CapacityOptions(),
    zone_ids: Mapping[str, str] | None = None,
) -> tuple[InstanceType, ...]:
    """All types the class can be launched as in `zones` (its subnets'), sorted by name.

    A type is left out where it has no offering with a known price; what cools down stays, marked.
    """
    made = []
    for each in facts:
        offered = zones_by_type.get(each.name, frozenset()) & zones
        bought_as = offerings(each, offered, prices, unavailable, zone_ids)
        made.append(instance_type(each, node_class, bought_as, options) if bought_as else None)
    return tuple(sorted((one for one in made if one is not None), key=lambda one: one.name))


def instance_type(
    facts: InstanceFacts,
    node_class: NodeClass,
    offerings: tuple[Offering, ...],
    options: CapacityOptions = CapacityOptions(),
) -> InstanceType | None:
    """The type as this class makes it; None where the class's image can't run on it.

    ValueError names class, field and fix when a kubelet amount can't be read.
    """
    if node_class.ami_family == "AL2023" and facts.family == "a1":
        return None  # AL2023 needs ARMv8.2; a1 is Graviton 1.
    capacity = node_capacity(facts, node_class, options)
    try:
        reserved = overhead(capacity, node_class.kubelet, _pods_for_memory(facts, node_class, capacity), facts.vcpus)
    except ValueError as error:
        raise ValueError(f"{node_class}: {error}") from None
    return InstanceType(
        name=facts.name,
        labels=type_labels(facts) | _class_labels(node_class, offerings),
        capacity=capacity,
        allocatable=(capacity - reserved).floor_zero(),
        offerings=offerings,
        volumes=_volumes(facts, node_class),
    )


def node_capacity(facts: InstanceFacts, node_class: NodeClass, options: CapacityOptions) -> Resources:
    """What the Node will report as its capacity."""
    plain = {
        CPU: facts.vcpus * 1000,
        MEMORY: _memory(facts, options),
        EPHEMERAL_STORAGE: _ephemeral_storage(facts, node_class),
        PODS: _pods(facts, node_class, options),
    }
    return Resources(plain | _devices(facts))


_FAMILY_DEVICE: Final[Mapping[AmiFamily, str]] = {
    "AL2": "/dev/xvda",
    "AL2023": "/dev/xvda",
    "Bottlerocket": "/dev/xvdb",
}
_DEFAULT_STORAGE_GIB: Final = 20
_ARM_RESERVED_MIB: Final = 64
_GPU_RESOURCES: Final = {"nvidia": "nvidia.com/gpu", "amd": "amd.com/gpu", "habana": "habana.ai/gaudi"}
# us-east-1a, us-gov-west-1b, and the local zone us-west-2-lax-1a.
_REGION_OF_ZONE: Final = re.compile(r"[a-z]+(?:-[a-z]+)+-[0-9]+")


def _memory(facts: InstanceFacts, options: CapacityOptions) -> int:
    mib = facts.memory_mib - (_ARM_RESERVED_MIB if facts.arch == "arm64" else 0)
    lost = -(-mib * options.vm_memory_overhead_ppm // 1_000_000)
    return (mib - lost) * MIB


def _ephemeral_storage(facts: InstanceFacts, node_class: NodeClass) -> int:
    if node_class.instance_store_raid0 and facts.instance_store_gb:
        return facts.instance_store_gb * 10**9
    return _storage_volume_gib(node_class) * GIB


def _storage_volume_gib(node_class: NodeClass) -> int:
    """Of the volume that holds pods' data: marked as root, else where the image's family keeps it."""
    devices = node_class.block_devices
    chosen = [device for device in devices if device.root_volume]
    if not chosen and node_class.ami_family == "Custom":
        chosen = list(devices[-1:])
    elif not chosen:
        chosen = [device for device in devices if device.device_name == _FAMILY_DEVICE[node_class.ami_family]]
    size = chosen[0].volume_size_gib if chosen else None
    return _DEFAULT_STORAGE_GIB if size is None else size


def _pods(facts: InstanceFacts, node_class: NodeClass, options: CapacityOptions) -> int:
    kubelet = node_class.kubelet
    pods = _pods_by_interfaces(facts, options.reserved_enis) if kubelet.max_pods is None else kubelet.max_pods
    if kubelet.pods_per_core and node_class.ami_family != "Bottlerocket":
        return min(pods, kubelet.pods_per_core * facts.vcpus)
    return pods


def _pods_by_interfaces(facts: InstanceFacts, reserved: int) -> int:
    """The VPC CNI's limit: an address per pod, one per interface kept; two pods use the host's."""
    usable = max(0, facts.network_interfaces - reserved)
    return usable * (facts.ipv4_per_interface - 1) + 2 if usable else 0


def _pods_for_memory(facts: InstanceFacts, node_class: NodeClass, capacity: Resources) -> int:
    """The Amazon Linux images take their own table's count even where maxPods is set."""
    if node_class.ami_family == "Bottlerocket":
        return capacity.get(PODS)
    return _pods_by_interfaces(facts, reserved=0)


def _devices(facts: InstanceFacts) -> dict[str, int]:
    devices = dict.fromkeys(_GPU_RESOURCES.values(), 0)
    for gpu in facts.gpus:
        if resource := _GPU_RESOURCES.get(gpu.manufacturer.lower()):
            devices[resource] += gpu.count
    if facts.neuron_devices:
        first = facts.neuron_devices[0]
        devices["aws.amazon.com/neuron"] = sum(device.count for device in facts.neuron_devices)
        devices["aws.amazon.com/neuroncore"] = first.count * first.cores_per_device
    devices["vpc.amazonaws.com/efa"] = facts.efa_interfaces
    devices["vpc.amazonaws.com/pod-eni"] = facts.branch_interfaces
    return devices


def _class_labels(node_class: NodeClass, offerings: tuple[Offering, ...]) -> dict[str, str]:
    labels = {f"{AWS_DOMAIN}/ec2nodeclass": node_class.name}
    region = _REGION_OF_ZONE.match(offerings[0].zone) if offerings else None
    return labels | ({REGION_LABEL: region[0]} if region else {})


def _volumes(facts: InstanceFacts, node_class: NodeClass) -> int | None:
    """EBS volumes left for pods: less the node's own, less the interface the VPC CNI adds at start.

    m5.large: 27 less 1 less 1 is 25.
    """
    if facts.ebs_attachments is None:
        return None
    default = 2 if node_class.ami_family == "Bottlerocket" else 1
    own = len(node_class.block_devices) or default
    return max(0, facts.ebs_attachments - own - int(facts.ebs_attachments_shared))
