"""The CRD of capacity buffers, which clusters have from elsewhere."""

from tests.adapters.manifests.raw import Json


def buffer_crd() -> Json:
    """As much of SIG Autoscaling's as the API server needs to serve it, and to judge a status as it would."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": anything, "status": _status_schema()}}
    group, kind = "autoscaling.x-k8s.io", {"kind": "CapacityBuffer", "plural": "capacitybuffers"}
    served = {"served": True, "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}}
    versions = [{"name": name, "storage": name == "v1beta1", **served} for name in ("v1alpha1", "v1beta1")]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"capacitybuffers.{group}",
            # The group is Kubernetes' own; its API server wants to know who agreed.
            "annotations": {"api-approved.kubernetes.io": "unapproved: a part of it, for this test"},
        },
        "spec": {"group": group, "names": kind, "scope": "Namespaced", "versions": versions},
    }


def _status_schema() -> Json:
    text = {"type": "string"}
    condition = {
        "type": {**text, "maxLength": 316},
        "status": {**text, "enum": ["True", "False", "Unknown"]},
        "reason": {**text, "minLength": 1, "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"},
        "message": {**text, "maxLength": 32768},
        "lastTransitionTime": {**text, "format": "date-time"},
        "observedGeneration": {"type": "integer", "format": "int64"},
    }
    required = ["lastTransitionTime", "message", "reason", "status", "type"]
    conditions = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": {"type": "object", "properties": condition, "required": required},
    }
    template = {"type": "object", "properties": {"name": {**text, "minLength": 1}}, "required": ["name"]}
    return {
        "type": "object",
        "properties": {
            "conditions": conditions,
            "replicas": {"type": "integer", "format": "int32"},
            "podTemplateRef": template,
            "podTemplateGeneration": {"type": "integer", "format": "int64"},
            "provisioningStrategy": text,
        },
    }
