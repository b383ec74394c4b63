"""Amazon Linux 2023: nodeadm reads a NodeConfig from MIME user data."""

from dataclasses import dataclass

import yaml

from nodewright.domain.images.family import Arch, Bootstrap, ImageQuery, Variant
from nodewright.domain.images.mime import NODE_CONFIG, Part, document, user_parts
from nodewright.domain.nodeclasses import AmiFamily, BlockDevice, Kubelet
from nodewright.domain.taints import Taint

_SSM_ARCH: dict[Arch, str] = {"amd64": "x86_64", "arm64": "arm64"}
_VARIANTS: tuple[tuple[Arch, Variant], ...] = (
    ("amd64", "standard"),
    ("arm64", "standard"),
    ("amd64", "nvidia"),
    ("arm64", "nvidia"),
    ("amd64", "neuron"),
)


@dataclass(frozen=True, slots=True)
class Al2023:
    """The family."""

    name: AmiFamily = "AL2023"
    alias: str = "al2023"
    block_devices: tuple[BlockDevice, ...] = (
        BlockDevice("/dev/xvda", volume_size_gib=20, volume_type="gp3", encrypted=True, delete_on_termination=True),
    )

    def queries(self, kubernetes: str, version: str) -> tuple[ImageQuery, ...]:
        """Parameters as EKS publishes them (karpenter-behaviour §2.5)."""
        root = f"/aws/service/eks/optimized-ami/{kubernetes}/amazon-linux-2023"
        return tuple(
            ImageQuery(
                f"{root}/{_SSM_ARCH[arch]}/{variant}/{_leaf(kubernetes, version, arch, variant)}/image_id",
                arch,
                variant,
            )
            for arch, variant in _VARIANTS
        )

    def user_data(self, bootstrap: Bootstrap) -> str:
        """The class's parts first, ours last: nodeadm merges in order, so ours wins."""
        own = yaml.safe_dump(node_config(bootstrap), sort_keys=True, default_flow_style=False, width=2**20)
        return document((*user_parts(bootstrap.user_data), Part(NODE_CONFIG, own)))


AL2023 = Al2023()


def node_config(bootstrap: Bootstrap) -> dict[str, object]:
    """The NodeConfig document (node.eks.aws/v1alpha1)."""
    kubelet: dict[str, object] = {"config": _kubelet_config(bootstrap)}
    if bootstrap.labels:
        kubelet["flags"] = ["--node-labels=" + ",".join(f"{k}={v}" for k, v in sorted(bootstrap.labels.items()))]
    spec: dict[str, object] = {
        "cluster": {
            "name": bootstrap.cluster,
            "apiServerEndpoint": bootstrap.endpoint,
            "certificateAuthority": bootstrap.certificate_authority,
            "cidr": bootstrap.service_cidr,
        },
        "kubelet": kubelet,
    }
    if bootstrap.raid0:
        spec["instance"] = {"localStorage": {"strategy": "RAID0"}}
    return {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec}


def _kubelet_config(bootstrap: Bootstrap) -> dict[str, object]:
    config = kubelet_fields(bootstrap.kubelet)
    config["clusterDNS"] = list(bootstrap.kubelet.cluster_dns) or [bootstrap.dns_ip]
    if bootstrap.taints:
        config["registerWithTaints"] = [_raw_taint(t) for t in bootstrap.taints]
    return config


def kubelet_fields(kubelet: Kubelet) -> dict[str, object]:
    """The settings under their KubeletConfiguration names; what is unset is left to the node."""
    named: dict[str, object] = {
        "maxPods": kubelet.max_pods,
        "podsPerCore": kubelet.pods_per_core,
        "systemReserved": dict(kubelet.system_reserved) or None,
        "kubeReserved": dict(kubelet.kube_reserved) or None,
        "evictionHard": dict(kubelet.eviction_hard) or None,
        "evictionSoft": dict(kubelet.eviction_soft) or None,
        "evictionSoftGracePeriod": dict(kubelet.eviction_soft_grace_period) or None,
        "evictionMaxPodGracePeriod": kubelet.eviction_max_pod_grace_period,
        "imageGCHighThresholdPercent": kubelet.image_gc_high_threshold_percent,
        "imageGCLowThresholdPercent": kubelet.image_gc_low_threshold_percent,
        "cpuCFSQuota": kubelet.cpu_cfs_quota,
    }
    return {name: value for name, value in named.items() if value is not None}


def _raw_taint(taint: Taint) -> dict[str, str]:
    raw = {"key": taint.key, "effect": taint.effect}
    return raw | {"value": taint.value} if taint.value else raw


def _leaf(kubernetes: str, version: str, arch: Arch, variant: Variant) -> str:
    if version == "latest":
        return "recommended"
    return f"amazon-eks-node-al2023-{_SSM_ARCH[arch]}-{variant}-{kubernetes}-{version}"
