"""Tells capacity buffers how they are, in their status; best effort, since nothing waits for it."""

from collections.abc import Mapping
from datetime import datetime

from nodewright.application.errors import ConflictError, NotFoundError, OutsideError, RefusedError
from nodewright.application.ports import Cluster, ClusterState, Observer
from nodewright.domain.buffer_status import UnitRoom, status_of
from nodewright.domain.pods import PodKey


def tell_buffers(
    name: str,
    cluster: Cluster,
    state: ClusterState,
    rooms: Mapping[PodKey, UnitRoom],
    observer: Observer,
    now: datetime,
) -> None:
    """Those of which something else is to be said than is told. Of a buffer that isn't in `rooms` only how it reads.

    Whoever finds it changed leaves it: who changed it looks at it again, and so does reconcile each minute.
    """
    for reading in state.buffer_readings:
        status = status_of(reading, rooms.get(reading.key), now)
        if status == reading.told:
            continue
        try:
            cluster.tell_buffer(reading.key, reading.version, status)
        except (ConflictError, NotFoundError):
            continue
        except OutsideError as error:
            fix = f"; run `nodewright connect {name}` to allow it" if isinstance(error, RefusedError) else ""
            observer.problem(name, "buffer status", f"{error}{fix}")
            return
