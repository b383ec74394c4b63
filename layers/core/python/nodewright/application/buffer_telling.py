"""Tells capacity buffers how they are, in their status; best effort, since nothing waits for it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from nodewright.application.errors import ConflictError, OutsideError, UnavailableError, UnreachableError
from nodewright.application.ports import Cluster, ClusterState, Observer
from nodewright.domain.buffer_status import BufferReading, BufferStatus, UnitRoom, status_of
from nodewright.domain.pods import PodKey

#: Failures that may pass, in one run: each can cost a wait, and whoever tells has more to do.
PATIENCE: Final = 3


def tell_buffers(
    name: str,
    cluster: Cluster,
    state: ClusterState,
    rooms: Mapping[PodKey, UnitRoom],
    observer: Observer,
    now: datetime,
) -> None:
    """Those of which something else is to be said than is told. Of a buffer that isn't in `rooms` only how it reads.

    Each by itself: what is refused to one (by its schema, a policy, a role for a namespace) may be right for another.
    """
    passing = 0
    for reading in state.buffer_readings:
        status = status_of(reading, rooms.get(reading.key), now)
        failure = None if status == reading.told else _failure(cluster, reading, status)
        if failure is None:
            continue
        passing += isinstance(failure, UnavailableError)
        ends = isinstance(failure, UnreachableError) or passing == PATIENCE
        later = "; the next run tries again, and tells those after it" if ends else ""
        observer.problem(name, "buffer status", f"CapacityBuffer {reading.key}: {failure}{later}")
        if ends:
            return


def _failure(cluster: Cluster, reading: BufferReading, status: BufferStatus) -> OutsideError | None:
    """Whoever finds it changed leaves it: who changed it looks at it again, and so does reconcile each minute."""
    try:
        cluster.tell_buffer(reading.key, reading.version, status)
    except ConflictError:
        return None
    except OutsideError as error:
        return error
    return None
