"""Which changes of a cluster wake us (architecture §3).

Events, not pods/status: the scheduler waits for a webhook on its own status writes, but its events
are sent from the side. Nothing here may hold the cluster up: failures are ignored after a second.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from nodewright.domain.nodes import NODE_POOL_LABEL

NAME: Final = "nodewright"

_EVENT: Final = (
    "object.reason == 'FailedScheduling' && object.regarding.kind == 'Pod'"
    " && !object.reportingController.startsWith('nodewright')"
)
#: Custom schedulers that still use the old API, whose recorders needn't name a controller.
_OLD_EVENT: Final = (
    "object.reason == 'FailedScheduling' && object.involvedObject.kind == 'Pod'"
    " && !(has(object.reportingComponent) && object.reportingComponent.startsWith('nodewright'))"
)
_LEAVING: Final = "has(object.metadata.deletionTimestamp) && !has(oldObject.metadata.deletionTimestamp)"
_IS_READY: Final = (
    "has({0}.status.conditions) && {0}.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')"
)
_NEWLY_READY: Final = f"{_IS_READY.format('object')} && !({_IS_READY.format('oldObject')})"
#: The API server counts the generation up when spec changes or a deletion begins.
_CHANGED: Final = "object.metadata.generation != oldObject.metadata.generation"


def webhook_configuration(cluster: str, url: str, ca_bundle: str | None) -> Mapping[str, object]:
    """The configuration that calls `url`, our API with the cluster's token in its path.

    `ca_bundle`: base64 of PEM, where the URL's certificate isn't signed by a public authority.
    """
    client = {"url": url} | ({"caBundle": ca_bundle} if ca_bundle else {})
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": NAME, "annotations": {"nodewright.dev/cluster": cluster}},
        "webhooks": [{**webhook, "clientConfig": client} for webhook in _WEBHOOKS],
    }


def _webhook(name: str, rules: Sequence[object], condition: str, **more: object) -> Mapping[str, object]:
    return {
        "name": f"{name}.nodewright.dev",
        "rules": list(rules),
        "matchConditions": [{"name": name, "expression": condition}],
        "matchPolicy": "Exact",
        "failurePolicy": "Ignore",
        "timeoutSeconds": 1,
        "sideEffects": "NoneOnDryRun",
        "admissionReviewVersions": ["v1"],
        **more,
    }


def _rule(group: str, version: str, operations: Sequence[str], resources: Sequence[str], scope: str) -> object:
    return {
        "apiGroups": [group],
        "apiVersions": [version],
        "operations": list(operations),
        "resources": list(resources),
        "scope": scope,
    }


def _when_updated(condition: str) -> str:
    """Creations and deletions always, updates where the condition holds."""
    return f"request.operation != 'UPDATE' || ({condition})"


_ALL: Final = ("CREATE", "UPDATE", "DELETE")
_OURS: Final = {"matchExpressions": [{"key": NODE_POOL_LABEL, "operator": "Exists"}]}
_WEBHOOKS: Final = (
    _webhook("events", [_rule("events.k8s.io", "v1", ["CREATE"], ["events"], "Namespaced")], _EVENT),
    _webhook("core-events", [_rule("", "v1", ["CREATE"], ["events"], "Namespaced")], _OLD_EVENT),
    _webhook("nodes", [_rule("", "v1", _ALL, ["nodes"], "Cluster")], _when_updated(_LEAVING), objectSelector=_OURS),
    _webhook(
        "ready-nodes", [_rule("", "v1", ["UPDATE"], ["nodes/status"], "Cluster")], _NEWLY_READY, objectSelector=_OURS
    ),
    _webhook(
        "configuration",
        [
            _rule("karpenter.sh", "*", _ALL, ["nodepools", "provisioners", "nodeclaims", "nodeoverlays"], "Cluster"),
            _rule("karpenter.k8s.aws", "*", _ALL, ["ec2nodeclasses", "awsnodetemplates"], "Cluster"),
            _rule("autoscaling.x-k8s.io", "*", _ALL, ["capacitybuffers"], "Namespaced"),
        ],
        _when_updated(_CHANGED),
    ),
)
