"""What DaemonSets really take (users-ask.md 26): LimitRanges and admission webhooks change their pods, not them."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from nodewright.domain.pods import DaemonSet, Pod, PodKey
from nodewright.domain.quantities import Resources

_GENERATION_LABEL: Final = "pod-template-generation"
"""Of a DaemonSet's pods, by its controller."""


def with_live_requests(daemon_sets: Iterable[DaemonSet], pods: Iterable[Pod]) -> tuple[DaemonSet, ...]:
    """Each with the requests of its live pods where it has some of its current template: the largest of each."""
    live: dict[tuple[PodKey, str], Resources] = {}
    for pod in pods:
        if pod.owner is None or pod.owner.kind != "DaemonSet" or pod.is_terminal:
            continue
        key = (PodKey(pod.key.namespace, pod.owner.name), pod.labels.get(_GENERATION_LABEL, ""))
        known = live.get(key)
        if known is None or known != pod.requests:
            live[key] = pod.requests if known is None else known.maximum(pod.requests)
    return tuple(
        replace(each, requests=live.get((each.key, each.generation), each.requests)) if live else each
        for each in daemon_sets
    )
