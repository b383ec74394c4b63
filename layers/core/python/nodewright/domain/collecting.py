"""Work that makes many objects and no cycles."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Iterator[None]:
    """Nothing is looked for that only a cycle would keep: that takes four fifths of the time of reading YAML, and up
    to a fifth of planning (python -m benchmarks solve), and finds none. Whatever else is freed is freed at once, as
    always; where nobody collected before, nobody does afterwards.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
