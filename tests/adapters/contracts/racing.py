"""Many at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

T = TypeVar("T")


def at_once(act: Callable[[int], T], runners: int) -> list[T]:
    """What each of so many threads that start together comes to."""
    start = Barrier(runners)

    def run(number: int) -> T:
        start.wait()
        return act(number)

    with ThreadPoolExecutor(runners) as pool:
        return list(pool.map(run, range(runners)))
