"""Which rules select a pod, found by its labels instead of asking every rule."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from nodewright.domain.scheduling.rules import Rule, counts_nothing, selectors
from nodewright.domain.topology import Namespaces, PodSelector


class Selections:
    """An index of rules by one label value that they require; those that require none are always asked."""

    def __init__(self, rules: Sequence[Rule], namespaces: Namespaces) -> None:
        self._selectors = [selectors(rule) for rule in rules]
        self._namespaces = namespaces
        self._by_label: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self._always: list[int] = []
        self._known: dict[tuple[str, tuple[str | None, ...]], tuple[int, ...]] = {}
        for index, rule in enumerate(rules):
            if not counts_nothing(rule) and all(selector.labels is not None for selector in self._selectors[index]):
                self._file(index)
        self._read = sorted({key for several in self._selectors for each in several for key in each.labels or ()})

    def of(self, namespace: str, labels: Mapping[str, str]) -> tuple[int, ...]:
        """Indices of the rules that count a pod of these labels."""
        seen = (namespace, tuple(labels.get(key) for key in self._read))
        if seen not in self._known:
            self._known[seen] = self._judge(namespace, labels)
        return self._known[seen]

    def _file(self, index: int) -> None:
        labels = _required(self._selectors[index])
        if labels is None:
            self._always.append(index)
            return
        for value in labels[1]:
            self._by_label[labels[0], value].append(index)

    def _judge(self, namespace: str, labels: Mapping[str, str]) -> tuple[int, ...]:
        candidates = set(self._always)
        for label in labels.items():
            candidates.update(self._by_label.get(label, ()))
        return tuple(
            index
            for index in sorted(candidates)
            if all(each.selects(namespace, labels, self._namespaces) for each in self._selectors[index])
        )


def _required(several: Sequence[PodSelector]) -> tuple[str, tuple[str, ...]] | None:
    """A label, and the values of it one of which a selected pod must have."""
    for selector in several:
        for key, requirement in (selector.labels or {}).items():
            if not (requirement.complement or requirement.allows_absent):
                return key, tuple(sorted(requirement.values))
    return None
