"""interrupt, woken by a queue that EventBridge fills."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

import pytest

from nodewright.application.errors import UnavailableError
from nodewright.domain.claims import ClaimState, NodeClaim
from tests.adapters.builders import claims, cluster, launch
from tests.events.samples import INSTANCE, Json, of, text
from tests.functions.conftest import Account, Context, Load, Told, hint


def batch(*bodies: str) -> dict[str, object]:
    """An SQS event of several messages, numbered from 0."""
    records = [cast("list[dict[str, object]]", hint(body)["Records"])[0] for body in bodies]
    return {"Records": [{**record, "messageId": f"m-{number}"} for number, record in enumerate(records)]}


def warning(instance_id: str = INSTANCE) -> Json:
    """Sent now."""
    return of("SpotInterruption", instance_id, time=datetime.now(UTC).isoformat())  # noqa: TID251  the clock of EC2


def running(account: Account) -> NodeClaim:
    """A claim with an instance."""
    account.ledger.put_cluster(cluster())
    (reserved,) = claims("l1", 1)
    account.ledger.reserve("prod", 0, launch(count=1), [reserved])
    launched = replace(
        reserved, state=ClaimState.LAUNCHED, instance_id=INSTANCE, zone="us-east-1a", capacity_type="spot"
    )
    account.ledger.settle_launch("prod", "l1", [launched])
    return account.ledger.claim("prod", reserved.id)


def test_a_spot_notice_wakes_provision_urgently_and_retire(account: Account, load: Load) -> None:
    claim = running(account)
    assert load("interrupt").handler(batch(json.dumps(warning())), Context()) == {"batchItemFailures": []}
    assert account.hinted("provision") == ['{"cluster": "prod", "urgent": true}']
    (turn,) = account.hinted("retire")
    assert json.loads(turn)["claim"] == claim.id
    retirement = account.ledger.claim("prod", claim.id).retirement
    assert retirement is not None
    assert retirement.reason == "spot-interruption"


def test_strangers_are_a_metric(account: Account, load: Load, capsys: pytest.CaptureFixture[str]) -> None:
    account.ledger.put_cluster(cluster())
    assert load("interrupt").handler(batch(json.dumps(warning("i-0bbb"))), Context()) == {"batchItemFailures": []}
    metrics = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "_aws" in line]
    assert [metric.get("ForeignEvents") for metric in metrics] == [[1.0]]


@pytest.mark.parametrize("body", ["", "not json", "[]", "{}", text("SpotInterruption")[:200]])
def test_what_is_no_event_is_told_and_acknowledged(load: Load, told: Told, body: str) -> None:
    assert load("interrupt").handler(batch(body), Context()) == {"batchItemFailures": []}
    assert "no EventBridge event" in told()


def test_only_the_message_that_failed_comes_again(
    account: Account, load: Load, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = running(account)
    module = load("interrupt")
    owner = type(account.ledger).owner

    def throttled(ledger: object, instance_id: str) -> tuple[str, str] | None:
        if instance_id == "i-0bad":
            raise UnavailableError("throttled")
        return owner(ledger, instance_id)  # type: ignore[arg-type]

    monkeypatch.setattr(type(account.ledger), "owner", throttled)
    answer = module.handler(batch(json.dumps(warning("i-0bad")), "junk", json.dumps(warning())), Context())
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m-0"}]}
    assert "throttled; it comes again" in told()
    assert account.ledger.claim("prod", claim.id).retirement is not None


def test_a_claim_that_somebody_broke_keeps_its_own_message_back_and_no_other(
    account: Account, load: Load, told: Told
) -> None:
    """Until the dead-letter queue has it, and an alarm."""
    account.ledger.put_cluster(cluster())
    reserved = claims("l1", 2)
    account.ledger.reserve("prod", 0, launch(count=2), reserved)
    ids = [INSTANCE, "i-0bbb"]
    launched = [
        replace(claim, state=ClaimState.LAUNCHED, instance_id=each) for claim, each in zip(reserved, ids, strict=True)
    ]
    account.ledger.settle_launch("prod", "l1", launched)
    account.tamper(reserved[0].id)
    answer = load("interrupt").handler(batch(*(json.dumps(warning(each)) for each in ids)), Context())
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m-0"}]}
    assert f"CLAIM#{reserved[0].id}, attribute body" in told()
    retirement = account.ledger.claim("prod", reserved[1].id).retirement
    assert retirement is not None
