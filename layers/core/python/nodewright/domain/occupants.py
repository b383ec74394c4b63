"""Whom a node is there for: what keeps it from being empty, and whose coming and going counts.

Neither a DaemonSet's pods nor kubelet's own: they come with the node and go with it (karpenter-behaviour §8.4).
"""

import hashlib
from collections.abc import Iterable

from nodewright.domain.draining import is_mirror
from nodewright.domain.pods import Pod


def occupants(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """Of the pods of a node, in their order."""
    return tuple(pod for pod in pods if not (pod.is_terminal or pod.is_daemon or is_mirror(pod)))


def fingerprint(pods: Iterable[Pod]) -> str:
    """Differs whenever an occupant came, ended or began to end; never empty."""
    who = sorted(f"{pod.uid} {pod.terminating}" for pod in occupants(pods))
    return hashlib.sha256("\n".join(who).encode()).hexdigest()[:16]
