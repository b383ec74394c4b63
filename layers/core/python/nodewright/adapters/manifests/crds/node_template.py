"""What pools' templates and claims say of a node alike."""

from collections.abc import Mapping
from typing import Final

from nodewright.adapters.manifests.crds.schema import (
    ANYTHING,
    DURATION,
    DURATION_OR_NEVER,
    QUANTITIES,
    TEXT,
    Schema,
    fields,
    many,
    one_of,
    whole,
)

_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte")
_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")

_REQUIREMENT: Final = fields(
    {
        "key": {"type": "string", "minLength": 1, "maxLength": 316},
        "operator": one_of(*_OPERATORS),
        "values": many(TEXT, most=1000),
        "minValues": whole(1, 50),
    },
    required=("key", "operator"),
)
_TAINTS: Final = many(
    fields(
        {"key": {"type": "string", "minLength": 1}, "value": TEXT, "effect": one_of(*_EFFECTS)},
        required=("key", "effect"),
    ),
    most=100,
)
#: v1 has group and kind, v1beta1 apiVersion and kind; the name is enough for either.
_CLASS_REFERENCE: Final = fields({"group": TEXT, "apiVersion": TEXT, "kind": TEXT, "name": TEXT}, required=("name",))

NODE: Final[Mapping[str, Schema]] = {
    "nodeClassRef": _CLASS_REFERENCE,
    "requirements": many(_REQUIREMENT, most=100),
    "taints": _TAINTS,
    "startupTaints": _TAINTS,
    "expireAfter": DURATION_OR_NEVER,
    "terminationGracePeriod": DURATION,
    # Of v1beta1 only; v1 has it on the class, and what a claim asks for says nothing on a pool.
    "kubelet": ANYTHING,
    "resources": fields({"requests": QUANTITIES}),
}
