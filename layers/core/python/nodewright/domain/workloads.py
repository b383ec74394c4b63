"""Controllers of pods, as far as they tell how many more of them are to come."""

from dataclasses import dataclass

from nodewright.domain.pods import Owner


@dataclass(frozen=True, slots=True)
class Workload:
    """A ReplicaSet, Job or StatefulSet."""

    namespace: str
    owner: Owner
    """As its pods name it."""
    wanted: int
    """Pods that it wants to have now."""
    waits_for_the_dying: bool = False
    """A pod that is being deleted holds its place until it is gone: only then its successor is made."""
    look_ahead: str = ""
    """What its annotation of that name says."""
    silent: str = ""
    """Why no pod is to be expected of it; empty: nothing speaks against it."""

    def __str__(self) -> str:
        return f"{self.owner.kind}/{self.namespace}/{self.owner.name}"
