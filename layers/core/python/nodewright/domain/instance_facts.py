"""What EC2 says of an instance type, and the labels a node of it gets.

An adapter fills it from DescribeInstanceTypes; plain values only, so it can be stored as it is.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from nodewright.domain.labels import AWS_DOMAIN
from nodewright.domain.nodes import ARCH_LABEL, INSTANCE_TYPE_LABEL, OS_LABEL


@dataclass(frozen=True, slots=True)
class GpuFacts:
    """One entry of GpuInfo.Gpus."""

    name: str
    manufacturer: str
    count: int
    memory_mib: int
    """Of one GPU."""


@dataclass(frozen=True, slots=True)
class NeuronFacts:
    """One entry of NeuronInfo.NeuronDevices."""

    name: str
    count: int
    cores_per_device: int


@dataclass(frozen=True, slots=True)
class InferenceFacts:
    """One entry of InferenceAcceleratorInfo.Accelerators."""

    name: str
    manufacturer: str
    count: int


@dataclass(frozen=True, slots=True)
class InstanceFacts:
    """One instance type; texts as EC2 writes them unless said otherwise."""

    name: str
    arch: Literal["amd64", "arm64"]
    """Of the first supported architecture we know: x86_64 → amd64, arm64 → arm64."""
    vcpus: int
    """DefaultVCpus."""
    memory_mib: int
    capacity_types: tuple[Literal["spot", "on-demand"], ...] = ("on-demand", "spot")
    """SupportedUsageClasses that we can buy."""
    bare_metal: bool = False
    hypervisor: str = ""
    """nitro, xen, or empty for some metal."""
    cpu_manufacturer: str = ""
    clock_speed_mhz: int | None = None
    """SustainedClockSpeedInGhz in MHz, rounded."""
    network_interfaces: int = 0
    """MaximumNetworkInterfaces of the default network card."""
    ipv4_per_interface: int = 0
    branch_interfaces: int = 0
    """For security groups of pods; 0 where unknown or not trunking compatible."""
    network_bandwidth_mbps: int | None = None
    """Baseline of all cards together; None where unknown."""
    efa_interfaces: int = 0
    """EfaInfo.MaximumEfaInterfaces."""
    encryption_in_transit: bool = False
    ebs_bandwidth_mbps: int | None = None
    """MaximumBandwidthInMbps where EBS optimisation is on by default, else None."""
    ebs_attachments: int | None = None
    """MaximumEbsAttachments: the primary interface, local disks and accelerators are off it already."""
    ebs_attachments_shared: bool = False
    """AttachmentLimitType shared: further interfaces take from it too."""
    instance_store_gb: int = 0
    """TotalSizeInGB, decimal."""
    instance_store_nvme: bool = False
    """InstanceStorageInfo.NvmeSupport is not unsupported."""
    nitro_enclaves: bool = False
    gpus: tuple[GpuFacts, ...] = ()
    neuron_devices: tuple[NeuronFacts, ...] = ()
    inference_accelerators: tuple[InferenceFacts, ...] = ()

    @property
    def family(self) -> str:
        """`m5` of m5.large."""
        return self.name.partition(".")[0]


def type_labels(facts: InstanceFacts) -> dict[str, str]:
    """Labels of a node of this type whatever its class, zone and capacity type (karpenter-behaviour §4.2).

    Tenancy is always `default`: a dedicated host isn't offered, so asking for one rules a type out.
    """
    named = _name_labels(facts) | _machine_labels(facts) | _gpu_labels(facts) | _accelerator_labels(facts)
    labels = {INSTANCE_TYPE_LABEL: facts.name, ARCH_LABEL: facts.arch, OS_LABEL: "linux"}
    labels |= {f"{AWS_DOMAIN}/{name}": value for name, value in named.items()}
    return dict(sorted(labels.items()))


# Letters, perhaps `-6tb` (u-6tb1), then the generation.
_CATEGORY_GENERATION: Final = re.compile(r"(?P<category>[a-z]+)(?:-[0-9]+tb)?(?P<generation>[0-9]+)")


def _name_labels(facts: InstanceFacts) -> dict[str, str]:
    labels = {"instance-capability-flex": _flag("-flex" in facts.family)}
    if match := _CATEGORY_GENERATION.match(facts.name):
        labels |= {"instance-category": match["category"], "instance-generation": match["generation"]}
    parts = facts.name.split(".")
    if len(parts) == 2:
        labels |= {"instance-family": parts[0], "instance-size": parts[1]}
    return labels


def _machine_labels(facts: InstanceFacts) -> dict[str, str]:
    known: dict[str, str | int | None] = {
        "instance-cpu": facts.vcpus,
        "instance-cpu-manufacturer": _kebab(facts.cpu_manufacturer) or None,
        "instance-cpu-sustained-clock-speed-mhz": facts.clock_speed_mhz,
        "instance-memory": facts.memory_mib,
        "instance-ebs-bandwidth": facts.ebs_bandwidth_mbps,
        "instance-network-bandwidth": facts.network_bandwidth_mbps,
        "instance-local-nvme": facts.instance_store_gb if facts.instance_store_nvme else None,
        "instance-hypervisor": facts.hypervisor,
        "instance-encryption-in-transit-supported": _flag(facts.encryption_in_transit),
        "instance-tenancy": "default",
        "nitro-sandbox": _flag(facts.nitro_enclaves),
    }
    return {name: str(value) for name, value in known.items() if value is not None}


def _gpu_labels(facts: InstanceFacts) -> dict[str, str]:
    """Only where all GPUs are alike: one entry."""
    if len(facts.gpus) != 1:
        return {}
    (gpu,) = facts.gpus
    return {
        "instance-gpu-name": _kebab(gpu.name),
        "instance-gpu-manufacturer": _kebab(gpu.manufacturer),
        "instance-gpu-count": str(gpu.count),
        "instance-gpu-memory": str(gpu.memory_mib),
    }


def _accelerator_labels(facts: InstanceFacts) -> dict[str, str]:
    """Neuron devices where EC2 lists any, else inference accelerators; again only one entry."""
    found: tuple[tuple[str, str, int], ...]
    if facts.neuron_devices:
        found = tuple((device.name, "aws", device.count) for device in facts.neuron_devices)
    else:
        found = tuple((chip.name, chip.manufacturer, chip.count) for chip in facts.inference_accelerators)
    if len(found) != 1:
        return {}
    name, manufacturer, count = found[0]
    return {
        "instance-accelerator-name": _kebab(name),
        "instance-accelerator-manufacturer": _kebab(manufacturer),
        "instance-accelerator-count": str(count),
    }


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _kebab(text: str) -> str:
    return text.lower().replace(" ", "-")
