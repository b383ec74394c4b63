"""What of Kubernetes' scheduling a generated cluster has in it, read off its manifests."""

from collections.abc import Iterator
from typing import Final

from sandbox.controlplane.client import Object
from tests.kube_scheduler.drafts import REQUIRED
from tests.kube_scheduler.generated import GeneratedCluster
from tests.kube_scheduler.storage import BOUND, CSI_ZONE

#: Every one has to be in several of any twenty clusters.
FEATURES: Final = (
    *("spread on topology.kubernetes.io/zone", "spread on kubernetes.io/hostname"),
    *("spread on karpenter.sh/capacity-type", "spread on example.com/rack"),
    *("spread: minDomains", "spread: matchLabelKeys", "spread: nodeAffinityPolicy", "spread: nodeTaintsPolicy"),
    *("spread: maxSkew above 1", "spread: two constraints", "spread: counts other templates"),
    *("podAffinity on topology.kubernetes.io/zone", "podAffinity on kubernetes.io/hostname"),
    *("podAntiAffinity on topology.kubernetes.io/zone", "podAntiAffinity on kubernetes.io/hostname"),
    *("podAffinity: selects itself", "podAffinity: selects others", "podAffinity: matchLabelKeys"),
    *("podAntiAffinity: selects itself", "podAntiAffinity: selects others", "podAntiAffinity: mismatchLabelKeys"),
    *("podAffinity: namespaces", "podAffinity: namespaceSelector", "podAntiAffinity: namespaceSelector"),
    *("node: In", "node: NotIn", "node: Gt", "node: Lt", "node: Exists", "node: DoesNotExist"),
    *("node: OR", "node: matchFields", "node: nodeSelector"),
    *("toleration: of everything", "toleration: of a key", "toleration: of a value"),
    *("host port", "host port: of a protocol or address", "GPU", "priority: high", "priority: low"),
    *("init container", "sidecar", "overhead", "pod-level resources"),
    *("volume: bound", "volume: unbound", "volume: shared", "volume: allowed topologies", "volume: driver's own label"),
    *("existing node", "cordoned node", "bound pod", "finished pod", "terminating pod", "two namespaces"),
    *("DaemonSet", "DaemonSet: node selector", "DaemonSet: tolerates nothing", "DaemonSet: host port"),
    *("DaemonSet: pod still to come", "pool: weight", "pool: taint", "pool: limits", "pool: label", "pool: open label"),
)


def features(cluster: GeneratedCluster) -> frozenset[str]:
    """Those of the list above that it has, and others."""
    found = {feature for pod in cluster.pending for feature in _of_pod(pod)}
    found |= {feature for pool in cluster.pools for feature in _of_pool(pool["spec"])}
    found |= {feature for each in cluster.daemon_sets for feature in _of_daemon_set(each)}
    found |= {feature for each in cluster.storage for feature in _of_storage(each)}
    return frozenset(found | set(_of_existing(cluster)))


def _of_pod(pod: Object) -> Iterator[str]:
    spec, labels = pod["spec"], pod["metadata"]["labels"]
    yield from _of_spreads(spec.get("topologySpreadConstraints", []))
    affinity = spec.get("affinity", {})
    for kind in ("podAffinity", "podAntiAffinity"):
        for term in affinity.get(kind, {}).get(REQUIRED, []):
            yield from (f"{kind} {feature}" if feature.startswith("on") else f"{kind}: {feature}"
                        for feature in _of_term(term, labels))  # fmt: skip
    yield from _of_node_rules(spec, affinity.get("nodeAffinity", {}))
    yield from _of_tolerations(spec.get("tolerations", []))
    yield from _of_containers(spec)
    if "priorityClassName" in spec:
        yield f"priority: {spec['priorityClassName']}"


