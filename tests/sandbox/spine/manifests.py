"""Manifests of these tests: what a cluster's owner would write, with only what matters said."""

from collections.abc import Mapping, Sequence
from typing import Any

# As kubectl would apply it.
Manifest = dict[str, Any]

SUBNETS = ("subnet-01aaaaaaaaaaaaaaa", "subnet-02aaaaaaaaaaaaaaa")
CLUSTER_TAG = {"kubernetes.io/cluster/my-cluster": "owned"}
ROLE = "AmazonEKSNodeRole"


def requirement(key: str, *values: str, operator: str = "In") -> Manifest:
    return {"key": key, "operator": operator, "values": list(values)}


AMD64 = requirement("kubernetes.io/arch", "amd64")
ARM64 = requirement("kubernetes.io/arch", "arm64")
ON_DEMAND = requirement("karpenter.sh/capacity-type", "on-demand")
SPOT = requirement("karpenter.sh/capacity-type", "spot")
EITHER = requirement("karpenter.sh/capacity-type", "spot", "on-demand")


def family(*names: str) -> Manifest:
    return requirement("karpenter.k8s.aws/instance-family", *names)


def node_class(name: str = "default", **spec: Any) -> Manifest:
    """An EC2NodeClass v1: AL2023 unless said otherwise."""
    default = {
        "amiSelectorTerms": [{"alias": "al2023@latest"}],
        "role": ROLE,
        "subnetSelectorTerms": [{"id": subnet} for subnet in SUBNETS],
        "securityGroupSelectorTerms": [{"tags": CLUSTER_TAG}],
    }
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": name},
        "spec": default | spec,
    }


def node_pool(
    *requirements: Manifest,
    name: str = "default",
    labels: Mapping[str, str] | None = None,
    node_class: str = "default",
    template: Mapping[str, Any] | None = None,
    **spec: Any,
) -> Manifest:
    """A NodePool v1; `template` goes into spec.template.spec, the rest into spec."""
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": node_class}
    inner = {"nodeClassRef": reference, "requirements": list(requirements), **(template or {})}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": {"metadata": {"labels": dict(labels or {})}, "spec": inner}, **spec},
    }


def taint(key: str, value: str = "", effect: str = "NoSchedule") -> Manifest:
    return {"key": key, "value": value, "effect": effect}


def tolerates(key: str) -> Manifest:
    return {"key": key, "operator": "Exists"}


def deployment(name: str, replicas: int, *, cpu: str = "250m", memory: str = "256Mi", **pod: Any) -> Manifest:
    """Pods `app=NAME`; `pod` goes into the pod's spec."""
    return _workload("Deployment", name, cpu, memory, pod, replicas=replicas)


def daemon_set(name: str, *, cpu: str, memory: str = "64Mi", **pod: Any) -> Manifest:
    return _workload("DaemonSet", name, cpu, memory, pod)


def pod(name: str, *, cpu: str = "250m", memory: str = "256Mi", **spec: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": _pod_spec(cpu, memory, spec),
    }


def _workload(kind: str, name: str, cpu: str, memory: str, pod: Mapping[str, Any], **spec: Any) -> Manifest:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": _pod_spec(cpu, memory, pod)}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
    }


def _pod_spec(cpu: str, memory: str, spec: Mapping[str, Any]) -> Manifest:
    containers: Sequence[Manifest] = [
        {"name": "main", "image": "registry.k8s.io/pause", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    ]
    return {"containers": containers, **spec}
