"""Words to write a CRD's schema with.

Schemas are tolerant: they check what they know and keep what they don't, at every depth, so that a
manifest of any generation is stored as it was written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

Schema = Mapping[str, object]

TEXT: Final[Schema] = {"type": "string"}
FLAG: Final[Schema] = {"type": "boolean"}
ANYTHING: Final[Schema] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
QUANTITY: Final[Schema] = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
LABELS: Final[Schema] = {"type": "object", "additionalProperties": TEXT}
QUANTITIES: Final[Schema] = {"type": "object", "additionalProperties": QUANTITY}
DURATION: Final[Schema] = {"type": "string", "pattern": "^([0-9]+(s|m|h))+$"}
DURATION_OR_NEVER: Final[Schema] = {"type": "string", "pattern": "^(([0-9]+(s|m|h))+|Never)$"}


def fields(properties: Mapping[str, Schema], *, required: Sequence[str] = (), description: str = "") -> Schema:
    """An object with these fields and whatever else it was given."""
    schema: dict[str, object] = {
        "type": "object",
        "properties": dict(properties),
        "x-kubernetes-preserve-unknown-fields": True,
    }
    if required:
        schema["required"] = list(required)
    return schema | ({"description": description} if description else {})


def one_of(*values: str) -> Schema:
    """A text out of these."""
    return {"type": "string", "enum": list(values)}


def matching(pattern: str) -> Schema:
    """A text of this form."""
    return {"type": "string", "pattern": pattern}


def whole(lowest: int = 0, highest: int | None = None, bits: int = 32) -> Schema:
    """A whole number within bounds."""
    bounds = {"minimum": lowest} | ({} if highest is None else {"maximum": highest})
    return {"type": "integer", "format": f"int{bits}", **bounds}


def many(item: Schema, *, least: int = 0, most: int) -> Schema:
    """A list, as long as Karpenter allows."""
    return {"type": "array", "items": item, "maxItems": most} | ({"minItems": least} if least else {})


def column(name: str, path: str, kind: str = "string", *, wide: bool = False) -> Schema:
    """A column of `kubectl get`; a wide one shows with `-o wide`."""
    return {"name": name, "jsonPath": path, "type": kind} | ({"priority": 1} if wide else {})


READY: Final = column("Ready", '.status.conditions[?(@.type=="Ready")].status')
AGE: Final = column("Age", ".metadata.creationTimestamp", "date")

STATUS: Final = fields(
    {
        "conditions": many(
            fields(
                {
                    "type": TEXT,
                    "status": one_of("True", "False", "Unknown"),
                    "reason": TEXT,
                    "message": TEXT,
                    "lastTransitionTime": {"type": "string", "format": "date-time"},
                    "observedGeneration": whole(bits=64),
                },
                required=("type", "status"),
            ),
            most=100,
        )
    }
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind and how it is called."""

    group: str
    kind: str
    plural: str
    short_names: tuple[str, ...] = ()


def crd(kind: Kind, spec: Schema, columns: Sequence[Schema], versions: Sequence[str]) -> Mapping[str, object]:
    """The CRD: the first version is stored, all are served by one schema, so nothing is converted."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{kind.group}"},
        "spec": {
            "group": kind.group,
            "scope": "Cluster",
            "conversion": {"strategy": "None"},
            "names": {
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
                "plural": kind.plural,
                "singular": kind.kind.lower(),
                "categories": ["karpenter"],
                "shortNames": list(kind.short_names),
            },
            "versions": [_version(name, spec, columns, stored=name == versions[0]) for name in versions],
        },
    }


def _version(name: str, spec: Schema, columns: Sequence[Schema], *, stored: bool) -> Schema:
    schema = {"type": "object", "required": ["spec"], "properties": {"spec": spec, "status": STATUS}}
    return {
        "name": name,
        "served": True,
        "storage": stored,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
        "additionalPrinterColumns": list(columns),
    }
