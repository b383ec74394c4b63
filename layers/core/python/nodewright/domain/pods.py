"""Pods: what one asks of a node, and whether it is waiting for one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from nodewright.domain.durations import go_duration
from nodewright.domain.host_ports import HostPort
from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirements
from nodewright.domain.taints import Toleration
from nodewright.domain.topology import NO_PREFERENCES, PodAffinityTerm, Preferences, TopologySpread

DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
EBS_DRIVER = "ebs.csi.aws.com"
"""Also of volumes that were made before there was a driver: Kubernetes hands them over to it."""


StandsFor = Literal["itself", "expected", "headroom"]
"""A pod that exists, one its controller is about to make (domain/expected_pods.py), or room that is kept free
(domain/headroom.py)."""


class PodKey(NamedTuple):
    """Name of a pod within its cluster."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Owner:
    """The controller of a pod."""

    kind: str
    name: str
    uid: str


class Attachment(NamedTuple):
    """A volume that a CSI driver attaches to a node; two pods of one node share it."""

    driver: str
    volume: str
    """The volume's handle, or `namespace/claim` while there is none."""


class ClaimTemplate(NamedTuple):
    """A claim that Kubernetes makes for an ephemeral volume of a pod, soon after the pod."""

    name: str
    storage_class: str | None
    """None: the cluster's default one."""


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod, with its effective requests (`effective_requests`) and hard node constraints."""

    key: PodKey
    uid: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    requests: Resources
    """Includes `pods: 1`."""
    alternatives: tuple[Requirements, ...]
    """nodeSelector and each required node-affinity term, ANDed; the terms are OR. Never empty:
    a pod without any has one empty Requirements. A pod whose terms can match no node (empty term
    lists) has none, by Kubernetes' rule, and says so in `problems`."""
    tolerations: tuple[Toleration, ...]
    created: datetime
    node_name: str = ""
    nominated_node_name: str = ""
    scheduler_name: str = "default-scheduler"
    phase: str = "Pending"
    priority: int = 0
    owner: Owner | None = None
    gated: bool = False
    terminating: bool = False
    unschedulable: bool = False
    """Condition PodScheduled is False with reason Unschedulable."""
    unschedulable_message: str = ""
    """Why, in kube-scheduler's words."""
    ready: bool = False
    """Condition Ready is True."""
    critical: bool = False
    """Priority class system-cluster-critical or system-node-critical: evicted last."""
    termination_grace_seconds: int = 30
    started: datetime | None = None
    """status.startTime."""
    deletion: datetime | None = None
    """metadata.deletionTimestamp: when its grace ends."""
    spreads: tuple[TopologySpread, ...] = ()
    affinity: tuple[PodAffinityTerm, ...] = ()
    """Required pod affinity: each term must hold."""
    anti_affinity: tuple[PodAffinityTerm, ...] = ()
    """Required pod anti-affinity; it also keeps others away once the pod is there."""
    preferences: Preferences = NO_PREFERENCES
    host_ports: tuple[HostPort, ...] = ()
    claim_names: tuple[str, ...] = ()
    """PersistentVolumeClaims of its namespace that it mounts, those of ephemeral volumes included."""
    claim_templates: tuple[ClaimTemplate, ...] = ()
    """Those of its claims that may not be there yet."""
    volume_nodes: tuple[Requirements, ...] = (Requirements(),)
    """Where its volumes can be reached: one of these must hold, too. Spread doesn't look at it. Set by
    `domain/volumes.py`, which tells in `problems` where nothing would do."""
    attachments: frozenset[Attachment] = frozenset()
    """What is attached for it; from `domain/volumes.py`, too."""
    problems: tuple[str, ...] = field(default=())
    """Why no node may be bought for it whatever the catalogue (resourceClaims, an unreadable or
    not yet honoured constraint …); each says the field and the fix."""
    stands_for: StandsFor = "itself"
    """Whether it is a pod that exists; of the others nobody is told, and nothing is nominated."""

    @property
    def is_daemon(self) -> bool:
        """Belongs to a DaemonSet, or is a node's own mirror pod: it brings no node."""
        return self.owner is not None and self.owner.kind in {"DaemonSet", "Node"}

    def forbids_disruption(self, now: datetime) -> bool:
        """Annotation karpenter.sh/do-not-disrupt: "true", or a duration since its start not yet over.

        A finished pod forbids nothing. What can't be read counts as "true": fail closed.
        """
        value = self.annotations.get(DO_NOT_DISRUPT, "false")
        if self.is_terminal or value == "false":
            return False
        lasts = go_duration(value)
        if lasts is None or self.started is None:
            return True
        return now < self.started + lasts

    @property
    def is_terminal(self) -> bool:
        """Has finished and holds nothing."""
        return self.phase in {"Succeeded", "Failed"}


@dataclass(frozen=True, slots=True)
class DaemonSet:
    """What a DaemonSet puts on every node it matches."""

    key: PodKey
    requests: Resources
    alternatives: tuple[Requirements, ...]
    tolerations: tuple[Toleration, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    """Of its pods: rules between pods count them, too."""
    host_ports: tuple[HostPort, ...] = ()
    generation: str = ""
    """Of its template, which its pods have as a label; empty where it isn't known."""
