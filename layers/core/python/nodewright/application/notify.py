"""A webhook call becomes a hint: the only thing notify does.

The body comes from an unauthenticated caller and is believed in nothing but which duty to wake;
the token in the path says which cluster. Kubernetes waits for the answer, so it is always
"allowed", whatever happened inside (architecture §3).
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

import msgspec

from nodewright.application.errors import NotFoundError, OutsideError
from nodewright.domain.clusters import ConnectedCluster, token_hash

if TYPE_CHECKING:
    # All ports speak of the whole domain, which would double the time of a cold start.
    from nodewright.application.ports import Duty, Hints, Observer

#: How long a container believes the token hashes it read; a revoked token works no longer than this.
TOKEN_MEMORY = timedelta(seconds=60)
#: A token it doesn't know may be one that was just made: it looks again, but no more often than this.
LOOK_AGAIN = timedelta(seconds=2)
#: Names come from outside: what a stranger can make a container remember has an end.
NAMES_REMEMBERED = 1000


class UnreadableReviewError(Exception):
    """The body is no AdmissionReview with a uid: there is nothing to answer to."""


class _RawRequest(msgspec.Struct, rename="camel"):
    uid: str
    # Whatever they are: an answer is owed to everybody who sends a uid.
    resource: object = None
    dry_run: object = None


class _RawReview(msgspec.Struct, rename="camel"):
    request: _RawRequest
    api_version: object = None


@dataclass(frozen=True, slots=True)
class Review:
    """What is read of an AdmissionReview."""

    uid: str
    resource: str
    dry_run: bool
    api_version: str


class ConnectedClusters(Protocol):
    """What notify needs of the Ledger."""

    def cluster(self, name: str) -> ConnectedCluster:
        """One; NotFoundError."""
        ...


@dataclass(slots=True)
class Notify:
    """The use case, with the token hashes this container has read."""

    connected: ConnectedClusters
    hints: Hints
    observer: Observer
    _clusters: dict[str, tuple[datetime, ConnectedCluster | None]] = field(default_factory=dict)

    def __call__(self, cluster: str, token: str, body: bytes, now: datetime) -> dict[str, object]:
        """Answer an AdmissionReview, after a hint is sent. UnreadableReviewError: answer 400."""
        review = read_review(body)
        try:
            if not review.dry_run and self._may(cluster, token, now):
                self._hint(cluster, duty(review.resource), now)
        except OutsideError as error:
            self.observer.problem(cluster, "notify", str(error))
        return allowed(review)

    def _hint(self, cluster: str, duty: Duty, now: datetime) -> None:
        self.hints.send(cluster, duty, now)
        self.observer.hint_sent(cluster, duty)

    def _may(self, cluster: str, token: str, now: datetime) -> bool:
        if any(_accepts(self._cluster(cluster, now, age), token) for age in (TOKEN_MEMORY, LOOK_AGAIN)):
            return True
        self.observer.problem(
            cluster, "webhook-token", "unknown cluster or wrong token: run `nodewright connect` again"
        )
        return False

    def _cluster(self, name: str, now: datetime, age: timedelta) -> ConnectedCluster | None:
        """As it was read at most that long ago."""
        read, cluster = self._clusters.get(name, (None, None))
        if read is None or now - read > age:
            cluster = self._read_cluster(name)
            if len(self._clusters) >= NAMES_REMEMBERED:
                self._clusters.clear()
            self._clusters[name] = (now, cluster)
        return cluster

    def _read_cluster(self, name: str) -> ConnectedCluster | None:
        try:
            return self.connected.cluster(name)
        except NotFoundError:
            return None


def _accepts(cluster: ConnectedCluster | None, token: str) -> bool:
    """Every hash is compared, so the time taken says nothing about which one matched."""
    digest = token_hash(token)
    accepted = cluster.token_hashes if cluster else ()
    return any([hmac.compare_digest(digest, stored) for stored in accepted])  # noqa: C419  all are compared


def read_review(body: bytes) -> Review:
    """Uid, resource and dryRun; UnreadableReviewError where no uid can be read."""
    try:
        raw = msgspec.json.decode(body, type=_RawReview)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableReviewError(f"no AdmissionReview with request.uid: {error}") from error
    request = raw.request
    if not request.uid:
        raise UnreadableReviewError("request.uid is empty")
    named = request.resource.get("resource") if isinstance(request.resource, dict) else None
    return Review(
        uid=request.uid,
        resource=named if isinstance(named, str) else "",
        dry_run=bool(request.dry_run),
        api_version=raw.api_version if isinstance(raw.api_version, str) else "admission.k8s.io/v1",
    )


def duty(resource: str) -> Duty:
    """Events tell of pods that don't fit; everything else watched changes what reconcile keeps true."""
    return "provision" if resource == "events" else "reconcile"


def allowed(review: Review) -> dict[str, object]:
    """The answer body."""
    return {
        "apiVersion": review.api_version,
        "kind": "AdmissionReview",
        "response": {"uid": review.uid, "allowed": True},
    }
