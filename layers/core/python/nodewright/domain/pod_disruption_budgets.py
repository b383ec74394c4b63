"""Pod disruption budgets, as far as evicting looks at them."""

from collections.abc import Iterable
from dataclasses import dataclass

from nodewright.domain.pods import Pod
from nodewright.domain.requirements import Requirements


@dataclass(frozen=True, slots=True)
class PodDisruptionBudget:
    """One PDB. Its selector is read as requirements on the pod's labels."""

    namespace: str
    name: str
    selector: Requirements
    disruptions_allowed: int
    """Of its status; 0 until the disruption controller has looked."""
    always_allows_unhealthy: bool = False
    """unhealthyPodEvictionPolicy: AlwaysAllow."""

    def covers(self, pod: Pod) -> bool:
        """Whether it counts this pod."""
        return self.namespace == pod.key.namespace and self.selector.admits(pod.labels)


def blocking(pod: Pod, budgets: Iterable[PodDisruptionBudget]) -> str:
    """Why the eviction API would refuse now, or "" (more than one budget on a pod is refused always)."""
    covering = [b for b in budgets if b.covers(pod)]
    if len(covering) > 1:
        return f"{pod.key} is covered by several budgets: {', '.join(b.name for b in covering)}"
    for budget in covering:
        if budget.disruptions_allowed < 1 and not (budget.always_allows_unhealthy and not pod.ready):
            return f"{pod.key} is held by budget {budget.name}"
    return ""
