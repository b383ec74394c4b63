"""Killing a function between any two of its calls to the outside."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import cast

from nodewright.adapters.memory import VirtualClock


class KilledError(BaseException):
    """The function was killed: nothing of ours runs any more."""


@dataclass
class Fuse:
    """Kills the function after so many calls to the outside, each of which takes a millisecond; None never."""

    clock: VirtualClock
    calls: int | None = None
    made: list[str] = field(default_factory=list)

    def burn(self, what: str) -> None:
        self.made.append(what)
        self.clock.sleep(timedelta(milliseconds=1))
        if self.calls is not None and len(self.made) >= self.calls:
            raise KilledError(what)

    def renew(self, calls: int | None = None) -> None:
        """The next run's."""
        self.calls = calls
        self.made.clear()


class Fused:
    """A port whose every call burns the fuse after it took effect."""

    def __init__(self, port: object, fuse: Fuse) -> None:
        self._port = port
        self._fuse = fuse

    def __getattr__(self, name: str) -> object:
        method = cast("Callable[..., object]", getattr(self._port, name))

        def call(*args: object, **kwargs: object) -> object:
            result = method(*args, **kwargs)
            self._fuse.burn(f"{type(self._port).__name__}.{name}")
            return result

        return call
