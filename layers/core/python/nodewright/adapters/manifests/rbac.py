"""What our functions may do inside a cluster: a group for each function that calls its API.

The groups belong to the functions' roles by EKS access entries; discovery is everybody's already.
"""

from collections.abc import Mapping, Sequence
from typing import Final

Manifest = Mapping[str, object]

PROVISION_GROUP: Final = "nodewright:provision"
RECONCILE_GROUP: Final = "nodewright:reconcile"
DISRUPT_GROUP: Final = "nodewright:disrupt"
RETIRE_GROUP: Final = "nodewright:retire"
INTERRUPT_GROUP: Final = "nodewright:interrupt"

_READ: Final = ("get", "list")
_CONFIGURATION: Final[tuple[Manifest, ...]] = (
    {"apiGroups": ["karpenter.sh"], "resources": ["nodepools", "provisioners"], "verbs": list(_READ)},
    {"apiGroups": ["karpenter.k8s.aws"], "resources": ["ec2nodeclasses", "awsnodetemplates"], "verbs": list(_READ)},
)
_SNAPSHOT: Final[tuple[Manifest, ...]] = (
    {"apiGroups": [""], "resources": ["nodes", "pods", "namespaces", "limitranges"], "verbs": list(_READ)},
    {"apiGroups": [""], "resources": ["persistentvolumeclaims", "persistentvolumes"], "verbs": list(_READ)},
    {
        "apiGroups": ["storage.k8s.io"],
        "resources": ["storageclasses", "csinodes", "volumeattachments"],
        "verbs": list(_READ),
    },
    {"apiGroups": ["apps"], "resources": ["daemonsets"], "verbs": list(_READ)},
    {"apiGroups": ["karpenter.sh"], "resources": ["nodeoverlays"], "verbs": list(_READ)},
    {"apiGroups": ["autoscaling.x-k8s.io"], "resources": ["capacitybuffers"], "verbs": list(_READ)},
    # What those refer to.
    {"apiGroups": [""], "resources": ["podtemplates"], "verbs": ["get"]},
    {"apiGroups": ["apps"], "resources": ["deployments", "replicasets", "statefulsets"], "verbs": ["get"]},
    # What the pods of those name.
    {"apiGroups": ["scheduling.k8s.io"], "resources": ["priorityclasses"], "verbs": ["get"]},
    {"apiGroups": ["node.k8s.io"], "resources": ["runtimeclasses"], "verbs": ["get"]},
    *_CONFIGURATION,
)
#: Controllers of pods that wait, looked up one by one to see how many more are to come.
_OWNERS: Final[tuple[Manifest, ...]] = (
    {"apiGroups": ["apps"], "resources": ["replicasets", "statefulsets"], "verbs": ["get"]},
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get"]},
)
_EVENTS: Final[Manifest] = {
    "apiGroups": ["events.k8s.io"],
    "resources": ["events"],
    "verbs": ["create", "get", "patch"],
}
_NODES: Final[Manifest] = {"apiGroups": [""], "resources": ["nodes"], "verbs": ["patch"]}
_NOMINATIONS: Final[Manifest] = {"apiGroups": [""], "resources": ["pods/status"], "verbs": ["patch"]}
_BUFFERS: Final[Manifest] = {
    "apiGroups": ["autoscaling.x-k8s.io"],
    "resources": ["capacitybuffers/status"],
    "verbs": ["patch"],
}
_BUDGETS: Final[Manifest] = {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": list(_READ)}

#: What emptying a node and taking it away needs; pods are deleted by force when a deadline comes.
_RETIRE: Final[tuple[Manifest, ...]] = (
    {"apiGroups": [""], "resources": ["nodes"], "verbs": [*_READ, "patch", "delete"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": [*_READ, "delete"]},
    {"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]},
    _BUDGETS,
    {"apiGroups": ["storage.k8s.io"], "resources": ["volumeattachments"], "verbs": list(_READ)},
)


def rbac() -> tuple[Manifest, ...]:
    """A ClusterRole and its binding per group."""
    return (
        *_granted(PROVISION_GROUP, (*_SNAPSHOT, *_OWNERS, _BUFFERS, _EVENTS)),
        *_granted(RECONCILE_GROUP, (*_SNAPSHOT, _NODES, _NOMINATIONS, _BUFFERS)),
        *_granted(DISRUPT_GROUP, (*_SNAPSHOT, _NODES, _BUDGETS, _EVENTS)),
        *_granted(RETIRE_GROUP, (*_RETIRE, _EVENTS)),
        *_granted(INTERRUPT_GROUP, _CONFIGURATION),
    )


def _granted(group: str, rules: Sequence[Manifest]) -> tuple[Manifest, Manifest]:
    name = {"name": group}
    role: Manifest = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": name,
        "rules": list(rules),
    }
    binding: Manifest = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": name,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": group},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": group}],
    }
    return role, binding