def _of_spreads(constraints: list[Object]) -> Iterator[str]:
    for constraint in constraints:
        yield f"spread on {constraint['topologyKey']}"
        yield from (f"spread: {name}" for name in constraint)
        if constraint["maxSkew"] > 1:
            yield "spread: maxSkew above 1"
        if "app" not in constraint["labelSelector"]["matchLabels"]:
            yield "spread: counts other templates"
    if len(constraints) > 1:
        yield "spread: two constraints"


def _of_term(term: Object, labels: Object) -> Iterator[str]:
    yield f"on {term['topologyKey']}"
    yield from term
    wanted = term["labelSelector"].get("matchLabels", labels)
    yield "selects itself" if wanted.items() <= labels.items() else "selects others"


def _of_node_rules(spec: Object, affinity: Object) -> Iterator[str]:
    terms = affinity.get(REQUIRED, {}).get("nodeSelectorTerms", [])
    if len(terms) > 1:
        yield "node: OR"
    for term in terms:
        yield from (f"node: {expression['operator']}" for expression in term.get("matchExpressions", []))
        if "matchFields" in term:
            yield "node: matchFields"
    if "nodeSelector" in spec:
        yield "node: nodeSelector"


def _of_tolerations(tolerations: list[Object]) -> Iterator[str]:
    for each in tolerations:
        if "key" not in each:
            yield "toleration: of everything"
        else:
            yield "toleration: of a value" if "value" in each else "toleration: of a key"


def _of_containers(spec: Object) -> Iterator[str]:
    for each in spec.get("initContainers", []):
        yield "sidecar" if "restartPolicy" in each else "init container"
    if "runtimeClassName" in spec:
        yield "overhead"
    if "resources" in spec:
        yield "pod-level resources"
    for port in spec["containers"][0].get("ports", []):
        yield "host port"
        if "protocol" in port or "hostIP" in port:
            yield "host port: of a protocol or address"
    if "limits" in spec["containers"][0]["resources"]:
        yield "GPU"


def _of_pool(spec: Object) -> Iterator[str]:
    template = spec["template"]
    if "weight" in spec:
        yield "pool: weight"
    if "limits" in spec:
        yield "pool: limits"
    if template["spec"]["taints"]:
        yield "pool: taint"
    if template["metadata"]["labels"]:
        yield "pool: label"
    if any(each["key"].startswith("example.com") for each in template["spec"]["requirements"]):
        yield "pool: open label"


def _of_daemon_set(daemon_set: Object) -> Iterator[str]:
    spec = daemon_set["spec"]["template"]["spec"]
    yield "DaemonSet"
    if "nodeSelector" in spec:
        yield "DaemonSet: node selector"
    if "tolerations" not in spec:
        yield "DaemonSet: tolerates nothing"
    if "ports" in spec["containers"][0]:
        yield "DaemonSet: host port"


def _of_storage(found: Object) -> Iterator[str]:
    if found["kind"] == "PersistentVolume":
        terms = found["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
        if terms[0]["matchExpressions"][0]["key"] == CSI_ZONE:
            yield "volume: driver's own label"
        return
    yield "volume: bound" if BOUND in found["metadata"].get("annotations", {}) else "volume: unbound"
    if found["metadata"]["name"].endswith("shared"):
        yield "volume: shared"
    if found["spec"]["storageClassName"] == "late-in-zones":
        yield "volume: allowed topologies"


def _of_existing(cluster: GeneratedCluster) -> Iterator[str]:
    there = cluster.existing
    of_daemons = [pod for pod in there.pods if "ownerReferences" in pod["metadata"]]
    found = {
        "existing node": bool(there.nodes),
        "cordoned node": any(node["spec"].get("unschedulable") for node in there.nodes),
        "bound pod": len(there.pods) > len(of_daemons),
        "finished pod": bool(there.finished),
        "terminating pod": bool(there.terminating),
        "DaemonSet: pod still to come": len(of_daemons) < len(there.nodes) * len(cluster.daemon_sets),
        "two namespaces": len({pod["metadata"]["namespace"] for pod in cluster.pending}) == 2,
    }
    return (feature for feature, there_is in found.items() if there_is)
