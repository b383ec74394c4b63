"""How many pods of a group a node may hold, as a resource that its pods take and every node has so much of.

Packings then keep it as they keep cpu. What is such a number by a rule itself bounds costs, too.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
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
    _share: AbstractSet[int]
    """Rules whose pods take of what is chosen."""

    @property
    def every(self) -> Mapping[str, int]:
        """Both."""
        return {**self.proven, **self.chosen}

    def of(self, kind: Kind) -> Resources:
        """What one of its pods takes."""
        shared = {name: 1 for name in self.chosen if not self._share.isdisjoint(kind.owns)}
        return self.proven_of(kind) + Resources(shared)

    def proven_of(self, kind: Kind) -> Resources:
        """Of what rules number: their own pods that they count."""
        numbered = (self._names[rule] for rule in kind.owns if rule in self._names and rule in kind.selected)
        return Resources(dict.fromkeys(numbered, 1))


def caps(tangle: Tangle, gatherings: Iterable[Gathering]) -> Caps:
    """Of these groups."""
    rules = {rule: sort for each in gatherings for rule, sort in each.rules.items()}
    apart = {rule for rule, sort in rules.items() if sort is Sort.APART}
    choosy = frozenset(rule for rule in apart if isinstance(tangle.rules[rule], SpreadRule))
    numbered = [rule for rule, sort in rules.items() if sort is Sort.CAPPED or rule in apart - choosy]
    return Caps(
        proven={f"{_PREFIX}{rule}": _most(tangle.rules[rule]) for rule in numbered},
        chosen={_SHARE: _MOST_CHOOSY} if choosy else {},
        _names={rule: f"{_PREFIX}{rule}" for rule in numbered},
        _share=choosy,
    )


_PREFIX: Final = "nodewright.dev/together-"
_SHARE: Final = "nodewright.dev/spread-over-hosts"
_MOST_CHOOSY: Final = 4
"""More pods on a node that mind the others' labels leave too little choice (planning.md, "Constraints, by kind")."""


def _most(rule: Rule) -> int:
    return rule.max_skew if isinstance(rule, SpreadRule) else 1
