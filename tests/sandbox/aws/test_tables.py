from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from sandbox.aws.server import SandboxAws

KEY = {"pk": {"S": "counter"}}


@pytest.fixture
def table(aws: SandboxAws) -> Any:
    """DynamoDB with one table, `t`."""
    client = aws.client("dynamodb")
    client.create_table(
        TableName="t",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    return client


def transact(table: Any, token: str, *, most: int = 99) -> None:
    """Count one more, up to a number."""
    counted = {
        "Key": KEY,
        "UpdateExpression": "ADD n :one",
        "ConditionExpression": "attribute_not_exists(n) OR n < :most",
        "ExpressionAttributeValues": {":one": {"N": "1"}, ":most": {"N": str(most)}},
    }
    table.transact_write_items(TransactItems=[{"Update": {"TableName": "t", **counted}}], ClientRequestToken=token)


def fresh_token() -> str:
    """No other test's: they outlive the account."""
    return str(uuid4())


def count(table: Any) -> str:
    return str(table.get_item(TableName="t", Key=KEY)["Item"]["n"]["N"])


def test_a_transaction_is_done_once_for_each_of_its_tokens(table: Any) -> None:
    first, second = fresh_token(), fresh_token()
    for token in (first, first, second, first):
        transact(table, token)
    assert count(table) == "2"


def test_a_token_stands_for_one_transaction(table: Any) -> None:
    token = fresh_token()
    transact(table, token)
    with pytest.raises(table.exceptions.IdempotentParameterMismatchException):
        transact(table, token, most=5)
    assert count(table) == "1"


def test_a_transaction_that_was_cancelled_may_be_tried_again_under_its_token(table: Any) -> None:
    token = fresh_token()
    transact(table, fresh_token(), most=1)
    with pytest.raises(table.exceptions.TransactionCanceledException):
        transact(table, token, most=1)
    table.delete_item(TableName="t", Key=KEY)
    transact(table, token, most=1)
    assert count(table) == "1"


def test_writes_beside_a_cancelled_transaction_are_not_lost(table: Any) -> None:
    for number in range(300):  # moto copies them all, which takes long enough for others to write
        table.put_item(TableName="t", Item={"pk": {"S": f"other-{number}"}})

    def count_up(_: int) -> None:
        counted = {"UpdateExpression": "ADD n :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}
        table.update_item(TableName="t", Key=KEY, **counted)

    def cancelled(number: int) -> None:
        never = {"Item": {"pk": {"S": f"never-{number}"}}, "ConditionExpression": "attribute_exists(pk)"}
        try:
            table.transact_write_items(TransactItems=[{"Put": {"TableName": "t", **never}}])
        except table.exceptions.TransactionCanceledException:
            return
        raise AssertionError("its condition doesn't hold")

    with ThreadPoolExecutor(8) as pool:
        work = [pool.submit(act, number) for number in range(100) for act in (count_up, cancelled)]
    assert [each.exception() for each in work if each.exception()] == []
    assert count(table) == "100"
