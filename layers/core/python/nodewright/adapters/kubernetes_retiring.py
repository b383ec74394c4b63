"""What retiring a node asks of a cluster: its pods, budgets and volumes, and to let pods go."""

import contextlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final
from urllib.parse import quote

from nodewright.adapters import kubernetes_nodes
from nodewright.adapters.kubernetes_api import KubernetesApi, TooManyRequestsError
from nodewright.adapters.kubernetes_lists import read_all
from nodewright.adapters.manifests.nodes import NodeAmounts, read_nodes, read_one_node
from nodewright.adapters.manifests.pod_disruption_budgets import read_budgets
from nodewright.adapters.manifests.pod_specs import PodSpecs
from nodewright.adapters.manifests.pods import read_pods
from nodewright.adapters.manifests.volumes import read_volume_attachments
from nodewright.application.errors import ConflictError, NotFoundError, UnavailableError
from nodewright.application.retirement_ports import Eviction
from nodewright.domain.nodes import NODE_POOL_LABEL, Node
from nodewright.domain.pod_disruption_budgets import PodDisruptionBudget
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.taints import Taint

#: What the API server says, with status 500, of a pod that several budgets cover: it never evicts one.
_SEVERAL_BUDGETS: Final = "more than one PodDisruptionBudget"
#: Of a 409: the pod is another by now, where else a budget was being written at this moment.
_UID_DIFFERS: Final = "UID in the precondition"


class NodeDepartures:
    """The part of a cluster that RetiringCluster adds to Cluster."""

    def __init__(self, api: KubernetesApi) -> None:
        self._api = api

    def disruption_budgets(self) -> tuple[PodDisruptionBudget, ...]:
        """All PDBs."""
        return read_all(self._api, "/apis/policy/v1/poddisruptionbudgets", read_budgets).items

    def node_of(self, instance_id: str, name: str) -> Node | None:
        """By name where it is known; a node that hasn't been registered is looked for among ours."""
        nodes = [self._node(name)] if name else self._ours()
        return next((node for node in nodes if node and node.instance_id == instance_id), None)

    def pods_on(self, node: str) -> tuple[Pod, ...]:
        """Bound to this node and not finished."""
        on_it = f"spec.nodeName={node},status.phase!=Succeeded,status.phase!=Failed"
        return read_all(self._api, "/api/v1/pods", partial(read_pods, specs=PodSpecs()), {"fieldSelector": on_it}).items

    def mark_node(self, name: str, taint: Taint, labels: Mapping[str, str]) -> None:
        """Taint and labels on, in one write."""
        kubernetes_nodes.mark_node(self._api, name, taint, labels)

    def unmark_node(self, name: str, taint: Taint, labels: Sequence[str]) -> None:
        """Both off, in one write."""
        kubernetes_nodes.unmark_node(self._api, name, taint, labels)

    def evict(self, pod: PodKey, uid: str) -> Eviction:
        """Ask for it. A busy API server says "later" as a budget does: both are asked again."""
        body: Mapping[str, object] = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod.name, "namespace": pod.namespace},
            "deleteOptions": {"preconditions": {"uid": uid}},
        }
        try:
            self._api.post(f"{_pod_path(pod)}/eviction", body)
        except TooManyRequestsError as error:
            return Eviction("later", str(error))
        except NotFoundError:
            return Eviction("gone")
        except ConflictError as error:
            return Eviction("gone") if _UID_DIFFERS in str(error) else Eviction("later", str(error))
        except UnavailableError as error:
            if _SEVERAL_BUDGETS not in str(error):
                raise
            return Eviction("later", str(error))
        return Eviction("evicted")

    def delete_pod(self, pod: PodKey, uid: str, grace_seconds: int) -> None:
        """Delete this very pod."""
        options: Mapping[str, object] = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "gracePeriodSeconds": grace_seconds,
            "preconditions": {"uid": uid},
        }
        with contextlib.suppress(NotFoundError, ConflictError):
            self._api.delete(_pod_path(pod), options)

    def attached_volumes(self, node: str) -> tuple[str, ...]:
        """The API server can't be asked for one node's attachments, so all are listed."""
        found = read_all(self._api, "/apis/storage.k8s.io/v1/volumeattachments", read_volume_attachments).items
        return tuple(sorted(each.volume for each in found if each.node == node))

    def delete_node(self, name: str, uid: str) -> None:
        """Delete this very Node and take our finalizer off."""
        kubernetes_nodes.delete_node(self._api, name, uid)

    def _node(self, name: str) -> Node | None:
        path = f"/api/v1/nodes/{quote(name, safe='')}"
        try:
            return self._api.decoded(path, self._api.get(path), read_one_node)
        except NotFoundError:
            return None

    def _ours(self) -> tuple[Node, ...]:
        read = partial(read_nodes, amounts=NodeAmounts())
        return read_all(self._api, "/api/v1/nodes", read, {"labelSelector": NODE_POOL_LABEL}).items


def _pod_path(pod: PodKey) -> str:
    return f"/api/v1/namespaces/{quote(pod.namespace, safe='')}/pods/{quote(pod.name, safe='')}"
