"""Events on pods (events.k8s.io/v1)."""

import hashlib
from datetime import UTC, datetime
from typing import Final, NamedTuple
from urllib.parse import quote

import msgspec

from nodewright.adapters.kubernetes_api import KubernetesApi
from nodewright.application.errors import ConflictError, NotFoundError
from nodewright.domain.pods import PodKey

#: Our webhook looks away from events whose controller starts with `nodewright`.
CONTROLLER: Final = "nodewright.dev/provisioner"
_LONGEST_NOTE: Final = 1024
_LONGEST_POD_NAME: Final = 230
_ATTEMPTS: Final = 3
_NORMAL: Final = frozenset({"Nominated"})


class Happening(NamedTuple):
    """What is said on a pod."""

    pod: PodKey
    uid: str
    reason: str
    message: str

    @property
    def name(self) -> str:
        """The same for the same news on the same pod, so that it is one event however often it is said."""
        digest = hashlib.sha256(f"{self.uid}/{self.reason}/{self.message}".encode()).hexdigest()[:16]
        return f"{self.pod.name[:_LONGEST_POD_NAME].rstrip('-.')}.{digest}"


def record(api: KubernetesApi, happening: Happening, now: datetime) -> None:
    """Create the event, or count it up where it is. Somebody else's concurrent count is good enough."""
    path = f"/apis/events.k8s.io/v1/namespaces/{quote(happening.pod.namespace, safe='')}/events"
    for _ in range(_ATTEMPTS):
        try:
            api.post(path, _event(happening, now))
        except ConflictError:
            if _count_up(api, f"{path}/{happening.name}", now):
                return
        else:
            return


def _event(happening: Happening, now: datetime) -> dict[str, object]:
    pod = happening.pod
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": happening.name, "namespace": pod.namespace},
        "eventTime": _micro_time(now),
        "reportingController": CONTROLLER,
        "reportingInstance": "nodewright",
        "action": "Provisioning",
        "type": "Normal" if happening.reason in _NORMAL else "Warning",
        "reason": happening.reason,
        "note": happening.message.encode()[:_LONGEST_NOTE].decode(errors="ignore"),
        "regarding": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": pod.namespace,
            "name": pod.name,
            "uid": happening.uid,
        },
    }


def _count_up(api: KubernetesApi, path: str, now: datetime) -> bool:
    """Whether it is said; False when the event expired meanwhile and must be made anew."""
    try:
        event = api.read(path, _Event)
        # An event said once has no series; with one, the count starts at two.
        count = event.series.count + 1 if event.series else 2
        api.patch(path, {"series": {"count": count, "lastObservedTime": _micro_time(now)}})
    except NotFoundError:
        return False
    return True


def _micro_time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class _Series(msgspec.Struct):
    count: int = 1


class _Event(msgspec.Struct):
    series: _Series | None = None
