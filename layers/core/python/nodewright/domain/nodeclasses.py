"""EC2 node classes: how an instance is made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

AmiFamily = Literal["AL2", "AL2023", "Bottlerocket", "Custom"]


@dataclass(frozen=True, slots=True)
class SelectorTerm:
    """Picks subnets, security groups or images; terms are OR, what is inside one is AND."""

    id: str = ""
    name: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    owner: str = ""
    alias: str = ""
    ssm_parameter: str = ""


@dataclass(frozen=True, slots=True)
class BlockDevice:
    """One mapping; sizes in GiB, as EC2 takes them."""

    device_name: str
    volume_size_gib: int | None = None
    volume_type: str = ""
    iops: int | None = None
    throughput: int | None = None
    encrypted: bool | None = None
    kms_key_id: str = ""
    snapshot_id: str = ""
    delete_on_termination: bool | None = None
    root_volume: bool = False


@dataclass(frozen=True, slots=True)
class MetadataOptions:
    """Instance metadata service settings (defaults of EC2NodeClass v1)."""

    http_endpoint: str = "enabled"
    http_protocol_ipv6: str = "disabled"
    http_put_response_hop_limit: int = 1
    http_tokens: str = "required"


@dataclass(frozen=True, slots=True)
class Kubelet:
    """The kubelet settings of a class (v1) or pool (v1beta1) that we honour."""

    cluster_dns: tuple[str, ...] = ()
    max_pods: int | None = None
    pods_per_core: int | None = None
    system_reserved: Mapping[str, str] = field(default_factory=dict)
    kube_reserved: Mapping[str, str] = field(default_factory=dict)
    eviction_hard: Mapping[str, str] = field(default_factory=dict)
    eviction_soft: Mapping[str, str] = field(default_factory=dict)
    eviction_soft_grace_period: Mapping[str, str] = field(default_factory=dict)
    eviction_max_pod_grace_period: int | None = None
    image_gc_high_threshold_percent: int | None = None
    image_gc_low_threshold_percent: int | None = None
    cpu_cfs_quota: bool | None = None


@dataclass(frozen=True, slots=True)
class NodeClass:
    """One EC2NodeClass, whatever generation and kind its manifest was of."""

    name: str
    ami_family: AmiFamily
    ami_terms: tuple[SelectorTerm, ...]
    subnet_terms: tuple[SelectorTerm, ...]
    security_group_terms: tuple[SelectorTerm, ...]
    role: str = ""
    instance_profile: str = ""
    """Neither role nor profile means the stack's own."""
    user_data: str = ""
    block_devices: tuple[BlockDevice, ...] = ()
    metadata_options: MetadataOptions = MetadataOptions()
    tags: Mapping[str, str] = field(default_factory=dict)
    kubelet: Kubelet = Kubelet()
    detailed_monitoring: bool = False
    associate_public_ip: bool | None = None
    instance_store_raid0: bool = False
    context: str = ""
    terminating: bool = False
    source: str = ""
    """`AWSNodeTemplate/name` or `Provisioner/name` where it was read from one."""

    def __str__(self) -> str:
        return self.source or f"EC2NodeClass/{self.name}"

    def path(self, field: str) -> str:
        """Where a field of an EC2NodeClass (`spec.…`) stands in the manifest it was read from."""
        kind = self.source.partition("/")[0]
        if not kind:
            return field
        names = [_OLD_NAMES.get(name, name) for name in field.split(".")]
        return ".".join(["spec.provider", *names[1:]] if kind == "Provisioner" else names)


#: v1alpha1's names of EC2NodeClass fields (karpenter-behaviour §3.4).
_OLD_NAMES: Final = {
    "subnetSelectorTerms": "subnetSelector",
    "securityGroupSelectorTerms": "securityGroupSelector",
    "amiSelectorTerms": "amiSelector",
}
