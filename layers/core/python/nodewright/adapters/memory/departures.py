"""What a cluster in memory does when nodes are emptied: budgets that count, pods that take their time to go."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from nodewright.domain.pod_disruption_budgets import PodDisruptionBudget
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.requirements import Requirements


@dataclass(frozen=True, slots=True)
class Budget:
    """A PDB as a user writes it; how much it allows now is counted, as the disruption controller does."""

    namespace: str
    name: str
    selector: Requirements
    min_available: int
    always_allows_unhealthy: bool = False

    def counted(self, pods: Iterable[Pod]) -> PodDisruptionBudget:
        """With what these pods leave it to allow."""
        empty = PodDisruptionBudget(
            self.namespace, self.name, self.selector, 0, always_allows_unhealthy=self.always_allows_unhealthy
        )
        healthy = sum(pod.ready and not pod.terminating and empty.covers(pod) for pod in pods)
        return replace(empty, disruptions_allowed=max(0, healthy - self.min_available))


def dying(pod: Pod, now: datetime, grace_seconds: int) -> Pod:
    """Told to go. Told again, only an earlier end counts."""
    end = now + timedelta(seconds=grace_seconds)
    earlier = min(end, pod.deletion) if pod.deletion else end
    return replace(pod, terminating=True, deletion=earlier)


def ended(pods: Mapping[PodKey, Pod], now: datetime) -> tuple[Pod, ...]:
    """Whose grace is over."""
    return tuple(pod for pod in pods.values() if pod.deletion is not None and pod.deletion <= now)
