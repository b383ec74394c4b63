"""Instance types as EC2 describes them (DescribeInstanceTypes and its limits tables, August 2026)."""

from nodewright.domain.instance_facts import GpuFacts, InstanceFacts, NeuronFacts
from nodewright.domain.nodeclasses import AmiFamily, BlockDevice, Kubelet, NodeClass, SelectorTerm

M5_LARGE = InstanceFacts(
    name="m5.large",
    arch="amd64",
    vcpus=2,
    memory_mib=8192,
    hypervisor="nitro",
    cpu_manufacturer="Intel",
    clock_speed_mhz=3100,
    network_interfaces=3,
    ipv4_per_interface=10,
    branch_interfaces=9,
    network_bandwidth_mbps=750,
    ebs_bandwidth_mbps=4750,
    ebs_attachments=27,
    ebs_attachments_shared=True,
)
T4G_NANO = InstanceFacts("t4g.nano", "arm64", 2, 512, network_interfaces=2, ipv4_per_interface=2)
T4G_MEDIUM = InstanceFacts("t4g.medium", "arm64", 2, 4096, network_interfaces=3, ipv4_per_interface=6)
C7G_4XLARGE = InstanceFacts(
    "c7g.4xlarge", "arm64", 16, 32768, network_interfaces=8, ipv4_per_interface=30, branch_interfaces=54
)
M7G_METAL = InstanceFacts(
    name="m7g.metal",
    arch="arm64",
    vcpus=64,
    memory_mib=262_144,
    bare_metal=True,
    cpu_manufacturer="AWS",
    network_interfaces=15,
    ipv4_per_interface=50,
    branch_interfaces=107,
    efa_interfaces=1,
    ebs_attachments=31,
    ebs_attachments_shared=True,
)
G5_XLARGE = InstanceFacts(
    name="g5.xlarge",
    arch="amd64",
    vcpus=4,
    memory_mib=16384,
    hypervisor="nitro",
    cpu_manufacturer="AMD",
    network_interfaces=4,
    ipv4_per_interface=15,
    branch_interfaces=4,
    instance_store_gb=250,
    instance_store_nvme=True,
    nitro_enclaves=True,
    gpus=(GpuFacts("A10G", "NVIDIA", 1, 22888),),
)
INF2_XLARGE = InstanceFacts(
    name="inf2.xlarge",
    arch="amd64",
    vcpus=4,
    memory_mib=16384,
    network_interfaces=4,
    ipv4_per_interface=15,
    branch_interfaces=18,
    neuron_devices=(NeuronFacts("Inferentia2", 1, 2),),
)
I4I_LARGE = InstanceFacts(
    name="i4i.large",
    arch="amd64",
    vcpus=2,
    memory_mib=16384,
    network_interfaces=3,
    ipv4_per_interface=10,
    branch_interfaces=9,
    instance_store_gb=468,
    instance_store_nvme=True,
)
A1_LARGE = InstanceFacts("a1.large", "arm64", 2, 4096, network_interfaces=3, ipv4_per_interface=10)
DEFAULT_KUBELET = Kubelet()


def node_class(
    family: AmiFamily = "AL2023",
    kubelet: Kubelet = DEFAULT_KUBELET,
    block_devices: tuple[BlockDevice, ...] = (),
    raid0: bool = False,
) -> NodeClass:
    """A class named `default` with what capacity depends on."""
    anything = (SelectorTerm(tags={"team": "*"}),)
    return NodeClass(
        name="default",
        ami_family=family,
        ami_terms=anything,
        subnet_terms=anything,
        security_group_terms=anything,
        kubelet=kubelet,
        block_devices=block_devices,
        instance_store_raid0=raid0,
    )
