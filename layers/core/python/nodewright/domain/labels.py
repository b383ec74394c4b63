"""Label keys: which are known without a pool naming them, which are aliases, which are not for users.

Source: karpenter-behaviour §4.1, §4.2, §4.4.
"""

from typing import Final

AWS_DOMAIN: Final = "karpenter.k8s.aws"

WELL_KNOWN: Final[frozenset[str]] = frozenset(
    {
        "karpenter.sh/nodepool",
        "karpenter.sh/capacity-type",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "topology.k8s.aws/zone-id",
        "node.kubernetes.io/instance-type",
        "node.kubernetes.io/windows-build",
        "kubernetes.io/arch",
        "kubernetes.io/os",
    }
    | {
        f"{AWS_DOMAIN}/{name}"
        for name in (
            "capacity-reservation-id",
            "capacity-reservation-interruptible",
            "capacity-reservation-type",
            "ec2nodeclass",
            "instance-accelerator-count",
            "instance-accelerator-manufacturer",
            "instance-accelerator-name",
            "instance-capability-flex",
            "instance-category",
            "instance-cpu",
            "instance-cpu-manufacturer",
            "instance-cpu-sustained-clock-speed-mhz",
            "instance-ebs-bandwidth",
            "instance-encryption-in-transit-supported",
            "instance-family",
            "instance-generation",
            "instance-gpu-count",
            "instance-gpu-manufacturer",
            "instance-gpu-memory",
            "instance-gpu-name",
            "instance-hypervisor",
            "instance-local-nvme",
            "instance-memory",
            "instance-network-bandwidth",
            "instance-size",
            "instance-tenancy",
            "nitro-sandbox",
            "placement-group-id",
            "placement-group-partition",
        )
    }
)
"""Keys a pod may ask for although its pool says nothing of them."""


def normalise_key(key: str) -> str:
    """The key an older or a driver's own name stands for; any other key as it is."""
    return _ALIASES.get(key, key)


def restricted_reason(key: str) -> str | None:
    """Why users may not put this label on a pool or ask for it in a pod; None when they may."""
    if normalise_key(key) in WELL_KNOWN:
        return None
    if key == "kubernetes.io/hostname":
        return f"{key} names one node; a node that is yet to be made can't be chosen by it"
    domain = key.rpartition("/")[0]
    for owned in _OWNED_DOMAINS:
        if domain == owned or domain.endswith(f".{owned}"):
            return f"{key} is in the domain {owned}, which is the autoscaler's own; use a domain of yours"
    return None


_ALIASES: Final = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "topology.ebs.csi.aws.com/zone": "topology.kubernetes.io/zone",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    # v1alpha5's name of a pool (karpenter-behaviour §3.5).
    "karpenter.sh/provisioner-name": "karpenter.sh/nodepool",
}
_OWNED_DOMAINS: Final = ("karpenter.sh", AWS_DOMAIN)
