"""The NodePool CRD (karpenter-behaviour §1, §3.1)."""

from typing import Final

from nodewright.adapters.manifests.crds.node_template import NODE
from nodewright.adapters.manifests.crds.schema import (
    AGE,
    DURATION_OR_NEVER,
    LABELS,
    QUANTITIES,
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

_BUDGET: Final = fields(
    {
        "nodes": matching("^((100|[0-9]{1,2})%|[0-9]+)$"),
        "reasons": many(one_of("Underutilized", "Empty", "Drifted"), most=50),
        "schedule": TEXT,
        "duration": matching("^(([0-9]+(h|m))+(0s)?)$"),
    }
)
_DISRUPTION: Final = fields(
    {
        "consolidationPolicy": one_of("WhenEmpty", "WhenEmptyOrUnderutilized", "WhenUnderutilized", "Balanced"),
        "consolidateAfter": DURATION_OR_NEVER,
        "expireAfter": DURATION_OR_NEVER,
        "budgets": many(_BUDGET, most=50),
    }
)
_TEMPLATE: Final = fields(
    {
        "metadata": fields({"labels": LABELS, "annotations": LABELS}),
        "spec": fields(NODE, required=("nodeClassRef", "requirements")),
    },
    required=("spec",),
)
_SPEC: Final = fields(
    {
        "template": _TEMPLATE,
        "disruption": _DISRUPTION,
        "limits": QUANTITIES,
        "weight": whole(1, 100),
        "replicas": whole(bits=64),
    },
    required=("template",),
    description="Which nodes may be bought, and what is on them.",
)

NODE_POOL: Final = crd(
    Kind("karpenter.sh", "NodePool", "nodepools"),
    _SPEC,
    (
        column("NodeClass", ".spec.template.spec.nodeClassRef.name"),
        column("Nodes", ".status.resources.nodes"),
        READY,
        AGE,
        column("Weight", ".spec.weight", "integer", wide=True),
        column("CPU", ".status.resources.cpu", wide=True),
        column("Memory", ".status.resources.memory", wide=True),
    ),
    ("v1", "v1beta1"),
)
