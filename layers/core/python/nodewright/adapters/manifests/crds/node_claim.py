"""The NodeClaim CRD (karpenter-behaviour §1.10)."""

from typing import Final

from nodewright.adapters.manifests.crds.node_template import NODE
from nodewright.adapters.manifests.crds.schema import AGE, READY, Kind, column, crd, fields

NODE_CLAIM: Final = crd(
    Kind("karpenter.sh", "NodeClaim", "nodeclaims"),
    fields(
        NODE,
        required=("nodeClassRef", "requirements"),
        description="One node, from its launch to its end.",
    ),
    (
        column("Type", r".metadata.labels.node\.kubernetes\.io/instance-type"),
        column("Capacity", r".metadata.labels.karpenter\.sh/capacity-type"),
        column("Zone", r".metadata.labels.topology\.kubernetes\.io/zone"),
        column("Node", ".status.nodeName"),
        READY,
        AGE,
        column("ID", ".status.providerID", wide=True),
        column("NodePool", r".metadata.labels.karpenter\.sh/nodepool", wide=True),
        column("NodeClass", ".spec.nodeClassRef.name", wide=True),
    ),
    ("v1", "v1beta1"),
)
