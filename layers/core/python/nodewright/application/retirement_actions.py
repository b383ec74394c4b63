"""Carrying out what a turn decided. Each action may be done again."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from nodewright.application.errors import OutsideError
from nodewright.application.ports import Fleet
from nodewright.application.retirement_ports import RetiringCluster
from nodewright.domain.pods import Pod
from nodewright.domain.retirement import DISRUPTED
from nodewright.domain.retirement_turns import Action, Delete, DeleteNode, Evict, Mark, Terminate, Unmark, View
from nodewright.domain.stale_taints import mark_labels

#: Of the event on a pod that a budget holds.
HELD_REASON = "DrainHeld"


@dataclass(frozen=True, slots=True)
class Actor:
    """Does it."""

    fleet: Fleet
    cluster: RetiringCluster

    def act(self, view: View, actions: Sequence[Action], now: datetime) -> bool:
        """In order; whether a pod was granted leave, or had left already."""
        granted = [self._one(view, action, now) for action in actions]
        return any(granted)

    def _one(self, view: View, action: Action, now: datetime) -> bool:
        match action:
            case Mark() | Unmark() | DeleteNode():
                self._node(view, action)
            case Evict(pod):
                return self._evict(view, pod, now)
            case Delete(pod, grace_seconds):
                self.cluster.delete_pod(pod.key, pod.uid, grace_seconds)
            case Terminate():
                self.fleet.terminate((view.claim.instance_id,))
        return False

    def _node(self, view: View, action: Mark | Unmark | DeleteNode) -> None:
        if view.node is None:
            return
        labels = mark_labels(view.claim)
        match action:
            case Mark():
                self.cluster.mark_node(view.node.name, DISRUPTED, labels)
            case Unmark():
                self.cluster.unmark_node(view.node.name, DISRUPTED, tuple(labels))
            case DeleteNode():
                self.cluster.delete_node(view.node.name, view.node.uid)

    def _evict(self, view: View, pod: Pod, now: datetime) -> bool:
        eviction = self.cluster.evict(pod.key, pod.uid)
        if eviction.answer != "later":
            return True
        if view.retirement.attempts == 0:  # said once, not at every look
            message = f"node {pod.node_name} is leaving ({view.retirement.reason}) and waits: {eviction.why}"
            with contextlib.suppress(OutsideError):
                self.cluster.record_event(pod.key, pod.uid, HELD_REASON, message, now)
        return False
