"""What was worked out for each opened node, by question: only nodes that changed since are asked about anew."""

from collections.abc import Callable, Hashable
from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Ints

_MOST: Final = 256
"""Questions remembered at once."""


class Remembering:
    """Answers are numbers of every node, so many rows as the question has parts."""

    def __init__(self) -> None:
        self._changed = np.zeros(0, dtype=np.int64)
        self._turn = 0
        self._known: dict[Hashable, tuple[int, Ints]] = {}

    def add(self) -> None:
        """There is one node more."""
        self._turn += 1
        self._changed = np.append(self._changed, self._turn)

    def touch(self, node: int) -> None:
        """It isn't what it was."""
        self._turn += 1
        self._changed[node] = self._turn

    def ask(self, question: Hashable, answer: Callable[[Ints], Ints]) -> Ints:
        """Parts × nodes; `answer` is given the nodes that it doesn't know of."""
        turn, known = self._known.get(question, (0, None))
        stale = np.flatnonzero(self._changed > turn)
        if known is None or len(stale):
            found = answer(stale)
            if known is None or known.shape[1] < len(self._changed):
                before, known = known, np.zeros((len(found), len(self._changed)), dtype=np.int64)
                if before is not None:
                    known[:, : before.shape[1]] = before
            known[:, stale] = found
            if len(self._known) >= _MOST:
                self._known.clear()
        self._known[question] = (self._turn, known)
        return known
