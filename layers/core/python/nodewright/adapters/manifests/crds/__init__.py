"""Our CustomResourceDefinitions of Karpenter's kinds, for clusters that have none."""

from collections.abc import Mapping

from nodewright.adapters.manifests.crds.aws_node_template import AWS_NODE_TEMPLATE
from nodewright.adapters.manifests.crds.ec2_node_class import EC2_NODE_CLASS
from nodewright.adapters.manifests.crds.node_claim import NODE_CLAIM
from nodewright.adapters.manifests.crds.node_overlay import NODE_OVERLAY
from nodewright.adapters.manifests.crds.node_pool import NODE_POOL
from nodewright.adapters.manifests.crds.provisioner import PROVISIONER


def crds() -> tuple[Mapping[str, object], ...]:
    """NodePool, NodeClaim and EC2NodeClass in v1 and v1beta1; Provisioner, AWSNodeTemplate and NodeOverlay."""
    return (NODE_POOL, NODE_CLAIM, EC2_NODE_CLASS, PROVISIONER, AWS_NODE_TEMPLATE, NODE_OVERLAY)
