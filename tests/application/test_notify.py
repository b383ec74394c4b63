"""A webhook call becomes a hint, whatever the caller sends (architecture §3)."""

import json
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from nodewright.adapters.memory import Hint, InMemoryLedger, RecordedHints, RecordingObserver
from nodewright.application.errors import RefusedError, UnavailableError
from nodewright.application.notify import (
    LOOK_AGAIN,
    NAMES_REMEMBERED,
    TOKEN_MEMORY,
    Notify,
    UnreadableReviewError,
    duty,
)
from nodewright.domain.clusters import ConnectedCluster, token_hash
from tests.application.world import CLUSTER, NOW, TOKEN, connected

ALLOWED = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {"uid": "u-1", "allowed": True}}


class CountingLedger(InMemoryLedger):
    """Counts look-ups; `down` makes them fail."""

    def __init__(self) -> None:
        super().__init__()
        self.looked_up = 0
        self.down = False

    def cluster(self, name: str) -> ConnectedCluster:
        self.looked_up += 1
        if self.down:
            raise UnavailableError("the table is throttled")
        return super().cluster(name)


class RefusingHints(RecordedHints):
    def send(self, *_: object, **__: object) -> None:
        raise RefusedError("no such queue")


@dataclass
class Door:
    """notify with what it stands on."""

    hints: RecordedHints = field(default_factory=RecordedHints)
    ledger: CountingLedger = field(default_factory=CountingLedger)
    observer: RecordingObserver = field(default_factory=RecordingObserver)

    def __post_init__(self) -> None:
        self.ledger.put_cluster(connected())
        self.use = Notify(self.ledger, self.hints, self.observer)

    def call(
        self, body: bytes | None = None, *, cluster: str = CLUSTER, token: str = TOKEN, after: timedelta = timedelta()
    ) -> object:
        return self.use(cluster, token, review() if body is None else body, NOW + after)


def review(resource: object = "events", **request: object) -> bytes:
    asked = {"uid": "u-1", "resource": {"group": "", "version": "v1", "resource": resource}, "dryRun": False}
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "request": {**asked, **request}}).encode()


def test_an_event_of_a_pod_that_does_not_fit_wakes_provision() -> None:
    door = Door()
    assert door.call() == ALLOWED
    assert door.hints.sent == [Hint(CLUSTER, "provision", NOW)]
    assert door.observer.hints == [(CLUSTER, "provision")]


@pytest.mark.parametrize("resource", ["nodes", "nodepools", "ec2nodeclasses", "nodeclaims", "anything"])
def test_everything_else_that_changed_wakes_reconcile(resource: str) -> None:
    door = Door()
    door.call(review(resource))
    assert [hint.duty for hint in door.hints.sent] == ["reconcile"]
    assert duty(resource) == "reconcile"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"not json", id="no json"),
        pytest.param(b"[]", id="no object"),
        pytest.param(b"{}", id="no request"),
        pytest.param(b'{"request": null}', id="null request"),
        pytest.param(b'{"request": {}}', id="no uid"),
        pytest.param(b'{"request": {"uid": ""}}', id="empty uid"),
        pytest.param(b'{"request": {"uid": 7}}', id="uid is a number"),
        pytest.param(b'{"request": {"uid": "\xff"}}', id="no utf-8"),
        pytest.param(b'{"request": {"uid": "u"', id="cut off"),
        pytest.param(b'{"request": {"uid": "u", "object": ' + b"[" * 200_000, id="nested without end"),
    ],
)
def test_without_a_uid_there_is_nothing_to_answer(body: bytes) -> None:
    door = Door()
    with pytest.raises(UnreadableReviewError):
        door.call(body)
    assert door.hints.sent == []


@pytest.mark.parametrize(
    "body",
    [
        b'{"request": {"uid": "u-1", "resource": null}}',
        b'{"request": {"uid": "u-1", "resource": "events"}}',
        b'{"request": {"uid": "u-1", "resource": {"resource": 3}}}',
        b'{"apiVersion": 3, "request": {"uid": "u-1", "dryRun": null, "unknown": [1, {"x": 2}]}}',
    ],
)
def test_a_strange_review_with_a_uid_is_answered(body: bytes) -> None:
    assert Door().call(body) == ALLOWED


