"""An answer that is lost: botocore asks again, and what its first try did must not look like somebody else's doing."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from typing import Literal, get_args

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ClientError, ReadTimeoutError
from urllib3 import HTTPResponse

from nodewright.adapters import aws_clients
from nodewright.adapters.dynamodb.ledger import DynamoLedger
from nodewright.application.errors import ConflictError, NotFoundError
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.retirement import Retirement
from nodewright.domain.set_aside import ShapeAside
from nodewright.domain.usage import usage_of
from sandbox.aws.patches import Patches
from sandbox.aws.tables import Tables
from tests.adapters.builders import NOW, claims, cluster, launch
from tests.adapters.dynamodb.conftest import Store
from tests.adapters.dynamodb.test_claims import launched
from tests.adapters.tables import TABLE

SOON = NOW + timedelta(seconds=30)
LEAVING = Retirement(1, "empty", NOW, NOW, NOW)
SHAPE = ShapeAside("ab12", 2, 3, NOW, NOW + timedelta(minutes=5), "no node")

Write = Callable[[DynamoLedger], object]


@pytest.fixture(autouse=True)
def _as_dynamodb() -> Iterator[None]:
    """Transactions are once for each of their tokens."""
    patches = Patches()
    Tables().install(patches)
    yield
    patches.undo()


@pytest.fixture
def furnished(store: Store) -> Store:
    """A cluster with a launch that is being settled, a node that leaves and a shape set aside."""
    ledger = store.ledger()
    ledger.put_cluster(cluster())
    ledger.reserve("prod", 0, launch("l1", 2), claims("l1", 2))
    ledger.reserve("prod", 1, launch("l2", 1), claims("l2", 1))
    ledger.settle_launch("prod", "l2", [launched(claims("l2", 1)[0], "i-9")])
    ledger.start_retirements("prod", [replace(ledger.claim("prod", "l2-00"), retirement=LEAVING)], None)
    ledger.save_shape_aside("prod", SHAPE)
    return store


def stored(ledger: DynamoLedger, number: int) -> NodeClaim:
    return ledger.claims("prod")[number]


#: Everything the ledger writes under a condition, or that does harm twice.
WRITES: dict[str, Write] = {
    "save_claim": lambda ledger: ledger.save_claim("prod", replace(stored(ledger, 2), node_name="a")),
    "save_claim, gone": lambda ledger: ledger.save_claim("prod", replace(stored(ledger, 2), state=ClaimState.GONE)),
    "take_turn": lambda ledger: ledger.take_turn("prod", "l2-00", 1, NOW, SOON),
    "save_shape_aside": lambda ledger: ledger.save_shape_aside("prod", replace(SHAPE, version=1)),
    "save_shape_aside, new": lambda ledger: ledger.save_shape_aside("prod", replace(SHAPE, shape="cd34")),
    "reserve": lambda ledger: ledger.reserve("prod", 2, launch("l3", 2), claims("l3", 2)),
    "settle_launch": lambda ledger: ledger.settle_launch(
        "prod", "l1", [launched(stored(ledger, 0), "i-0"), stored(ledger, 1)]
    ),
    "start_retirements": lambda ledger: ledger.start_retirements(
        "prod", [replace(stored(ledger, 0), retirement=LEAVING)], 2
    ),
    "set_usage": lambda ledger: ledger.set_usage("prod", 2, usage_of(ledger.claims("prod"))),
    "hand_back_launch": lambda ledger: ledger.hand_back_launch("prod", "l1", NOW),
    "mark_unreachable": lambda ledger: ledger.mark_unreachable("prod", SOON),
    "mark_unreachable, again reached": lambda ledger: ledger.mark_unreachable("prod", None),
    "set_last_run": lambda ledger: ledger.set_last_run("prod", "provision", SOON),
}


Loss = Literal["request", "answer", "answer for an error"]


def lose(store: Store, loss: Loss, *, meanwhile: Callable[[], object] = lambda: None) -> list[object]:
    """Of the first write; returns what was sent, in order. `meanwhile` happens before it is sent again."""
    sent: list[object] = []

    def lost(request: AWSPreparedRequest, **_: object) -> AWSResponse | None:
        if not _is_write(request):
            return None
        sent.append(request.body)
        if len(sent) > 1:
            return None
        meanwhile()
        if loss == "answer for an error":
            return AWSResponse(request.url, 500, HTTPHeaders(), HTTPResponse(BytesIO(b"{}"), preload_content=False))
        raise ReadTimeoutError(endpoint_url=request.url)

    events = store.client.meta.events
    # moto answers at `before-send`, too, whatever was answered before; the first answer counts.
    register = events.register_last if loss == "answer" else events.register_first
    register("before-send", lost)  # type: ignore[arg-type]  # the stubs know of no answer
    return sent


def _is_write(request: AWSPreparedRequest) -> bool:
    called = request.headers["X-Amz-Target"]
    return any(word in called for word in (b"Put", b"Update", b"Write", b"Delete"))


def others(store: Store) -> DynamoLedger:
    """The ledger of another function, which loses nothing."""
    client = aws_clients.dynamodb(store.region)
    return DynamoLedger(client, TABLE, region=store.region, clock=store.clock, report=pytest.fail)


def contents(ledger: DynamoLedger) -> object:
    """All there is to read."""
    duties = ledger.last_run("prod", "provision")
    kept = ledger.claims("prod"), ledger.launches("prod"), ledger.usage("prod"), ledger.shapes_aside("prod")
    return kept, ledger.clusters(), ledger.epoch("prod"), duties


@pytest.mark.parametrize("loss", get_args(Loss))
@pytest.mark.parametrize("name", WRITES)
def test_a_write_that_botocore_repeats_comes_to_the_same_as_one_that_is_answered_at_once(
    furnished: Store, name: str, loss: Loss
) -> None:
    before = furnished.items()
    answer = WRITES[name](furnished.ledger())
    after = contents(furnished.ledger())
    for item in furnished.items():
        furnished.client.delete_item(TableName=TABLE, Key={"pk": item["pk"], "sk": item["sk"]})
    for item in before:
        furnished.put(item)
    sent = lose(furnished, loss)
    assert WRITES[name](furnished.ledger()) == answer
    assert sent[1:] == sent[:1]
    assert contents(furnished.ledger()) == after


def test_the_same_write_of_another_who_was_first_is_not_taken_for_ours(furnished: Store) -> None:
    ledger = furnished.ledger()
    wanted = replace(stored(ledger, 2), node_name="a")
    sent = lose(furnished, "request", meanwhile=lambda: others(furnished).save_claim("prod", wanted))
    with pytest.raises(ConflictError):
        ledger.save_claim("prod", wanted)
    assert len(sent) == 2
    assert stored(ledger, 2).version == wanted.version + 1


def test_a_turn_that_another_took_at_the_same_moment_is_not_taken_for_ours(furnished: Store) -> None:
    ledger = furnished.ledger()
    lose(furnished, "request", meanwhile=lambda: WRITES["take_turn"](others(furnished)))
    with pytest.raises(ConflictError, match="its next turn is at"):
        WRITES["take_turn"](ledger)


def test_what_is_gone_meanwhile_is_not_taken_for_ours(furnished: Store) -> None:
    ledger = furnished.ledger()
    wanted = replace(stored(ledger, 2), node_name="a")
    gone = replace(stored(ledger, 2), state=ClaimState.GONE)
    lose(furnished, "request", meanwhile=lambda: others(furnished).save_claim("prod", gone))
    with pytest.raises(ConflictError):
        ledger.save_claim("prod", wanted)
    with pytest.raises(NotFoundError):
        ledger.claim("prod", wanted.id)


def test_a_transaction_that_met_another_is_a_new_one_when_it_is_tried_again(furnished: Store) -> None:
    tokens: list[str] = []

    def collide(params: dict[str, bytes], **_: object) -> None:
        tokens.append(json.loads(params["body"])["ClientRequestToken"])
        if len(tokens) == 1:
            raise ClientError({"Error": {"Code": "TransactionConflictException", "Message": ""}}, "TransactWriteItems")

    furnished.client.meta.events.register("before-call.dynamodb.TransactWriteItems", collide)
    WRITES["reserve"](furnished.ledger())
    assert len(set(tokens)) == len(tokens) == 2


def test_a_turn_is_taken_once_by_one_that_asks_twice(furnished: Store) -> None:
    WRITES["take_turn"](furnished.ledger())
    with pytest.raises(ConflictError, match="its next turn is at"):
        WRITES["take_turn"](furnished.ledger())
