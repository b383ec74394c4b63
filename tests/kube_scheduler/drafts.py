"""A pod template while it is being drawn: rules add to its spec one after the other."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sandbox.controlplane.client import Object

REVISION = "pod-template-hash"


@dataclass(frozen=True, slots=True)
class Identity:
    """What other templates can select it by."""

    app: str
    namespace: str
    tier: str
    tenant: str

    @property
    def labels(self) -> dict[str, str]:
        """Of every pod of it."""
        return {"app": self.app, "tier": self.tier, "tenant": self.tenant}


@dataclass(slots=True)
class Draft:
    """One template; `count` pods of it wait."""

    identity: Identity
    count: int
    revisions: int = 1
    """Values of pod-template-hash among its pods."""
    spec: Object = field(default_factory=dict)
    claims: str = ""
    """How its pods get volumes; see storage.py."""
    cpu: int = 0
    """Millicores a pod needs at most, whatever way its containers are counted."""
    memory: int = 0
    """MiB, likewise."""

    def rule(self, *path: str) -> list[Object]:
        """The list of rules at a path of the spec, made where it is missing."""
        *parents, last = path
        at = self.spec
        for name in parents:
            at = at.setdefault(name, {})
        found: list[Object] = at.setdefault(last, [])
        return found

    def require_node(self, *expressions: Object) -> None:
        """Required node affinity: the expressions join every term there is."""
        affinity = self.spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
        required = affinity.setdefault(REQUIRED, {"nodeSelectorTerms": [{"matchExpressions": []}]})
        for term in required["nodeSelectorTerms"]:
            term.setdefault("matchExpressions", []).extend(copy.deepcopy(list(expressions)))

    def pods(self) -> Iterator[Object]:
        """Those that wait."""
        return (self.pod(number) for number in range(self.count))

    def pod(self, number: int, name: str = "") -> Object:
        """One of its pods; later ones are of later revisions."""
        revision = number * self.revisions // max(self.count, 1)
        labels: Mapping[str, str] = {**self.identity.labels, REVISION: f"h{revision}"}
        name = name or f"{self.identity.app}-{number}"
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": self.identity.namespace, "labels": labels},
            "spec": copy.deepcopy(self.spec),
        }


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
