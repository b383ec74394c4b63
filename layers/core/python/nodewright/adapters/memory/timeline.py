"""Virtual time in which things happen: one loop of events, no threads."""

import heapq
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count

from nodewright.adapters.memory.clock import VirtualClock

Action = Callable[[], None]


class Timeline(VirtualClock):
    """Whoever sleeps lets happen what is due meanwhile, on top of his own call: so runs overtake each other.

    Something that takes long while another waits makes that one late, as a slow machine would. Events of
    one moment happen in the order they were asked for.
    """

    def __init__(self, start: datetime) -> None:
        super().__init__(start)
        self._events: list[tuple[datetime, int, Action]] = []
        self._order = count()

    def at(self, moment: datetime, action: Action) -> None:
        """Let it happen then; at once, in turn, where the moment has passed."""
        heapq.heappush(self._events, (max(moment, self.now()), next(self._order), action))

    def after(self, duration: timedelta, action: Action) -> None:
        """Let it happen so much later."""
        self.at(self.now() + duration, action)

    def every(self, period: timedelta, action: Action) -> None:
        """Let it happen again and again, for the first time a period from now."""

        def again() -> None:
            self.every(period, action)
            action()

        self.after(period, again)

    def sleep(self, duration: timedelta) -> None:
        """What is due by then happens first."""
        self.run_until(self.now() + max(duration, timedelta()))

    def run_until(self, moment: datetime) -> None:
        """Let happen what is due, then be there."""
        while self._events and self._events[0][0] <= moment:
            due, _, action = heapq.heappop(self._events)
            self.advance_to(due)
            action()
        self.advance_to(moment)
