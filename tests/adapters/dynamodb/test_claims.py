import json
from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.adapters.dynamodb.items import UnreadableItemError
from nodewright.application.errors import UnavailableError
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.quantities import Resources
from nodewright.domain.retirement import Retirement
from nodewright.domain.usage import node_usage, usage_of
from tests.adapters.builders import NOW, claim, claims, launch
from tests.adapters.dynamodb.conftest import Store


class DiedError(Exception):
    """The function was stopped here."""


def launched(one: NodeClaim, instance: str) -> NodeClaim:
    return replace(one, state=ClaimState.LAUNCHED, instance_id=instance)


def test_a_stop_between_two_transactions_of_a_settlement_leaves_the_rest_to_the_next_run(store: Store) -> None:
    reserved = claims("l1", 96)
    store.ledger().reserve("prod", 0, launch(count=96), reserved)
    came = [launched(one, f"i-{one.id}") for one in reserved]
    transactions = 0

    def die_before_the_second() -> None:
        nonlocal transactions
        transactions += 1
        if transactions == 2:
            raise DiedError

    store.on_call("TransactWriteItems", die_before_the_second)
    with pytest.raises(DiedError):
        store.ledger().settle_launch("prod", "l1", came)
    halfway = store.ledger()
    assert 0 < sum(bool(one.instance_id) for one in halfway.claims("prod")) < 96
    assert len(halfway.launches("prod")) == 1
    assert halfway.settle_launch("prod", "l1", came), "whoever ends it tells of it, whoever began it"
    assert halfway.claims("prod") == tuple(replace(one, version=1) for one in came)
    assert halfway.launches("prod") == ()
    assert all(halfway.owner(one.instance_id) == ("prod", one.id) for one in came)


def test_of_two_that_end_a_launch_at_the_same_moment_one_has_ended_it(store: Store) -> None:
    reserved = claims("l1", 2)
    came = [launched(one, f"i-{one.id}") for one in reserved]
    store.ledger().reserve("prod", 0, launch(count=2), reserved)
    store.ledger().settle_launch("prod", "other", came)
    ended: list[bool] = []

    def rival() -> None:
        if not ended:
            ended.append(False)
            ended.append(store.ledger().settle_launch("prod", "l1", came))

    store.on_call("TransactWriteItems", rival)
    ended.append(store.ledger().settle_launch("prod", "l1", came))
    assert ended[1:] == [True, False]
    assert store.ledger().launches("prod") == ()


def test_a_reservation_is_one_transaction(store: Store) -> None:
    def die() -> None:
        raise DiedError

    store.on_call("TransactWriteItems", die)
    with pytest.raises(DiedError):
        store.ledger().reserve("prod", 0, launch(count=96), claims("l1", 96))
    assert store.items() == []


def test_the_owner_of_a_claim_that_is_gone_expires_after_a_day(store: Store) -> None:
    ledger = store.ledger()
    ledger.reserve("prod", 0, launch(), claims("l1", 1))
    ledger.settle_launch("prod", "l1", [launched(claim(), "i-0")])
    assert "expires" not in store.item("INSTANCE#i-0", "OWNER")
    (running,) = ledger.claims("prod")
    ledger.save_claim("prod", replace(running, state=ClaimState.GONE))
    expires = int(str(store.item("INSTANCE#i-0", "OWNER")["expires"]["N"]))
    assert expires == int((NOW + timedelta(days=1)).timestamp())


def test_the_request_of_a_launch_comes_back_byte_for_byte(store: Store) -> None:
    request = json.dumps({"tags": {"name": 'é\u2028\\ "x"'}, "n": [1, 2]}) + "\n"
    store.ledger().reserve("prod", 0, launch(request=request), claims("l1", 1))
    assert store.ledger().launches("prod")[0].request == request


def test_a_claim_of_an_older_release_gets_defaults_for_what_it_lacks(store: Store) -> None:
    body = {
        "id": "l0-00",
        "launch_id": "l0",
        "state": "reserved",
        "pool": "default",
        "node_class": "default",
        "created": "2026-11-30T12:00:00Z",
        "dropped_since": 1,
    }
    store.put({"pk": {"S": "CLUSTER#prod"}, "sk": {"S": "CLAIM#l0-00"}, "body": {"S": json.dumps(body)}})
    (found,) = store.ledger().claims("prod")
    assert (found.id, found.labels, found.nominated_pods, found.version) == ("l0-00", {}, (), 0)


#: As the first release wrote it, which knew of no usage and no retirement.
FIRST_RELEASE = {
    "id": "l0-00",
    "launch_id": "l0",
    "state": "reserved",
    "pool": "default",
    "node_class": "default",
    "pool_hash": "1",
    "class_hash": "2",
    "created": "2026-11-30T12:00:00Z",
    "labels": {},
    "taints": [],
    "startup_taints": [],
    "requests": {"cpu": 100},
    "nominated_pods": [["shop", "web-0"]],
    "instance_type": "",
    "zone": "",
    "capacity_type": "spot",
    "price": 40,
    "capacity": {"cpu": 2000},
    "allocatable": {"cpu": 1900},
    "instance_id": "",
    "image_id": "",
    "node_name": "",
    "version": 0,
}


