"""Pods by what they belong to."""

from typing import NamedTuple

from nodewright.domain.pods import Pod


class OwnerKey(NamedTuple):
    """The controller of pods, or a pod that has none."""

    namespace: str
    kind: str
    """`Deployment`, `ReplicaSet`, …; `Pod` for one alone."""
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


def owner_of(pod: Pod) -> OwnerKey:
    """What a pod belongs to."""
    if pod.owner is None:
        return OwnerKey(pod.key.namespace, "Pod", pod.key.name)
    return OwnerKey(pod.key.namespace, pod.owner.kind, pod.owner.name)
