"""How many pods of a group a node may hold, as a resource that its pods take and every node has so much of.

Packings then keep it as they keep cpu. What is such a number by a rule itself bounds costs, too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from nodewright.domain.quantities import Resources
from nodewright.domain.scheduling.entangled import Kind, Tangle
from nodewright.domain.scheduling.gathering import Gathering, Sort
from nodewright.domain.scheduling.rules import Rule, SpreadRule


@dataclass(frozen=True, slots=True)
class Caps:
    """Of one plan."""

    proven: Mapping[str, int]
    """By rules: what each node has of these."""
    chosen: Mapping[str, int]
    """So that pods find nodes in seating.py, too."""
    _names: Mapping[int, str]

    @property
    def every(self) -> Mapping[str, int]:
        """Both."""
        return {**self.proven, **self.chosen}

    def of(self, kind: Kind) -> Resources:
        """What one of its pods takes."""
        return Resources(dict.fromkeys((self._names[rule] for rule in kind.owns if rule in self._names), 1))

    def proven_of(self, kind: Kind) -> Resources:
        """Of what rules number."""
        return Resources({name: 1 for name in self.of(kind) if name in self.proven})


def caps(tangle: Tangle, gatherings: Iterable[Gathering]) -> Caps:
    """Of these groups."""
    rules = {rule: sort for each in gatherings for rule, sort in each.rules.items()}
    capped = {rule: f"{_PREFIX}{rule}" for rule, sort in rules.items() if sort is Sort.CAPPED}
    choosy = [rule for rule, sort in rules.items() if sort is Sort.APART and isinstance(tangle.rules[rule], SpreadRule)]
    return Caps(
        proven={name: _most(tangle.rules[rule]) for rule, name in capped.items()},
        chosen={_SHARE: _MOST_CHOOSY} if choosy else {},
        _names=capped | dict.fromkeys(choosy, _SHARE),
    )


_PREFIX: Final = "nodewright.dev/together-"
_SHARE: Final = "nodewright.dev/spread-over-hosts"
_MOST_CHOOSY: Final = 4
"""More pods on a node that mind the others' labels leave too little choice (planning.md, "Constraints, by kind")."""


def _most(rule: Rule) -> int:
    return rule.max_skew if isinstance(rule, SpreadRule) else 1
