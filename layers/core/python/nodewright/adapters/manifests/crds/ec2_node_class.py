"""The EC2NodeClass CRD (karpenter-behaviour §2, §3.2)."""

from typing import Final

from nodewright.adapters.manifests.crds.schema import (
    AGE,
    ANYTHING,
    FLAG,
    LABELS,
    READY,
    TEXT,
    Kind,
    column,
    crd,
    fields,
    many,
    matching,
    one_of,
    whole,
)

# Ubuntu is v1beta1's; whether a family can be launched is said by the reader, not by the API server.
_FAMILIES: Final = ("AL2", "AL2023", "Bottlerocket", "Custom", "Windows2019", "Windows2022", "Windows2025", "Ubuntu")
_IMAGE: Final = fields(
    {
        "alias": matching("^[a-z0-9]+@.+$"),
        "id": matching("^ami-[0-9a-z]+$"),
        "name": TEXT,
        "owner": TEXT,
        "ssmParameter": TEXT,
        "tags": LABELS,
    }
)
_EBS: Final = fields(
    {
        "deleteOnTermination": FLAG,
        "encrypted": FLAG,
        "iops": whole(bits=64),
        "throughput": whole(bits=64),
        "kmsKeyID": TEXT,
        "snapshotID": TEXT,
        "volumeInitializationRate": whole(100, 300),
        "volumeSize": matching(r"^[0-9]+(\.[0-9]+)?(Gi|G|Ti|T)$"),
        "volumeType": one_of("standard", "io1", "io2", "gp2", "sc1", "st1", "gp3"),
    }
)
_METADATA_OPTIONS: Final = fields(
    {
        "httpEndpoint": one_of("enabled", "disabled"),
        "httpProtocolIPv6": one_of("enabled", "disabled"),
        "httpPutResponseHopLimit": whole(1, 64, bits=64),
        "httpTokens": one_of("required", "optional"),
    }
)
_SPEC: Final = fields(
    {
        "amiFamily": one_of(*_FAMILIES),
        "amiSelectorTerms": many(_IMAGE, most=30),
        "subnetSelectorTerms": many(fields({"id": matching("^subnet-[0-9a-z]+$"), "tags": LABELS}), least=1, most=30),
        "securityGroupSelectorTerms": many(
            fields({"id": matching("^sg-[0-9a-z]+$"), "name": TEXT, "tags": LABELS}), least=1, most=30
        ),
        "capacityReservationSelectorTerms": many(ANYTHING, most=30),
        "role": {"type": "string", "minLength": 1},
        "instanceProfile": {"type": "string", "minLength": 1},
        "userData": TEXT,
        "associatePublicIPAddress": FLAG,
        "blockDeviceMappings": many(fields({"deviceName": TEXT, "rootVolume": FLAG, "ebs": _EBS}), most=50),
        "instanceStorePolicy": one_of("RAID0"),
        "metadataOptions": _METADATA_OPTIONS,
        "detailedMonitoring": FLAG,
        "tags": LABELS,
        "kubelet": ANYTHING,
        "context": TEXT,
    },
    required=("subnetSelectorTerms", "securityGroupSelectorTerms"),
    description="How an EC2 instance becomes a node.",
)

EC2_NODE_CLASS: Final = crd(
    Kind("karpenter.k8s.aws", "EC2NodeClass", "ec2nodeclasses", ("ec2nc", "ec2ncs")),
    _SPEC,
    (READY, AGE, column("Role", ".spec.role", wide=True)),
    ("v1", "v1beta1"),
)