@pytest.mark.parametrize("attributes", [{}, {"version": {"N": "0"}, "instance": {"S": ""}, "state": {"S": "reserved"}}])
def test_a_claim_of_the_first_release_is_counted_settled_retired_and_forgotten(
    store: Store, attributes: dict[str, dict[str, object]]
) -> None:
    body = json.dumps(FIRST_RELEASE)
    store.put({"pk": {"S": "CLUSTER#prod"}, "sk": {"S": "CLAIM#l0-00"}, "body": {"S": body}, **attributes})
    ledger = store.ledger()
    (old,) = ledger.claims("prod")
    ledger.set_usage("prod", 0, usage_of([old]))
    assert ledger.usage("prod")["default"] == node_usage(Resources({"cpu": 2000}), 40)
    ledger.settle_launch("prod", "l0", [launched(old, "i-0")])
    (running,) = ledger.claims("prod")
    ledger.start_retirements("prod", [replace(running, retirement=Retirement(2, "empty", NOW, NOW, NOW))], 1)
    leaving = ledger.take_turn("prod", "l0-00", 2, NOW, NOW + timedelta(minutes=1))
    ledger.save_claim("prod", replace(leaving, state=ClaimState.GONE))
    assert (ledger.claims("prod"), ledger.usage("prod")) == ((), {})


@pytest.mark.parametrize("attribute", ["version", "next_at"])
def test_a_tampered_attribute_is_named_and_concerns_no_other_cluster(store: Store, attribute: str) -> None:
    for name in ("prod", "test"):
        retiring = replace(claim(), retirement=Retirement(1, "empty", NOW, NOW, NOW))
        store.ledger().reserve(name, 0, launch(), [retiring])
    store.put({**store.item("CLUSTER#prod", "CLAIM#l1-00"), attribute: {"S": "x"}})
    with pytest.raises(UnreadableItemError, match=f"CLUSTER#prod / CLAIM#l1-00, attribute {attribute}"):
        store.ledger().claims("prod")
    assert store.ledger().take_turn("test", "l1-00", 1, NOW, NOW + timedelta(seconds=1)).version == 1


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({}, "attribute body: missing"),
        ({"body": {"N": "1"}}, "attribute body: missing, or not of DynamoDB's type S"),
        ({"body": {"S": "{"}}, "attribute body: Input data was truncated"),
        ({"body": {"S": "[]"}}, "attribute body: not a JSON object"),
        ({"body": {"S": "{}"}}, r"attribute body: Object missing required field `id`"),
        ({"body": {"S": '{"id": 1}'}}, r"attribute body: Expected `str`, got `int` - at `\$.id`"),
    ],
)
def test_a_claim_that_cannot_be_read_stops_the_planner_naming_key_and_attribute(
    store: Store, body: dict[str, dict[str, object]], problem: str
) -> None:
    store.ledger().reserve("prod", 0, launch(), claims("l1", 1))
    store.put({"pk": {"S": "CLUSTER#prod"}, "sk": {"S": "CLAIM#bad"}, **body})
    with pytest.raises(UnreadableItemError, match=rf"CLUSTER#prod / CLAIM#bad, {problem}.*; repair or delete"):
        store.ledger().claims("prod")


def test_a_claim_in_a_state_this_release_does_not_know_is_not_guessed_at(store: Store) -> None:
    store.ledger().reserve("prod", 0, launch(), claims("l1", 1))
    item = store.item("CLUSTER#prod", "CLAIM#l1-00")
    store.put({**item, "body": {"S": str(item["body"]["S"]).replace('"reserved"', '"hibernated"')}})
    with pytest.raises(UnreadableItemError, match="Invalid enum value 'hibernated'"):
        store.ledger().claims("prod")


def test_an_epoch_that_is_no_number_is_said_so(store: Store) -> None:
    store.put({"pk": {"S": "CLUSTER#prod"}, "sk": {"S": "PLAN"}, "epoch": {"S": "7"}})
    with pytest.raises(UnreadableItemError, match="CLUSTER#prod / PLAN, attribute epoch"):
        store.ledger().epoch("prod")


def test_a_batch_that_dynamodb_leaves_unread_is_asked_for_again_and_then_unavailable(store: Store) -> None:
    ledger = store.ledger()
    ledger.reserve("prod", 0, launch(), claims("l1", 1))

    def nothing_read(parsed: dict[str, object], **_: object) -> None:
        parsed["Responses"] = {}
        parsed["UnprocessedKeys"] = {"nodewright": {"Keys": [{"pk": {"S": "x"}, "sk": {"S": "y"}}]}}

    store.client.meta.events.register("after-call.dynamodb.BatchGetItem", nothing_read)
    with pytest.raises(UnavailableError, match="left 1 items unread"):
        ledger.settle_launch("prod", "l1", [launched(claim(), "i-0")])
