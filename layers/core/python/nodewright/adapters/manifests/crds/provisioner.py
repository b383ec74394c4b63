"""The Provisioner CRD (karpenter-behaviour §3.3)."""

from typing import Final

from nodewright.adapters.manifests.crds.node_template import NODE
from nodewright.adapters.manifests.crds.schema import (
    AGE,
    ANYTHING,
    FLAG,
    LABELS,
    QUANTITIES,
    TEXT,
    Kind,
    column,
    crd,
    fields,
    whole,
)

_SPEC: Final = fields(
    {
        "labels": LABELS,
        "annotations": LABELS,
        "requirements": NODE["requirements"],
        "taints": NODE["taints"],
        "startupTaints": NODE["startupTaints"],
        "providerRef": fields({"apiVersion": TEXT, "kind": TEXT, "name": TEXT}, required=("name",)),
        "provider": ANYTHING,
        "kubeletConfiguration": ANYTHING,
        "limits": fields({"resources": QUANTITIES}),
        "weight": whole(1, 100),
        "consolidation": fields({"enabled": FLAG}),
        "ttlSecondsAfterEmpty": whole(bits=64),
        "ttlSecondsUntilExpired": whole(bits=64),
    },
    description="Which nodes may be bought, and what is on them; NodePool's name before v1beta1.",
)

PROVISIONER: Final = crd(
    Kind("karpenter.sh", "Provisioner", "provisioners"),
    _SPEC,
    (
        column("Template", ".spec.providerRef.name"),
        AGE,
        column("Weight", ".spec.weight", "integer", wide=True),
    ),
    ("v1alpha5",),
)
