"""Asking controllers of pods that wait how many more are to come (architecture §7; docs/decisions/0010).

One GET a controller, of few: whatever can't be read is foreseen nothing of, and keeps no pod from its node.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from nodewright.application.errors import NotFoundError, OutsideError, RefusedError
from nodewright.application.ports import Cluster, ClusterState, ManifestWarning
from nodewright.domain.expected_pods import LOOK_AHEAD, Prospect, expected_pods, prospects, setting_problem
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.snapshot import Snapshot
from nodewright.domain.unknown_namespaces import without_namespaces
from nodewright.domain.volumes import with_volumes
from nodewright.domain.workloads import Workload

#: Controllers asked in one run, those of most pods first; at some 5 ms each that is a tenth of a second.
MOST: Final = 20
#: Pods expected in one run, of all controllers together: they are planned in a few seconds.
MOST_PODS: Final = 10_000


@dataclass(slots=True)
class LookAhead:
    """One look, on one reading of a cluster."""

    cluster: Cluster
    state: ClusterState
    warnings: list[ManifestWarning] = field(default_factory=list)

    def __call__(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with the pods that are to be expected; `warnings` says of whom nothing could be learnt."""
        found = prospects(self.state.pods, self._waiting(snapshot), snapshot.set_aside, snapshot.now)
        taken = {pod.key for pod in self.state.pods}
        foreseen = (pod for each in self._answered(found) for pod in self._of(each, taken, snapshot))
        expected = tuple(islice(foreseen, MOST_PODS))
        if not expected:
            return snapshot
        known = with_volumes((*self.state.pods, *expected), self.state.storage)[len(self.state.pods) :]
        return replace(snapshot, expected=without_namespaces(known) if self.state.namespaces is None else known)

    def _waiting(self, snapshot: Snapshot) -> Iterator[Pod]:
        """As they were read; not those that have to leave their nodes, nor those that can have none."""
        sound = {pod.key for pod in snapshot.pods if not pod.problems}
        return (pod for pod in self.state.pods if pod.key in sound and not pod.node_name)

    def _answered(self, found: Sequence[Prospect]) -> Iterator[tuple[Prospect, Workload]]:
        """Nobody is asked further once the API server refuses or doesn't answer."""
        for prospect in found[:MOST]:
            self._check(f"Pod/{prospect.template.key}", prospect.template.annotations.get(LOOK_AHEAD, ""))
            try:
                workload = self.cluster.workload(prospect.namespace, prospect.owner)
            except NotFoundError:
                continue
            except OutsideError as error:
                self._warn(prospect, error)
                return
            if workload is not None:
                self._check(str(workload), workload.look_ahead)
                yield prospect, workload

    def _of(self, asked: tuple[Prospect, Workload], taken: set[PodKey], snapshot: Snapshot) -> Iterable[Pod]:
        prospect, workload = asked
        found = expected_pods(prospect, workload, taken, self.state.storage, snapshot.now)
        taken.update(pod.key for pod in found)
        return found

    def _check(self, of: str, value: str) -> None:
        if problem := setting_problem(value):
            self.warnings.append(ManifestWarning(of, f"metadata.annotations.{LOOK_AHEAD}", problem))

    def _warn(self, prospect: Prospect, error: OutsideError) -> None:
        owner = prospect.owner
        fix = "; run `nodewright connect` again to grant it" if isinstance(error, RefusedError) else ""
        message = f"it can't be read, so pods that it has yet to make are not planned{fix} ({error})"
        self.warnings.append(ManifestWarning(f"{owner.kind}/{prospect.namespace}/{owner.name}", "", message))
