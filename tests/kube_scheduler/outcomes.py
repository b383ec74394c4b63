"""What was planned for a generated cluster, what kube-scheduler did, and whether the two agree."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from nodewright.domain.plans import Plan
from nodewright.domain.pods import PodKey
from tests.kube_scheduler.buying import Bought
from tests.kube_scheduler.generated import GeneratedCluster
from tests.kube_scheduler.settling import Bindings


@dataclass(frozen=True, slots=True)
class Round:
    """One plan, carried out, and every pod of the cluster after that."""

    cluster: GeneratedCluster
    plan: Plan
    bought: Bought
    bindings: Bindings

    @property
    def kept(self) -> tuple[PodKey, ...]:
        """Planned, and bound there."""
        return tuple(pod for pod, node in self.bought.planned.items() if self.bindings.nodes.get(pod) == node)

    @property
    def elsewhere(self) -> tuple[PodKey, ...]:
        """Planned, and bound to another node."""
        return tuple(pod for pod, node in self.bought.planned.items() if self.bindings.nodes.get(pod, node) != node)

    @property
    def stranded(self) -> tuple[PodKey, ...]:
        """Planned, and without a node: bought in vain. Which of equal pods has none doesn't count."""
        lacking = self._planned() - self._placed()
        return tuple(self._some(lacking, (pod for pod in self.bought.planned if pod not in self.bindings.nodes)))

    @property
    def underrated(self) -> tuple[PodKey, ...]:
        """Called unschedulable and bound nevertheless, beside all of its equals that were planned.

        Judged only where all the others are where they were planned: else it isn't the world that was planned for.
        A cordoned node takes pods that tolerate everything; by choice none are planned for it.
        """
        if self.elsewhere or self.stranded:
            return ()
        called = [each.pod for each in self.plan.unschedulable if each.pod not in self.limited]
        found = self._some(self._placed() - self._planned(), (pod for pod in called if pod in self.bindings.nodes))
        return tuple(pod for pod in found if self.bindings.nodes[pod] not in self.cluster.cordoned)

    @property
    def limited(self) -> frozenset[PodKey]:
        """Left because a pool's limits end: a larger node than planned may have room for them all the same."""
        if not any("limits" in pool["spec"] for pool in self.cluster.pools):
            return frozenset()
        return frozenset(each.pod for each in self.plan.unschedulable if each.reason == "LimitReached")

    @property
    def settled(self) -> bool:
        """Whether planning again would tell nothing new."""
        return not (self.stranded or self.elsewhere) or self.bindings.nodes.keys() >= self.cluster.twins.keys()

    def _planned(self) -> Counter[str]:
        return Counter(self.cluster.twins[pod] for pod in self.bought.planned)

    def _placed(self) -> Counter[str]:
        pods = self.bought.planned.keys() | {each.pod for each in self.plan.unschedulable}
        return Counter(self.cluster.twins[pod] for pod in pods if pod in self.bindings.nodes)

    def _some(self, counts: Counter[str], pods: Iterable[PodKey]) -> Iterator[PodKey]:
        """As many of each kind."""
        left = counts.copy()
        for pod in pods:
            if left[self.cluster.twins[pod]] > 0:
                left[self.cluster.twins[pod]] -= 1
                yield pod


@dataclass(frozen=True, slots=True)
class Outcome:
    """Round after round, until nothing is left to plan; `given_up` would take nodes that we could have bought."""

    cluster: GeneratedCluster
    rounds: tuple[Round, ...]
    given_up: Mapping[PodKey, str]

    @property
    def first(self) -> Round:
        """The plan that is compared; later ones are for those that other pods' free choice left behind."""
        return self.rounds[0]

    @property
    def stranded(self) -> tuple[PodKey, ...]:
        """Bought for again and again."""
        return self.rounds[-1].stranded

    @property
    def underrated(self) -> tuple[PodKey, ...]:
        """In any round."""
        return tuple(pod for each in self.rounds for pod in each.underrated)

    @property
    def agrees(self) -> bool:
        """Whether kube-scheduler did what we said it could, and no more."""
        return not (self.stranded or self.underrated or self.given_up)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for number, each in enumerate(self.rounds, 1):
            planned, nodes = each.bought.planned, each.bindings.nodes
            yield (
                f"seed {self.cluster.seed}, plan {number}: {len(planned)} pods, {len(each.kept)} bound as planned, "
                f"{len(each.elsewhere)} elsewhere, {len(each.stranded)} not at all"
            )
            for pod in each.stranded:
                yield f"  {pod} isn't bound; planned for {planned[pod]}; kube-scheduler: {each.bindings.words.get(pod)}"
            for pod in each.elsewhere:
                yield f"  {pod} is bound to {nodes[pod]}; planned for {planned[pod]}"
            for pod in each.underrated:
                yield f"  {pod} is bound to {nodes[pod]}; we said {_reason(each.plan, pod)}"
        for pod, node in self.given_up.items():
            yield f"  {pod} would take {node}; we said {_reason(self.rounds[-1].plan, pod)}"


def _reason(plan: Plan, pod: PodKey) -> str:
    return next((f"{each.reason}: {each.message}" for each in plan.unschedulable if each.pod == pod), "nothing")
