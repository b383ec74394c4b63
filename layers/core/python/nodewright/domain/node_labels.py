"""Which labels a kubelet may put on its own node, and which somebody else must.

Kubernetes' NodeRestriction admission and kubelet's `--node-labels` check refuse labels of the
kubernetes.io and k8s.io domains that are not on kubelet's own list.
"""

from collections.abc import Mapping

from nodewright.domain import nodes

#: The cloud's node controller or kubelet itself sets these; user data needn't.
SET_BY_THE_CLUSTER = frozenset(
    {
        nodes.ARCH_LABEL,
        nodes.OS_LABEL,
        nodes.HOSTNAME_LABEL,
        nodes.INSTANCE_TYPE_LABEL,
        nodes.ZONE_LABEL,
        nodes.REGION_LABEL,
        nodes.ZONE_ID_LABEL,
    }
)

#: Only we may say these, once we have seen the node.
SET_BY_RECONCILE = frozenset({nodes.REGISTERED_LABEL, nodes.INITIALIZED_LABEL})

# k8s.io/kubelet/pkg/apis/well_known_labels.go
_ALLOWED_PREFIXES = ("kubelet.kubernetes.io", "node.kubernetes.io")
_ALLOWED_KEYS = SET_BY_THE_CLUSTER | {
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/instance-type",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
}


def kubelet_may_set(key: str) -> bool:
    """Kubelet's own rule: outside the Kubernetes domains anything, inside only what is listed."""
    domain = key.partition("/")[0] if "/" in key else ""
    if not _within(domain, "kubernetes.io") and not _within(domain, "k8s.io"):
        return True
    return key in _ALLOWED_KEYS or any(_within(domain, prefix) for prefix in _ALLOWED_PREFIXES)


def for_kubelet(labels: Mapping[str, str]) -> dict[str, str]:
    """What user data carries: allowed, and not set by the cluster or by reconcile anyway."""
    others = SET_BY_THE_CLUSTER | SET_BY_RECONCILE
    return {k: v for k, v in sorted(labels.items()) if kubelet_may_set(k) and k not in others}


def restricted(labels: Mapping[str, str]) -> dict[str, str]:
    """What only reconcile can put on the node: while it is missing the node must not take pods."""
    return {k: v for k, v in sorted(labels.items()) if not kubelet_may_set(k)}


def _within(domain: str, parent: str) -> bool:
    return domain == parent or domain.endswith(f".{parent}")
