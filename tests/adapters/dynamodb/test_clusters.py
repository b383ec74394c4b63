import json

from tests.adapters.builders import NOW, cluster
from tests.adapters.dynamodb.conftest import Store


def test_an_unreadable_cluster_is_reported_and_does_not_stop_the_others(store: Store) -> None:
    store.ledger().put_cluster(cluster("good"))
    store.put({"pk": {"S": "CLUSTERS"}, "sk": {"S": "bad"}, "body": {"S": "{}"}})
    assert store.ledger().clusters() == (cluster("good"),)
    (report,) = store.reports
    assert "CLUSTERS / bad, attribute body" in report


def test_a_cluster_of_an_older_release_gets_defaults_for_what_it_lacks(store: Store) -> None:
    body = json.dumps({"name": "old", "endpoint": "https://x", "certificate_authority": "Q0E="})
    store.put({"pk": {"S": "CLUSTERS"}, "sk": {"S": "old"}, "body": {"S": body}})
    (found,) = store.ledger().clusters()
    assert (found.name, found.version, found.auth_mode, found.unreachable_until) == ("old", "", "API", None)
    assert store.reports == []


def test_unreachable_is_an_attribute_of_its_own(store: Store) -> None:
    store.ledger().put_cluster(cluster(unreachable_until=NOW))
    item = store.item("CLUSTERS", "prod")
    assert item["unreachable_until"] == {"N": str(int(NOW.timestamp()) * 1_000_000 + 123456)}
    assert json.loads(str(item["body"]["S"]))["unreachable_until"] is None
