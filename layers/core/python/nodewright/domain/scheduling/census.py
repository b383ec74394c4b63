"""How many of the pods that each soft rule counts are in each domain."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from nodewright.domain import nodes
from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.scheduling.crowds import Crowds
from nodewright.domain.scheduling.final_state import planned_labels
from nodewright.domain.scheduling.soft_rules import SoftRule
from nodewright.domain.snapshot import Snapshot

Labels = Mapping[str, str]


class Census:
    """Counts that grow as pods get their places."""

    def __init__(self, rules: Sequence[SoftRule]) -> None:
        self._rules = rules
        self.counts: list[Counter[str]] = [Counter() for _ in rules]

    def add(self, selected: Iterable[int], labels: Labels) -> None:
        """A pod that these rules count on a node of these labels."""
        for rule in selected:
            value = labels.get(self._rules[rule].key)
            if value is not None:
                self.counts[rule][value] += 1

    def copy(self) -> "Census":
        """To go on from here, and come back."""
        other = Census(self._rules)
        other.counts = [Counter(each) for each in self.counts]
        return other


def census_without(snapshot: Snapshot, plan: Plan, crowds: Crowds) -> Census:
    """Of the pods that are there, and of those planned that make no choice themselves."""
    choosing = {key for crowd in crowds.crowds for key in crowd.shape.pods}
    census = Census(crowds.rules)
    for pod, labels in _placed(snapshot, plan, choosing):
        census.add(crowds.selections.of(pod.key.namespace, pod.labels), labels)
    return census


def _placed(snapshot: Snapshot, plan: Plan, choosing: AbstractSet[PodKey]) -> Iterator[tuple[Pod, Labels]]:
    pending = {pod.key: pod for pod in snapshot.pods if pod.key not in choosing}
    for room in (*snapshot.rooms, *snapshot.bystanders):
        yield from ((pod, room.labels) for pod in room.pods)
    for keys, labels in places(snapshot, plan):
        yield from ((pending[key], labels) for key in keys if key in pending)


def places(snapshot: Snapshot, plan: Plan) -> Iterator[tuple[Sequence[PodKey], Labels]]:
    """The planned pods of each node with what is certain of its labels: of several zones none is."""
    rooms = {room.name: room for room in snapshot.rooms}
    options = {each.pool.name: each for each in snapshot.pools}
    for each in plan.nominations:
        yield each.pods, rooms[each.node].labels
    for launch in plan.launches:
        labels = planned_labels(options[launch.pool], launch)
        if len(launch.zones) > 1:
            labels = {k: v for k, v in labels.items() if k not in {nodes.ZONE_LABEL, nodes.ZONE_ID_LABEL}}
        yield from ((pods, labels) for pods in launch.nodes)
