"""A webhook call becomes a hint: the only thing notify does.

The body comes from an unauthenticated caller and is believed in nothing but which duty to wake;
the token in the path says which cluster. Kubernetes waits for the answer, so it is always
"allowed", whatever happened inside (architecture §3).
"""

import hmac
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import msgspec

from nodewright.application.errors import NotFoundError, OutsideError
from nodewright.application.ports import Duty, Hints, Ledger, Observer
from nodewright.domain.clusters import ConnectedCluster, token_hash

#: How long a container believes the token hashes it read; a revoked token works no longer than this.
TOKEN_MEMORY = timedelta(seconds=60)


class UnreadableReviewError(Exception):
    """The body is no AdmissionReview with a uid: there is nothing to answer to."""


class _RawResource(msgspec.Struct):
    resource: str = ""


class _RawRequest(msgspec.Struct, rename="camel"):
    uid: str
    resource: _RawResource = msgspec.field(default_factory=_RawResource)
    dry_run: bool = False


class _RawReview(msgspec.Struct, rename="camel"):
    request: _RawRequest
    api_version: str = "admission.k8s.io/v1"


@dataclass(frozen=True, slots=True)
class Review:
    """What is read of an AdmissionReview."""

    uid: str
    resource: str
    dry_run: bool
    api_version: str


@dataclass(slots=True)
class Notify:
    """The use case, with the token hashes this container has read."""

    ledger: Ledger
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
        known = self._cluster(cluster, now)
        digest = token_hash(token)
        accepted = known.token_hashes if known else ()
        # Every hash is compared, so the time taken says nothing about which one matched.
        matches = [hmac.compare_digest(digest, stored) for stored in accepted]
        if any(matches):
            return True
        self.observer.problem(
            cluster, "webhook-token", "unknown cluster or wrong token: run `nodewright connect` again"
        )
        return False

    def _cluster(self, name: str, now: datetime) -> ConnectedCluster | None:
        read, cluster = self._clusters.get(name, (None, None))
        if read is None or now - read > TOKEN_MEMORY:
            cluster = self._read_cluster(name)
            if len(self._clusters) >= 1000:  # names come from outside: bound what a stranger can make us remember
                self._clusters.clear()
            self._clusters[name] = (now, cluster)
        return cluster

    def _read_cluster(self, name: str) -> ConnectedCluster | None:
        try:
            return self.ledger.cluster(name)
        except NotFoundError:
            return None


def read_review(body: bytes) -> Review:
    """Uid, resource and dryRun; UnreadableReviewError where no uid can be read."""
    try:
        raw = msgspec.json.decode(body, type=_RawReview)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableReviewError(f"no AdmissionReview with request.uid: {error}") from error
    if not raw.request.uid:
        raise UnreadableReviewError("request.uid is empty")
    return Review(raw.request.uid, raw.request.resource.resource, raw.request.dry_run, raw.api_version)


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
