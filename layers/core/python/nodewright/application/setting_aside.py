"""The brake on shapes that never bind: reconcile counts, provision leaves them out (architecture §4, rule 7)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from nodewright.application.errors import ConflictError, OutsideError
from nodewright.application.ports import Cluster, ClusterState, Ledger, Observer
from nodewright.domain.claims import NodeClaim
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.pods import Pod
from nodewright.domain.rooms import pending_pods
from nodewright.domain.set_aside import Idle, ShapeAside, bindings, counted, idle, standing, told
from nodewright.domain.snapshot import Snapshot

#: Pods of a shape that hear of it at once; the others do when provision plans them.
EVENTS = 10


@dataclass(frozen=True, slots=True)
class SettingAside:
    """Counts nodes of one cluster that stand ready while the pods they were bought for stay unbound."""

    connected: ConnectedCluster
    ledger: Ledger
    kubernetes: Cluster
    observer: Observer

    def follow(self, state: ClusterState, claims: Sequence[NodeClaim], now: datetime) -> int:
        """How many shapes have such nodes. Nothing is read where none has.

        Trouble keeps nothing else from being done: the next run counts the same.
        """
        names = {node.name for node in state.nodes}
        waiting = pending_pods(state.pods, self.connected.scheduler_names, claims, names)
        found = idle(claims, waiting, state.pods, now)
        if found:
            try:
                self._count(found, state.pods, now)
            except OutsideError as error:
                self.observer.problem(self._name, "set-aside", f"{error}; the next run tries again")
        return len(found)

    def _count(self, found: Sequence[Idle], pods: Sequence[Pod], now: datetime) -> None:
        known = self._known(found)
        since = min(
            *(each.bought[0] for each in found), *(each.changed for each in known.values() if each.version), now
        )
        bound = bindings([each.pods[0] for each in found], pods, since)
        for each in found:
            before = known[each.shape]
            after = counted(standing(before, bound.get(each.shape), now), each, now)
            # What was bound before it ever failed needn't be remembered.
            if after != before and (before.failures or after.failures):
                self._save(each, after, now)

    def _known(self, found: Sequence[Idle]) -> Mapping[str, ShapeAside]:
        stored = {each.shape: each for each in self.ledger.shapes_aside(self._name)}
        return {each.shape: stored.get(each.shape, ShapeAside(each.shape)) for each in found}

    def _save(self, found: Idle, shape: ShapeAside, now: datetime) -> None:
        try:
            self.ledger.save_shape_aside(self._name, shape)
        except ConflictError:
            return  # another run counted the same
        if shape.is_aside(now):
            self.observer.braked(self._name, "set-aside", f"{found.pods[0].key}: {shape}")
            for pod in found.pods[:EVENTS]:
                self.kubernetes.record_event(pod.key, pod.uid, "FailedScheduling", f"SetAside: {shape}", now)

    @property
    def _name(self) -> str:
        return self.connected.name


def without_aside(snapshot: Snapshot, cluster: str, ledger: Ledger, pods: Collection[Pod]) -> Snapshot:
    """The snapshot knowing for whom nothing is bought now. Not for pods that still run: those were bound.

    `pods`: all there are.
    """
    unbound = {pod.key for pod in pods if not pod.node_name}
    waiting = [pod for pod in snapshot.pods if pod.key in unbound]
    if not waiting:
        return snapshot
    return replace(snapshot, set_aside=told(ledger.shapes_aside(cluster), waiting, pods, snapshot.now))
