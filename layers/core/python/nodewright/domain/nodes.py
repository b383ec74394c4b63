"""Nodes as the Kubernetes API shows them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from nodewright.domain.quantities import Resources
from nodewright.domain.taints import Taint

NODE_POOL_LABEL = "karpenter.sh/nodepool"
PROVISIONER_LABEL = "karpenter.sh/provisioner-name"
"""The older name of the same (karpenter-behaviour §3.5)."""
CAPACITY_TYPE_LABEL = "karpenter.sh/capacity-type"
INSTANCE_TYPE_LABEL = "node.kubernetes.io/instance-type"
ZONE_LABEL = "topology.kubernetes.io/zone"
REGION_LABEL = "topology.kubernetes.io/region"
ZONE_ID_LABEL = "topology.k8s.aws/zone-id"
ARCH_LABEL = "kubernetes.io/arch"
OS_LABEL = "kubernetes.io/os"
HOSTNAME_LABEL = "kubernetes.io/hostname"
NAME_FIELD = "field metadata.name"
"""Stands among a room's labels for its Node's name, which matchFields select by; no label can be called so."""
REGISTERED_LABEL = "karpenter.sh/registered"
INITIALIZED_LABEL = "karpenter.sh/initialized"


@dataclass(frozen=True, slots=True)
class Node:
    """One Node object."""

    name: str
    uid: str
    provider_id: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    taints: tuple[Taint, ...]
    capacity: Resources
    allocatable: Resources
    ready: bool
    created: datetime
    unschedulable: bool = False
    terminating: bool = False

    @property
    def instance_id(self) -> str | None:
        """`aws:///zone/i-0abc` → `i-0abc`; None for a node that is not an EC2 instance."""
        last = self.provider_id.rpartition("/")[2]
        return last if self.provider_id.startswith("aws://") and last.startswith("i-") else None
