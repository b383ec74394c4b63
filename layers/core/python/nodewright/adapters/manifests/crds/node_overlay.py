"""The NodeOverlay CRD (karpenter-behaviour §4.5)."""

from typing import Final

from nodewright.adapters.manifests.crds.node_template import NODE
from nodewright.adapters.manifests.crds.schema import (
    AGE,
    QUANTITIES,
    TEXT,
    Kind,
    column,
    crd,
    fields,
    matching,
    whole,
)

_SPEC: Final = fields(
    {
        "requirements": NODE["requirements"],
        "price": matching(r"^\d+(\.\d+)?$"),
        # How it is to be written is said by the reader, with the fix.
        "priceAdjustment": TEXT,
        "capacity": QUANTITIES,
        "weight": whole(1, 10_000),
    },
    required=("requirements",),
    description="Prices and extended resources of instance types, as planning is to see them.",
)

NODE_OVERLAY: Final = crd(
    Kind("karpenter.sh", "NodeOverlay", "nodeoverlays", ("overlays",)),
    _SPEC,
    (
        column("Price", ".spec.price"),
        column("Adjustment", ".spec.priceAdjustment"),
        column("Weight", ".spec.weight", "integer"),
        AGE,
    ),
    ("v1alpha1",),
)
