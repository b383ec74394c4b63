"""Pods that KWOK overlooked.

KWOK plays kubelet only where it sees that it holds the node's lease, and it learns of leases by a watch of their own.
What happens to a pod before that is seen it passes over. It looks at a node's pods once more when it has taken the
lease, but by the same watch; if that lags, as on a busy machine or when the lease of an earlier node of that name is
just being collected, nothing ever makes it look again. A change of the pod does.
"""

import contextlib
import threading
import time
from dataclasses import dataclass, field
from typing import Final

from sandbox.controlplane.client import Client, Object

#: So long a bound pod may wait for its kubelet: KWOK starts fifty a second on a busy machine, one after the other.
PATIENCE_SECONDS: Final = 15.0
#: So many at a look, should they only be waiting for their turn after all.
AT_ONCE: Final = 10
#: A kubelet that was silenced starts nothing, however often its pods change.
TIMES: Final = 3
ANNOTATION: Final = "sandbox.nodewright.dev/nudged"
_LOOK_SECONDS: Final = 2.0
_BOUND_AND_WAITING: Final = "spec.nodeName!=,status.phase=Pending"


@dataclass(slots=True)
class Nudger:
    """Looks every other second between start and stop."""

    client: Client
    _due: dict[str, tuple[float, int]] = field(default_factory=dict)
    """Pod's uid → when it is nudged next, and how often it has been."""
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to look."""
        self._thread = threading.Thread(target=self._run, name="nudger", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End, before the API server does."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def look(self, now: float) -> None:
        """One look, at this moment of a monotonic clock."""
        waiting = self.client.objects("v1", "Pod", fields=_BOUND_AND_WAITING)
        known = {pod["metadata"]["uid"]: pod for pod in waiting}
        self._due = {uid: self._due.get(uid, (now + PATIENCE_SECONDS, 0)) for uid in known}
        late = sorted((due, times, uid) for uid, (due, times) in self._due.items() if due <= now and times < TIMES)
        for _, times, uid in late[:AT_ONCE]:
            self._nudge(known[uid], times + 1)
            self._due[uid] = (now + PATIENCE_SECONDS, times + 1)

    def _run(self) -> None:
        while not self._over.wait(_LOOK_SECONDS):
            # Whatever fails now, as in the middle of a reset, is tried again at the next look.
            with contextlib.suppress(Exception):
                self.look(time.monotonic())

    def _nudge(self, pod: Object, times: int) -> None:
        metadata = pod["metadata"]
        change = {"metadata": {"annotations": {ANNOTATION: str(times)}}}
        self.client.patch("v1", "Pod", metadata["name"], change, metadata["namespace"])
