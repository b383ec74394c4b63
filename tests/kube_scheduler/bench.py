"""A control plane with the scheduler alone, and everything one cluster after the other does to it."""

import base64
import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from nodewright.adapters.kubernetes import KubernetesCluster, KubernetesClusters
from nodewright.adapters.manifests.crds import crds
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.pods import PodKey
from sandbox.controlplane import Client, ControlPlane
from sandbox.controlplane.client import NotFoundError, Object, wait_until
from tests.kube_scheduler.containers import container
from tests.kube_scheduler.generated import NAMESPACES, shared
from tests.kube_scheduler.storage import awaits_volume, provisioned

GATE: Final = "nodewright.dev/held"
_TOKEN: Final = "planner"
_AT_ONCE: Final[Object] = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
_THREADS: Final = 6
#: What a cluster leaves behind, in the order in which it goes.
_SWEPT: Final = (
    ("v1", "Pod"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "PersistentVolume"),
    ("v1", "Node"),
    ("storage.k8s.io/v1", "CSINode"),
    ("apps/v1", "DaemonSet"),
    ("karpenter.sh/v1", "NodePool"),
)
_HELD: Final = {"PersistentVolumeClaim", "PersistentVolume"}
"""The API server puts finalizers on these, and no controller is there to take them off."""

_NOWHERE: Final[Object] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"generateName": "nowhere-", "namespace": NAMESPACES[0]},
    "spec": {"nodeSelector": {"no": "node"}, "containers": [container(1, 1)]},
}
"""A pod that no node suits."""

T = TypeVar("T")


class Bench:
    """One running control plane; clusters are played on it one after the other."""

    def __init__(self, plane: ControlPlane) -> None:
        self._client: Client = plane.client
        bundle = base64.b64encode(plane.ca_pem).decode()
        self.connected = ConnectedCluster("generated", plane.url, bundle, plane.version, "", "")
        self.cluster: KubernetesCluster = KubernetesClusters(lambda _: _TOKEN).open(self.connected)
        self._client.apply(*map(dict, crds()), *shared())

    def create(self, objects: Iterable[Object]) -> None:
        """All of one kind at once; kinds in the order of their first."""
        kinds: dict[str, list[Object]] = {}
        for each in objects:
            kinds.setdefault(each["kind"], []).append(each)
        for several in kinds.values():
            self._all(self._client.create, several)

    def make_ready(self, nodes: Iterable[Object]) -> None:
        """Take off what the API server put on them when they came: the taint of a node that isn't Ready."""
        self._all(self._untaint, nodes)

    def nominate(self, pods: Mapping[PodKey, str]) -> None:
        """Write down where each pod is meant to go."""
        self._all(lambda item: self._patch_pod(item[0], {"status": {"nominatedNodeName": item[1]}}, "status"),
                  pods.items())  # fmt: skip

    def release(self, pods: Iterable[PodKey]) -> None:
        """Let the scheduler see them, one after the other."""
        for pod in pods:
            self._patch_pod(pod, {"spec": {"schedulingGates": None}})

    def let_it_see(self) -> None:
        """Wait until the scheduler has seen every pod there is: it looks at them in the order in which they came."""
        last = self._client.create(_NOWHERE)
        wait_until(lambda: self._is_refused(last), "kube-scheduler to look at the last pod")
        self._client.delete("v1", "Pod", last["metadata"]["name"], last["metadata"]["namespace"], grace_seconds=0)

    def finish(self, pods: Iterable[PodKey]) -> None:
        """They have ended and hold nothing any more."""
        self._all(lambda pod: self._patch_pod(pod, {"status": {"phase": "Succeeded"}}, "status"), pods)

    def begin_deletion(self, pods: Iterable[PodKey]) -> None:
        """With no kubelet to end them they stay, terminating."""
        self._all(lambda pod: self._client.delete("v1", "Pod", pod[1], pod[0]), pods)

    def make_anew(self, pods: Iterable[Object]) -> None:
        """The same pods once more, so that the scheduler looks at them again.

        It does so by itself when something happens that may help, but doesn't notice everything: that a partner
        of another namespace was bound, for one (isSchedulableAfterAssignedPodChange in 1.37). The rest waits 5 min.
        """
        self._all(self._recreate, pods)

    def pods(self) -> list[Object]:
        """All there are."""
        return [pod for namespace in NAMESPACES for pod in self._client.objects("v1", "Pod", namespace)]

    def provision_volumes(self) -> None:
        """Play external-provisioner and the volume controller for claims whose pods have a node now."""
        for claim in self._client.objects("v1", "PersistentVolumeClaim"):
            node = awaits_volume(claim)
            if node:
                volume, patch = provisioned(claim, self._client.get("v1", "Node", node))
                self._client.create(volume)
                where = (claim["metadata"]["name"], patch, claim["metadata"]["namespace"])
                self._client.patch("v1", "PersistentVolumeClaim", *where)

    def left(self) -> list[Object]:
        """What is there of a cluster."""
        return [found for api_version, kind in _SWEPT for found in self._client.objects(api_version, kind)]

    def sweep(self) -> None:
        """Delete whatever a cluster left; the next one finds nothing of it."""
        for api_version, kind in _SWEPT:
            left = self._client.objects(api_version, kind)
            if kind in _HELD:
                self._all(self._let_go, left)
            self._delete_all(api_version, kind, left)

    def _is_refused(self, pod: Object) -> bool:
        found = self._client.get("v1", "Pod", pod["metadata"]["name"], pod["metadata"]["namespace"])
        return any(each["type"] == "PodScheduled" for each in found["status"].get("conditions", []))

    def _recreate(self, pod: Object) -> None:
        self._client.delete("v1", "Pod", pod["metadata"]["name"], pod["metadata"]["namespace"], grace_seconds=0)
        self._client.create(pod)

    def _untaint(self, node: Object) -> None:
        self._client.patch("v1", "Node", node["metadata"]["name"], {"spec": {"taints": node["spec"]["taints"]}})

    def _patch_pod(self, pod: PodKey, patch: Object, subresource: str = "") -> None:
        namespace, name = pod
        self._client.patch("v1", "Pod", name, patch, namespace, subresource=subresource)

    def _let_go(self, held: Object) -> None:
        where = (held["metadata"]["name"], {"metadata": {"finalizers": None}}, held["metadata"].get("namespace", ""))
        self._client.patch(held["apiVersion"], held["kind"], *where)

    def _delete_all(self, api_version: str, kind: str, left: Collection[Object]) -> None:
        resource = self._client.resource(api_version, kind)
        for namespace in {each["metadata"].get("namespace") for each in left}:
            with contextlib.suppress(NotFoundError):
                self._client.request("DELETE", resource.path(namespace), _AT_ONCE)

    def _all(self, do: Callable[[T], object], items: Iterable[T]) -> None:
        with ThreadPoolExecutor(_THREADS) as pool:
            list(pool.map(do, items))


@contextlib.contextmanager
def bench() -> Iterator[Bench]:
    """Started and ended with the block."""
    with ControlPlane(verify=_administrator, controllers=False, preemption=False) as plane:
        yield Bench(plane)


def _administrator(token: str) -> tuple[str, list[str]] | None:
    return ("planner", ["system:masters"]) if token == _TOKEN else None
