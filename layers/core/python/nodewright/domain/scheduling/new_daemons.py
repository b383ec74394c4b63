"""DaemonSets' pods that come with new nodes, where rules count them."""

from collections.abc import Sequence

import numpy as np

from nodewright.domain.pods import DaemonSet
from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.entangled import Tangle
from nodewright.domain.scheduling.roles import Role, bound_roles
from nodewright.domain.scheduling.tallies import Tallies
from nodewright.domain.scheduling.tiers import Tier, daemon_rows


class NewDaemons:
    """On nodes of one tier; pods that anti-affinity of bound ones keeps off stay pending, whatever is planned."""

    def __init__(
        self, place: Tier, localities: Ints, tangle: Tangle, daemon_sets: Sequence[DaemonSet], bound: Tallies
    ) -> None:
        self._count = len(localities)
        self._roles: list[tuple[Role, ...]] = []
        self._rows: list[Bools] = []
        for each in sorted(daemon_sets, key=lambda each: each.key):
            selected = tangle.selections.of(each.key.namespace, each.labels)
            rows = daemon_rows(place, each) & bound.unrepelled(bound_roles(selected)).localities[localities]
            if selected and rows.any():
                self._roles.append(bound_roles(selected))
                self._rows.append(rows)
        self.rules = tuple(sorted({role.rule for each in self._roles for role in each}))
        """That count some of them."""

    def on(self, row: int) -> Sequence[tuple[Role, ...]]:
        """What the pods on a node of this offering are to the rules."""
        return [roles for roles, rows in zip(self._roles, self._rows, strict=True) if rows[row]]

    def counted(self, rule: int) -> Ints:
        """How many of them a rule counts on a node of each offering."""
        several = [rows for roles, rows in zip(self._roles, self._rows, strict=True) if rule in {r.rule for r in roles}]
        return sum((rows.astype(np.int64) for rows in several), np.zeros(self._count, dtype=np.int64))
