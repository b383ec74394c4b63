"""The AWSNodeTemplate CRD (karpenter-behaviour §3.4)."""

from typing import Final

from nodewright.adapters.manifests.crds.ec2_node_class import FAMILIES, METADATA_OPTIONS, disks
from nodewright.adapters.manifests.crds.schema import AGE, FLAG, LABELS, QUANTITY, TEXT, Kind, column, crd, fields

_SPEC: Final = fields(
    {
        "amiFamily": FAMILIES,
        "amiSelector": LABELS,
        "subnetSelector": LABELS,
        "securityGroupSelector": LABELS,
        "instanceProfile": TEXT,
        "launchTemplate": TEXT,
        "userData": TEXT,
        # A size without a unit is in GiB.
        "blockDeviceMappings": disks(QUANTITY),
        "metadataOptions": METADATA_OPTIONS,
        "detailedMonitoring": FLAG,
        "tags": LABELS,
        "context": TEXT,
    },
    description="How an EC2 instance becomes a node; EC2NodeClass' name before v1beta1.",
)

AWS_NODE_TEMPLATE: Final = crd(
    Kind("karpenter.k8s.aws", "AWSNodeTemplate", "awsnodetemplates"),
    _SPEC,
    (column("Family", ".spec.amiFamily"), AGE),
    ("v1alpha1",),
)
