from datetime import timedelta

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from nodewright.adapters.dynamodb.table import BATCH_ROUNDS
from nodewright.application.errors import UnavailableError
from nodewright.application.ports import DecisionRecord, UnavailableOffering
from tests.adapters.builders import NOW
from tests.adapters.dynamodb.conftest import Store
from tests.adapters.tables import TABLE


def decision(**details: object) -> DecisionRecord:
    return DecisionRecord("d1", NOW, "provision", "3 nodes", details)


def test_a_decision_expires_after_seven_days(store: Store) -> None:
    store.ledger().record_decision("prod", decision())
    (item,) = store.items()
    assert int(str(item["expires"]["N"])) == int((NOW + timedelta(days=7)).timestamp())


def test_a_decision_with_more_details_than_an_item_holds_keeps_its_summary(store: Store) -> None:
    store.ledger().record_decision("prod", decision(pods=["shop/web"] * 60_000))
    (kept,) = store.ledger().decisions("prod", 1)
    assert kept.summary == "3 nodes"
    assert "bytes of details" in str(kept.details["omitted"])


def test_a_decision_the_table_will_not_take_is_reported_and_stops_nobody(store: Store) -> None:
    def refuse() -> None:
        raise ClientError({"Error": {"Code": "ThrottlingException", "Message": "slow"}}, "PutItem")

    store.on_call("PutItem", refuse)
    store.ledger().record_decision("prod", decision())
    (report,) = store.reports
    assert report.startswith("decision d1 of cluster prod is not kept")


def test_an_unreadable_decision_is_left_out_and_reported(store: Store) -> None:
    store.ledger().record_decision("prod", decision())
    store.put({"pk": {"S": "CLUSTER#prod"}, "sk": {"S": "DECISION#2026#bad"}, "body": {"S": "{}"}})
    assert [one.id for one in store.ledger().decisions("prod", 9)] == ["d1"]
    assert len(store.reports) == 1


def test_an_offering_is_removed_by_time_to_live(store: Store) -> None:
    store.ledger().mark_unavailable([UnavailableOffering("m5.large", "a", "spot", "ICE", NOW)])
    (item,) = store.items()
    assert int(str(item["expires"]["N"])) == int(NOW.timestamp())


def test_an_unreadable_offering_is_left_out_and_reported(store: Store) -> None:
    good = UnavailableOffering("m5.large", "a", "spot", "ICE", NOW + timedelta(minutes=3))
    store.ledger().mark_unavailable([good])
    store.put({"pk": {"S": "REGION#us-east-1"}, "sk": {"S": "OFFERING#bad"}, "until": {"N": "1.5"}})
    assert store.ledger().unavailable_offerings(NOW) == (good,)
    assert len(store.reports) == 1


def test_writes_that_dynamodb_leaves_undone_are_sent_again(store: Store) -> None:
    left = [{"PutRequest": {"Item": {"pk": {"S": "a"}, "sk": {"S": "b"}}}}]
    with Stubber(store.client) as stub:
        stub.add_response("batch_write_item", {"UnprocessedItems": {TABLE: left}})
        stub.add_response("batch_write_item", {"UnprocessedItems": {}}, {"RequestItems": {TABLE: left}})
        store.ledger().mark_unavailable([UnavailableOffering("t1", "a", "spot", "ICE", NOW)])
        stub.assert_no_pending_responses()


def test_a_table_that_never_takes_them_is_unavailable(store: Store) -> None:
    left = [{"PutRequest": {"Item": {"pk": {"S": "a"}, "sk": {"S": "b"}}}}]
    with Stubber(store.client) as stub:
        for _ in range(BATCH_ROUNDS):
            stub.add_response("batch_write_item", {"UnprocessedItems": {TABLE: left}})
        with pytest.raises(UnavailableError, match="left 1 items unwritten"):
            store.ledger().mark_unavailable([UnavailableOffering("t1", "a", "spot", "ICE", NOW)])