def test_uid_and_version_are_echoed() -> None:
    body = json.dumps({"apiVersion": "admission.k8s.io/v1beta1", "request": {"uid": "é-7"}}).encode()
    assert Door().call(body) == {
        "apiVersion": "admission.k8s.io/v1beta1",
        "kind": "AdmissionReview",
        "response": {"uid": "é-7", "allowed": True},
    }


def test_a_review_of_three_megabytes_is_read_for_what_is_needed() -> None:
    door = Door()
    assert door.call(review(object={"metadata": {"managedFields": ["x" * 1000] * 3000}})) == ALLOWED
    assert len(door.hints.sent) == 1


@pytest.mark.parametrize("dry_run", [True, "yes"])
def test_a_dry_run_has_no_side_effect(dry_run: object) -> None:
    door = Door()
    assert door.call(review(dryRun=dry_run)) == ALLOWED
    assert door.hints.sent == []
    assert door.ledger.looked_up == 0


@pytest.mark.parametrize(("cluster", "token"), [(CLUSTER, "wrong"), (CLUSTER, ""), ("stranger", TOKEN), ("", "")])
def test_a_stranger_is_answered_and_wakes_nobody(cluster: str, token: str) -> None:
    door = Door()
    assert door.call(cluster=cluster, token=token) == ALLOWED
    assert door.hints.sent == []
    assert "nodewright connect" in door.observer.problems[0][2]


def test_a_hint_that_cannot_be_sent_is_told_and_the_call_allowed() -> None:
    door = Door(hints=RefusingHints())
    assert door.call() == ALLOWED
    assert door.observer.problems == [(CLUSTER, "notify", "no such queue")]
    assert door.observer.hints == []


def test_with_the_table_down_the_call_is_allowed() -> None:
    door = Door()
    door.ledger.down = True
    assert door.call() == ALLOWED
    assert door.observer.problems == [(CLUSTER, "notify", "the table is throttled")]


def test_the_table_is_not_asked_again_while_the_token_is_remembered() -> None:
    door = Door()
    for second in range(60):
        door.call(after=timedelta(seconds=second))
    assert door.ledger.looked_up == 1
    assert len(door.hints.sent) == 60


def test_a_revoked_token_works_no_longer_than_it_is_remembered() -> None:
    door = Door()
    door.call()
    door.ledger.put_cluster(connected(token_hashes=(token_hash("new"),)))
    door.call(after=TOKEN_MEMORY + timedelta(seconds=1))
    assert len(door.hints.sent) == 1


def test_both_tokens_work_while_one_is_replaced() -> None:
    door = Door()
    door.ledger.put_cluster(connected(token_hashes=(token_hash("new"), token_hash(TOKEN))))
    door.call()
    door.call(token="new", after=timedelta(seconds=1))
    assert len(door.hints.sent) == 2


def test_a_token_made_a_moment_ago_is_looked_up_again() -> None:
    door = Door()
    door.call()
    door.ledger.put_cluster(connected(token_hashes=(token_hash("new"), token_hash(TOKEN))))
    door.call(token="new", after=LOOK_AGAIN + timedelta(milliseconds=1))
    assert len(door.hints.sent) == 2


def test_a_cluster_connected_a_moment_ago_is_known() -> None:
    door = Door()
    door.call(cluster="young")
    door.ledger.put_cluster(connected(name="young"))
    door.call(cluster="young", after=LOOK_AGAIN + timedelta(milliseconds=1))
    assert [hint.cluster for hint in door.hints.sent] == ["young"]


def test_a_stranger_does_not_make_us_ask_the_table_each_time() -> None:
    door = Door()
    for millisecond in range(0, 2000, 10):
        door.call(token="wrong", after=timedelta(milliseconds=millisecond))
    assert door.ledger.looked_up == 1


def test_names_made_up_by_strangers_are_not_remembered_without_end() -> None:
    door = Door()
    for number in range(3 * NAMES_REMEMBERED):
        door.call(cluster=f"made-up-{number}")
    assert len(door.use._clusters) <= NAMES_REMEMBERED
    door.call()
    assert len(door.hints.sent) == 1
