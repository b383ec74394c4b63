from concurrent.futures import ThreadPoolExecutor

from sandbox.aws.server import SandboxAws

KEY = {"pk": {"S": "counter"}}


def test_writes_beside_a_cancelled_transaction_are_not_lost(aws: SandboxAws) -> None:
    table = aws.client("dynamodb")
    table.create_table(
        TableName="t",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )

    for number in range(300):  # moto copies them all, which takes long enough for others to write
        table.put_item(TableName="t", Item={"pk": {"S": f"other-{number}"}})

    def count(_: int) -> None:
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
        work = [pool.submit(act, number) for number in range(100) for act in (count, cancelled)]
    assert [each.exception() for each in work if each.exception()] == []
    assert table.get_item(TableName="t", Key=KEY)["Item"]["n"] == {"N": "100"}
