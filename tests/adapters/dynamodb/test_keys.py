from nodewright.application.ports import DecisionRecord, UnavailableOffering
from nodewright.domain.set_aside import ShapeAside
from tests.adapters.builders import NOW, claim, claims, cluster, launch
from tests.adapters.dynamodb.conftest import Store
from tests.adapters.dynamodb.test_claims import launched


def test_every_item_lies_under_the_key_the_design_names(store: Store) -> None:
    ledger = store.ledger()
    ledger.put_cluster(cluster())
    ledger.reserve("prod", 0, launch(count=2), claims("l1", 2))
    ledger.settle_launch("prod", "other", [launched(claim(), "i-0")])
    ledger.mark_unavailable([UnavailableOffering("m5.large", "us-east-1a", "spot", "ICE", NOW)])
    ledger.put_catalogue_part("offerings", {}, NOW)
    ledger.record_decision("prod", DecisionRecord("d1", NOW, "provision", "", {}))
    ledger.set_last_run("prod", "provision", NOW)
    ledger.save_shape_aside("prod", ShapeAside("ab12"))
    generation = store.item("REGION#us-east-1", "CATALOGUE#offerings")["generation"]["S"]
    assert store.key_names() == sorted(
        [
            "CLUSTERS / prod",
            "CLUSTER#prod / PLAN",
            "CLUSTER#prod / POOL#default",
            "CLUSTER#prod / POOL#*",
            "CLUSTER#prod / LAUNCH#l1",
            "CLUSTER#prod / CLAIM#l1-00",
            "CLUSTER#prod / CLAIM#l1-01",
            "INSTANCE#i-0 / OWNER",
            "REGION#us-east-1 / OFFERING#m5.large#us-east-1a#spot",
            "REGION#us-east-1 / CATALOGUE#offerings",
            f"REGION#us-east-1 / CATALOGUE#offerings#{generation}#0000",
            "CLUSTER#prod / DECISION#2026-11-30T12:00:00.123456+00:00#d1",
            "CLUSTER#prod / RUN#provision",
            "CLUSTER#prod / ASIDE#ab12",
        ]
    )
