"""Virtual time."""

from datetime import datetime, timedelta


class VirtualClock:
    """Stands still until somebody sleeps or moves it."""

    def __init__(self, start: datetime) -> None:
        self._now = start

    def now(self) -> datetime:
        """The moment."""
        return self._now

    def sleep(self, duration: timedelta) -> None:
        """Takes no time of ours."""
        self._now += max(duration, timedelta())

    def advance_to(self, moment: datetime) -> None:
        """Forward only; a moment that has passed changes nothing."""
        self._now = max(self._now, moment)
