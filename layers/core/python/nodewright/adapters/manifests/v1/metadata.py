"""An object's metadata as a person would write it: without what the API server and controllers add."""

from typing import Final

from nodewright.adapters.manifests.pools import PARKED_KUBELET
from nodewright.adapters.manifests.v1.values import Json, inside

_SERVERS: Final = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)
_CONTROLLERS: Final = frozenset(
    {
        PARKED_KUBELET,
        "kubectl.kubernetes.io/last-applied-configuration",
        "karpenter.sh/nodepool-hash",
        "karpenter.sh/nodepool-hash-version",
        "karpenter.sh/provisioner-hash",
        "karpenter.k8s.aws/ec2nodeclass-hash",
        "karpenter.k8s.aws/ec2nodeclass-hash-version",
        "karpenter.k8s.aws/nodetemplate-hash",
    }
)
_FINALIZERS: Final = frozenset({"karpenter.sh/termination", "karpenter.k8s.aws/termination"})


def written(metadata: Json, name: str) -> Json:
    """The metadata of the object of this name."""
    kept = {field: value for field, value in metadata.items() if field not in _SERVERS}
    annotations = {key: value for key, value in inside(kept, "annotations").items() if key not in _CONTROLLERS}
    finalizers = kept.get("finalizers")
    others = [each for each in finalizers if each not in _FINALIZERS] if isinstance(finalizers, list) else []
    return _without_empty({**kept, "name": name, "annotations": annotations, "finalizers": others})


def annotated(metadata: Json, key: str, value: str) -> Json:
    """With one annotation more."""
    return {**metadata, "annotations": {**inside(metadata, "annotations"), key: value}}


def _without_empty(metadata: Json) -> Json:
    return {field: value for field, value in metadata.items() if value not in ({}, [])}
