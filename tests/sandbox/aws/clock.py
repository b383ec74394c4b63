"""A clock that goes with the real one, and can be put forward."""

from datetime import UTC, datetime, timedelta


class Clock:
    def __init__(self) -> None:
        self._ahead = timedelta(0)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self._ahead  # noqa: TID251  tests are where time may come from

    def advance(self, **amount: float) -> None:
        self._ahead += timedelta(**amount)

    def reset(self) -> None:
        self._ahead = timedelta(0)
