"""The EC2NodeClass CRD (karpenter-behaviour §2, §3.2)."""

from collections.abc import Mapping
from typing import Final

from nodewright.adapters.manifests.crds.schema import (
    AGE,
    ANYTHING,
    FLAG,
    LABELS,
    READY,
    TEXT,
    Kind,
    Schema,
    column,
    crd,
    fields,
    many,
    matching,
    one_of,
    whole,
)

#: Ubuntu is older than v1; whether a family can be launched is said by the reader, not by the API server.
FAMILIES: Final = one_of(
    "AL2", "AL2023", "Bottlerocket", "Custom", "Windows2019", "Windows2022", "Windows2025", "Ubuntu"
)
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
_EBS: Final[Mapping[str, Schema]] = {
    "deleteOnTermination": FLAG,
    "encrypted": FLAG,
    "iops": whole(bits=64),
    "throughput": whole(bits=64),
    "kmsKeyID": TEXT,
    "snapshotID": TEXT,
    "volumeInitializationRate": whole(100, 300),
    "volumeType": one_of("standard", "io1", "io2", "gp2", "sc1", "st1", "gp3"),
}
_SIZE: Final = matching(r"^[0-9]+(\.[0-9]+)?(Gi|G|Ti|T)$")
METADATA_OPTIONS: Final = fields(
    {
        "httpEndpoint": one_of("enabled", "disabled"),
        "httpProtocolIPv6": one_of("enabled", "disabled"),
        "httpPutResponseHopLimit": whole(1, 64, bits=64),
        "httpTokens": one_of("required", "optional"),
    }
)


def disks(size: Schema) -> Schema:
    """Block device mappings whose `volumeSize` is written so."""
    ebs = fields({**_EBS, "volumeSize": size})
    return many(fields({"deviceName": TEXT, "rootVolume": FLAG, "ebs": ebs}), most=50)


_RESERVATION: Final = fields(
    {
        "id": matching("^cr-[0-9a-z]+$"),
        "ownerID": matching("^[0-9]{12}$"),
        "instanceMatchCriteria": one_of("open", "targeted"),
        "tags": LABELS,
    }
)
_INTERFACE: Final = fields(
    {"networkCardIndex": whole(), "deviceIndex": whole(), "interfaceType": one_of("interface", "efa-only")}
)
_CONNECTIONS: Final = fields(
    {
        "tcpEstablishedTimeout": whole(60, 432_000),
        "udpStreamTimeout": whole(60, 180),
        "udpTimeout": whole(30, 60),
    }
)
_SPEC: Final = fields(
    {
        "amiFamily": FAMILIES,
        "amiSelectorTerms": many(_IMAGE, most=30),
        "subnetSelectorTerms": many(fields({"id": matching("^subnet-[0-9a-z]+$"), "tags": LABELS}), least=1, most=30),
        "securityGroupSelectorTerms": many(
            fields({"id": matching("^sg-[0-9a-z]+$"), "name": TEXT, "tags": LABELS}), least=1, most=30
        ),
        "capacityReservationSelectorTerms": many(_RESERVATION, most=30),
        "placementGroupSelector": fields({"id": matching("^pg-[0-9a-z]+$"), "name": TEXT}),
        "role": {"type": "string", "minLength": 1},
        "instanceProfile": {"type": "string", "minLength": 1},
        "userData": TEXT,
        "associatePublicIPAddress": FLAG,
        "ipPrefixCount": whole(),
        "networkInterfaces": many(_INTERFACE, most=150),
        "blockDeviceMappings": disks(_SIZE),
        "instanceStorePolicy": one_of("RAID0"),
        "metadataOptions": METADATA_OPTIONS,
        "detailedMonitoring": FLAG,
        "tags": LABELS,
        "kubelet": ANYTHING,
        "context": TEXT,
        "connectionTracking": _CONNECTIONS,
        "cpuOptions": fields({"nestedVirtualization": one_of("enabled", "disabled")}),
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
