"""One entry of DescribeInstanceTypes as InstanceFacts, with what AWS publishes elsewhere."""

from typing import TYPE_CHECKING, Literal

from nodewright.adapters.ec2_static import static_limits
from nodewright.domain.instance_facts import GpuFacts, InferenceFacts, InstanceFacts, NeuronFacts

if TYPE_CHECKING:
    from mypy_boto3_ec2.type_defs import EbsInfoTypeDef, InstanceTypeInfoTypeDef, NetworkInfoTypeDef

Arch = Literal["amd64", "arm64"]

#: EC2's architecture → Kubernetes'.
ARCHITECTURES: dict[str, Arch] = {"x86_64": "amd64", "arm64": "arm64"}


def to_facts(raw: "InstanceTypeInfoTypeDef") -> InstanceFacts | None:
    """The facts; None for a type no image of ours runs on (Mac, 32 bit)."""
    processor = raw.get("ProcessorInfo", {})
    arch = next((ARCHITECTURES[a] for a in processor.get("SupportedArchitectures", []) if a in ARCHITECTURES), None)
    if arch is None:
        return None
    network, storage = raw.get("NetworkInfo", {}), raw.get("InstanceStorageInfo", {})
    clock_speed = processor.get("SustainedClockSpeedInGhz")
    static = static_limits(raw.get("InstanceType", ""))
    return InstanceFacts(
        name=raw.get("InstanceType", ""),
        arch=arch,
        vcpus=raw.get("VCpuInfo", {}).get("DefaultVCpus", 0),
        memory_mib=raw.get("MemoryInfo", {}).get("SizeInMiB", 0),
        capacity_types=_capacity_types(raw),
        bare_metal=raw.get("BareMetal", False),
        hypervisor=raw.get("Hypervisor", ""),
        cpu_manufacturer=processor.get("Manufacturer", ""),
        clock_speed_mhz=None if clock_speed is None else round(clock_speed * 1000),
        network_interfaces=_default_card_interfaces(network),
        ipv4_per_interface=network.get("Ipv4AddressesPerInterface", 0),
        branch_interfaces=static.branch_interfaces,
        network_bandwidth_mbps=_baseline_mbps(network) or static.network_bandwidth_mbps,
        efa_interfaces=network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
        encryption_in_transit=network.get("EncryptionInTransitSupported", False),
        ebs_bandwidth_mbps=_ebs_bandwidth(raw.get("EbsInfo", {})),
        ebs_attachments=raw.get("EbsInfo", {}).get("MaximumEbsAttachments"),
        ebs_attachments_shared=raw.get("EbsInfo", {}).get("AttachmentLimitType") == "shared",
        instance_store_gb=storage.get("TotalSizeInGB", 0),
        instance_store_nvme=storage.get("NvmeSupport", "unsupported") != "unsupported",
        nitro_enclaves=raw.get("NitroEnclavesSupport") == "supported",
        gpus=_gpus(raw),
        neuron_devices=_neuron_devices(raw),
        inference_accelerators=_inference_accelerators(raw),
    )


def _capacity_types(raw: "InstanceTypeInfoTypeDef") -> tuple[Literal["spot", "on-demand"], ...]:
    offered = raw.get("SupportedUsageClasses", [])
    known: tuple[Literal["on-demand", "spot"], ...] = ("on-demand", "spot")
    return tuple(one for one in known if one in offered)


def _default_card_interfaces(network: "NetworkInfoTypeDef") -> int:
    """Pods' addresses come from the default card only."""
    default = network.get("DefaultNetworkCardIndex", 0)
    for card in network.get("NetworkCards", []):
        if card.get("NetworkCardIndex") == default:
            return card.get("MaximumNetworkInterfaces", 0)
    return network.get("MaximumNetworkInterfaces", 0)


def _baseline_mbps(network: "NetworkInfoTypeDef") -> int | None:
    """Of all cards; None where EC2 doesn't say it of each."""
    cards = [card.get("BaselineBandwidthInGbps") for card in network.get("NetworkCards", [])]
    known = [gbps for gbps in cards if gbps is not None]
    return round(sum(known) * 1000) if known and len(known) == len(cards) else None


def _ebs_bandwidth(ebs: "EbsInfoTypeDef") -> int | None:
    if ebs.get("EbsOptimizedSupport") != "default":
        return None
    return ebs.get("EbsOptimizedInfo", {}).get("MaximumBandwidthInMbps")


def _gpus(raw: "InstanceTypeInfoTypeDef") -> tuple[GpuFacts, ...]:
    return tuple(
        GpuFacts(
            name=gpu.get("Name", ""),
            manufacturer=gpu.get("Manufacturer", ""),
            count=gpu.get("Count", 0),
            memory_mib=gpu.get("MemoryInfo", {}).get("SizeInMiB", 0),
        )
        for gpu in raw.get("GpuInfo", {}).get("Gpus", [])
    )


def _neuron_devices(raw: "InstanceTypeInfoTypeDef") -> tuple[NeuronFacts, ...]:
    return tuple(
        NeuronFacts(
            name=device.get("Name", ""),
            count=device.get("Count", 0),
            cores_per_device=device.get("CoreInfo", {}).get("Count", 0),
        )
        for device in raw.get("NeuronInfo", {}).get("NeuronDevices", [])
    )


def _inference_accelerators(raw: "InstanceTypeInfoTypeDef") -> tuple[InferenceFacts, ...]:
    return tuple(
        InferenceFacts(name=chip.get("Name", ""), manufacturer=chip.get("Manufacturer", ""), count=chip.get("Count", 0))
        for chip in raw.get("InferenceAcceleratorInfo", {}).get("Accelerators", [])
    )
