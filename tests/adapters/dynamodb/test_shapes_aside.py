from datetime import timedelta

from nodewright.domain.set_aside import ShapeAside
from tests.adapters.builders import NOW
from tests.adapters.dynamodb.conftest import Store

SHAPE = ShapeAside("ab12", 2, 3, NOW, NOW + timedelta(minutes=5), "no node")


def test_a_shape_is_removed_by_time_to_live_a_day_after_it_changed(store: Store) -> None:
    store.ledger().save_shape_aside("prod", SHAPE)
    item = store.item("CLUSTER#prod", "ASIDE#ab12")
    assert int(str(item["expires"]["N"])) == int((NOW + timedelta(days=1)).timestamp())


def test_an_unreadable_shape_is_left_out_and_reported(store: Store) -> None:
    saved = store.ledger().save_shape_aside("prod", SHAPE)
    store.put({"pk": {"S": "CLUSTER#prod"}, "sk": {"S": "ASIDE#bad"}, "version": {"N": "1"}, "body": {"S": "{}"}})
    assert store.ledger().shapes_aside("prod") == (saved,)
    (report,) = store.reports
    assert "ASIDE#bad" in report


def test_a_shape_of_a_later_release_is_read_without_what_it_knows_more(store: Store) -> None:
    saved = store.ledger().save_shape_aside("prod", SHAPE)
    item = store.item("CLUSTER#prod", "ASIDE#ab12")
    store.put({**item, "body": {"S": str(item["body"]["S"]).replace("{", '{"more":1,', 1)}})
    assert store.ledger().shapes_aside("prod") == (saved,)
