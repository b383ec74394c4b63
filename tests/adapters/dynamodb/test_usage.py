"""What only the table can get wrong: stops between transactions, answers lost, collisions, tampered items."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from botocore.exceptions import ClientError

from nodewright.adapters.dynamodb.items import UnreadableItemError
from nodewright.adapters.dynamodb.table import COLLISIONS
from nodewright.application.errors import ConflictError, RefusedError, UnavailableError
from nodewright.application.limits import LimitReachedError
from nodewright.domain.claims import ClaimState
from nodewright.domain.limits import LAUNCHES, Limits
from nodewright.domain.quantities import Resources
from nodewright.domain.usage import WHOLE_CLUSTER, node_usage, usage_of
from tests.adapters.builders import claims, launch
from tests.adapters.dynamodb.conftest import Store
from tests.adapters.dynamodb.test_claims import DiedError, launched

LARGE = node_usage(Resources({"cpu": 4000}), 2)
FEW = {"*": Limits({LAUNCHES: 9})}
SMALL = node_usage(Resources({"cpu": 1000}), 1)


def reserved(store: Store, count: int, cluster: str = "prod") -> None:
    each = [replace(one, counts=LARGE) for one in claims("l1", count)]
    store.ledger().reserve(cluster, 0, launch(count=count), each)


def on_transaction(store: Store, turn: int, *, lost_answer: bool) -> None:
    """The function dies at its so-manieth transaction: before it, or after it took effect."""
    seen = 0

    def die(**_: object) -> None:
        nonlocal seen
        seen += 1
        if seen == turn:
            raise DiedError

    when = "after-call" if lost_answer else "before-call"
    store.client.meta.events.register(f"{when}.dynamodb.TransactWriteItems", die)


@pytest.mark.parametrize("lost_answer", [False, True])
@pytest.mark.parametrize("turn", [1, 2])
def test_killed_at_any_transaction_of_a_settlement_everything_is_given_back_once(
    store: Store, turn: int, *, lost_answer: bool
) -> None:
    reserved(store, 96)
    came = [
        replace(launched(one, f"i-{one.id}"), counts=SMALL) if number % 4 else one
        for number, one in enumerate(claims("l1", 96))
    ]
    on_transaction(store, turn, lost_answer=lost_answer)
    with pytest.raises(DiedError):
        store.ledger().settle_launch("prod", "l1", came)
    assert store.ledger().usage("prod") == usage_of(store.ledger().claims("prod"))
    store.ledger().settle_launch("prod", "l1", came)
    assert store.ledger().usage("prod") == {"default": SMALL.times(72), "*": SMALL.times(72)}
    assert store.ledger().launches("prod") == ()


@pytest.mark.parametrize("lost_answer", [False, True])
def test_killed_while_a_claim_goes_it_gives_back_once(store: Store, *, lost_answer: bool) -> None:
    reserved(store, 2)
    gone = replace(store.ledger().claims("prod")[0], state=ClaimState.GONE)
    on_transaction(store, 1, lost_answer=lost_answer)
    with pytest.raises(DiedError):
        store.ledger().save_claim("prod", gone)
    try:
        store.ledger().save_claim("prod", gone)
    except ConflictError:
        assert lost_answer
    assert store.ledger().usage("prod") == usage_of(store.ledger().claims("prod")) == {"default": LARGE, "*": LARGE}


# ---- collisions


def collide(store: Store, code: str) -> Callable[[], int]:
    """Every transaction meets another at the same items from now on; returns how often it was tried."""
    tried = 0

    def cancelled(**_: object) -> None:
        nonlocal tried
        tried += 1
        reasons = [{"Code": "None"}, {"Code": code}]
        answer = {"Error": {"Code": "TransactionCanceledException", "Message": code}, "CancellationReasons": reasons}
        raise ClientError(answer, "TransactWriteItems")  # type: ignore[arg-type]  # the reasons are this error's own

    store.client.meta.events.register("before-call.dynamodb.TransactWriteItems", cancelled, "collision")
    return lambda: tried


def test_a_write_that_meets_another_is_tried_again_with_growing_pauses(store: Store) -> None:
    began = store.clock.now()
    tries = collide(store, "TransactionConflict")
    with pytest.raises(UnavailableError, match="TransactionConflict"):
        reserved(store, 1)
    assert tries() == COLLISIONS + 1
    assert store.clock.now() > began
    store.client.meta.events.unregister("before-call.dynamodb.TransactWriteItems", unique_id="collision")
    reserved(store, 1)
    assert store.ledger().usage("prod")["default"] == LARGE


@pytest.mark.parametrize(("code", "error"), [("ThrottlingError", UnavailableError), ("ValidationError", RefusedError)])
def test_what_is_no_collision_is_not_tried_again(store: Store, code: str, error: type[Exception]) -> None:
    tries = collide(store, code)
    with pytest.raises(error):
        reserved(store, 1)
    assert tries() == 1


# ---- tampered items


def test_usage_that_is_no_number_is_said_so_and_concerns_no_other_cluster(store: Store) -> None:
    reserved(store, 1)
    reserved(store, 1, "test")
    store.put({**store.item("CLUSTER#prod", "POOL#default"), "cpu": {"S": "four"}})
    with pytest.raises(UnreadableItemError, match="CLUSTER#prod / POOL#default, attribute cpu: missing, or not"):
        store.ledger().usage("prod")
    assert store.ledger().usage("test")["default"] == LARGE
    ledger = store.ledger()
    ledger.set_usage("prod", ledger.epoch("prod"), usage_of(ledger.claims("prod")))
    assert ledger.usage("prod")["default"] == LARGE


@pytest.mark.parametrize("attribute", ["hour", "launches", "epoch"])
def test_a_plan_that_is_no_number_is_said_so_and_nothing_is_reserved(store: Store, attribute: str) -> None:
    store.ledger().reserve("prod", 0, launch(), claims("l1", 1), FEW)
    store.put({**store.item("CLUSTER#prod", "PLAN"), attribute: {"S": "x"}})
    with pytest.raises(UnreadableItemError, match=f"CLUSTER#prod / PLAN, attribute {attribute}"):
        store.ledger().reserve("prod", 1, launch("l2"), claims("l2", 1), FEW)
    assert len(store.ledger().claims("prod")) == 1


def test_an_hour_far_ahead_does_not_hold_launches_up_until_then(store: Store) -> None:
    reserved(store, 1)
    store.put({**store.item("CLUSTER#prod", "PLAN"), "hour": {"N": "9999999"}, "launches": {"N": "9999"}})
    store.ledger().reserve("prod", 1, launch("l2"), claims("l2", 1), FEW)
    assert store.item("CLUSTER#prod", "PLAN")["launches"] == {"N": "1"}


def test_who_read_the_epoch_knows_how_many_launches_the_hour_had(store: Store) -> None:
    ledger = store.ledger()
    epoch = ledger.epoch("prod")
    reads: list[str] = []
    store.on_call("GetItem", lambda: reads.append("read"))
    limits = {WHOLE_CLUSTER: Limits({LAUNCHES: 2})}
    ledger.reserve("prod", epoch, launch("l1"), claims("l1", 1), limits)
    assert reads == []
    ledger.reserve("prod", epoch + 1, launch("l2"), claims("l2", 1), limits)
    with pytest.raises(LimitReachedError):
        ledger.reserve("prod", epoch + 2, launch("l3"), claims("l3", 1), limits)


def test_who_read_an_epoch_that_is_past_reserves_nothing_and_hears_of_the_other_planner(store: Store) -> None:
    late = store.ledger()
    epoch = late.epoch("prod")
    limits = {WHOLE_CLUSTER: Limits({LAUNCHES: 2})}
    store.ledger().reserve("prod", epoch, launch("l1"), claims("l1", 1), limits)
    with pytest.raises(ConflictError):
        late.reserve("prod", epoch, launch("l2"), claims("l2", 1), limits)
    assert [claim.launch_id for claim in late.claims("prod")] == ["l1"]
