"""Connected clusters over the Kubernetes API (implements Cluster, RetiringCluster and what opens them)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final
from urllib.parse import quote

from nodewright.adapters import kubernetes_events
from nodewright.adapters.kubernetes_api import KubernetesApi
from nodewright.adapters.kubernetes_lists import CustomResources, read_all
from nodewright.adapters.kubernetes_nodes import register_node
from nodewright.adapters.kubernetes_retiring import NodeDepartures
from nodewright.adapters.kubernetes_surroundings import Surroundings
from nodewright.adapters.kubernetes_workloads import Buffers, find_workload
from nodewright.adapters.manifests.configuration import Configuration, read_configuration
from nodewright.adapters.manifests.daemon_sets import read_daemon_sets
from nodewright.adapters.manifests.nodes import NodeAmounts, read_nodes
from nodewright.adapters.manifests.overlays import read_overlays
from nodewright.adapters.manifests.pod_specs import PodSpecs
from nodewright.adapters.manifests.pods import read_pods
from nodewright.application.errors import ConflictError, RefusedError
from nodewright.application.ports import ClusterState, ManifestWarning
from nodewright.domain.buffer_status import BufferStatus
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.pods import Owner, Pod, PodKey
from nodewright.domain.pools import NodePool
from nodewright.domain.taints import Taint
from nodewright.domain.workloads import Workload

_PODS: Final = "/api/v1/pods"
_NOT_FINISHED: Final = {"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"}
_MEANWHILE: Final = ("metadata.uid", "already bound to a node")
"""What the API server's 422 says of a pod that is another by now, or bound."""
_UNBOUND: Final = {"fieldSelector": "spec.nodeName=,status.phase=Pending"}


class KubernetesCluster(NodeDepartures):
    """One cluster."""

    def __init__(self, api: KubernetesApi) -> None:
        super().__init__(api)
        self._pools = CustomResources(api, "karpenter.sh", "nodepools")
        self._classes = CustomResources(api, "karpenter.k8s.aws", "ec2nodeclasses")
        self._provisioners = CustomResources(api, "karpenter.sh", "provisioners", only="v1alpha5")
        self._templates = CustomResources(api, "karpenter.k8s.aws", "awsnodetemplates", only="v1alpha1")
        self._overlays = CustomResources(api, "karpenter.sh", "nodeoverlays", only="v1alpha1")
        self._buffers = Buffers(api, CustomResources(api, "autoscaling.x-k8s.io", "capacitybuffers"))

    def read(self) -> ClusterState:
        """Pods before nodes: a pod that gets bound in between is then planned for, not overlooked."""
        specs = PodSpecs()
        pods = read_all(self._api, _PODS, partial(read_pods, specs=specs), _NOT_FINISHED)
        nodes = read_all(self._api, "/api/v1/nodes", partial(read_nodes, amounts=NodeAmounts()))
        around = Surroundings(self._api)
        defaults = around.container_defaults()
        daemon_sets = read_all(
            self._api, "/apis/apps/v1/daemonsets", partial(read_daemon_sets, specs=specs, defaults=defaults)
        )
        buffers = self._buffers.read(defaults)
        asking = (*pods.items, *(buffer.template for buffer in buffers.buffers))
        storage, namespaces = around.storage(asking), around.namespaces(asking)
        configuration = self._configuration()
        overlays, overlay_warnings = read_overlays(self._overlays.read() or ())
        return ClusterState(
            nodes=nodes.items,
            pods=pods.items,
            pools=configuration.pools,
            node_classes=configuration.node_classes,
            daemon_sets=daemon_sets.items,
            warnings=(
                *pods.warnings,
                *nodes.warnings,
                *daemon_sets.warnings,
                *around.warnings,
                *configuration.warnings,
                *overlay_warnings,
                *buffers.warnings,
            ),
            overlays=overlays,
            storage=storage,
            namespaces=namespaces,
            buffers=buffers.buffers,
            buffer_readings=buffers.readings,
        )

    def node_pools(self) -> tuple[NodePool, ...]:
        """The usable ones."""
        return self._configuration().pools

    def pending_pods(self) -> tuple[Pod, ...]:
        """Unbound pods that have not failed."""
        return read_all(self._api, _PODS, partial(read_pods, specs=PodSpecs()), _UNBOUND).items

    def workload(self, namespace: str, owner: Owner) -> Workload | None:
        """One GET; None for a kind that can't be asked."""
        return find_workload(self._api, namespace, owner)

    def register_node(self, name: str, labels: Mapping[str, str], remove_taints: Sequence[Taint]) -> None:
        """Labels and finalizer on, taints off in one guarded write; none where nothing is left to do."""
        register_node(self._api, name, labels, remove_taints)

    def nominate(self, pod: PodKey, uid: str, node: str) -> None:
        """One merge patch of its status, with its uid as precondition."""
        path = f"/api/v1/namespaces/{quote(pod.namespace, safe='')}/pods/{quote(pod.name, safe='')}/status"
        try:
            self._api.patch(path, {"metadata": {"uid": uid}, "status": {"nominatedNodeName": node or None}})
        except RefusedError as error:
            if any(sign in str(error) for sign in _MEANWHILE):
                raise ConflictError(str(error)) from error
            raise

    def tell_buffer(self, buffer: PodKey, version: str, status: BufferStatus) -> None:
        """One merge patch of its status."""
        self._buffers.tell(buffer, version, status)

    def record_event(self, pod: PodKey, uid: str, reason: str, message: str, now: datetime) -> None:
        """Say it on the pod; said again, it counts up."""
        kubernetes_events.record(self._api, kubernetes_events.Happening(pod, uid, reason, message), now)

    def _configuration(self) -> Configuration:
        """Pools and classes of all generations; a cluster without the kinds of v1alpha5 is nothing to warn of."""
        pools, classes = self._pools.read(), self._classes.read()
        provisioners, templates = self._provisioners.read() or (), self._templates.read() or ()
        configuration = read_configuration((*(pools or ()), *provisioners), (*(classes or ()), *templates))
        missing = [kind for kind, found in (("NodePool", pools), ("EC2NodeClass", classes)) if found is None]
        return Configuration(
            configuration.pools,
            configuration.node_classes,
            (*map(self._not_served, missing), *configuration.warnings),
        )

    def _not_served(self, kind: str) -> ManifestWarning:
        fix = f"run `nodewright connect {self._api.cluster}` to add it"
        return ManifestWarning(kind, "", f"the cluster has no such kind, so there are none of it; {fix}")


@dataclass(slots=True)
class KubernetesClusters:
    """Opens clusters, with tokens by cluster name; a client is kept while the cluster's access is the same."""

    token: Callable[[str], str]
    _open: dict[str, tuple[tuple[str, str], KubernetesCluster]] = field(default_factory=dict, init=False)

    def open(self, cluster: ConnectedCluster) -> KubernetesCluster:
        """A client for it. RefusedError when its stored certificate authority can't be read."""
        access = (cluster.endpoint, cluster.certificate_authority)
        known = self._open.get(cluster.name)
        if known is None or known[0] != access:
            api = KubernetesApi.of_token(cluster.name, *access, token=partial(self.token, cluster.name))
            known = self._open[cluster.name] = (access, KubernetesCluster(api))
        return known[1]
