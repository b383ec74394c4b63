"""DynamoDB tables with time to live and point-in-time recovery, which moto drops; global tables as one replica."""

from collections.abc import Mapping
from typing import Any

from sandbox.aws.cloudformation.kinds import Clients, Kind, Made, Properties

ATTRIBUTES = ("Arn", "StreamArn", "TableId")


def table_types(region: str) -> Mapping[str, Kind]:
    """Resource type → what is done for it."""

    def create(clients: Clients, name: str, properties: Properties) -> Made:
        return _create(clients, name, _of_replica(region, properties))

    def update(clients: Clients, made: Made, properties: Properties) -> Made:
        return _update(clients, made, _of_replica(region, properties))

    return {
        "AWS::DynamoDB::Table": Kind(_create, _update, _delete, "TableName", ATTRIBUTES),
        "AWS::DynamoDB::GlobalTable": Kind(create, update, _delete, "TableName", ATTRIBUTES),
    }


def _of_replica(region: str, properties: Properties) -> Properties:
    """A global table's settings, those of this region's replica among them, in a table's terms."""
    replica = next(one for one in properties["Replicas"] if one["Region"] == region)
    return {**properties, **{key: value for key, value in replica.items() if key != "Region"}}


def _create(clients: Clients, name: str, properties: Properties) -> Made:
    client = clients("dynamodb")
    wanted = {key: properties[key] for key in _CREATED_WITH if properties.get(key)}
    wanted.setdefault("BillingMode", "PROVISIONED")
    if "StreamSpecification" in wanted:
        wanted["StreamSpecification"] = {"StreamEnabled": True, **wanted["StreamSpecification"]}
    table = client.create_table(TableName=name, **wanted)["TableDescription"]
    _apply(client, name, properties)
    return _made(table)


def _update(clients: Clients, made: Made, properties: Properties) -> Made:
    client = clients("dynamodb")
    _apply(client, made.reference, properties)
    return _made(client.describe_table(TableName=made.reference)["Table"])


def _delete(clients: Clients, made: Made, _: Properties) -> None:
    clients("dynamodb").delete_table(TableName=made.reference)


def _made(table: Mapping[str, Any]) -> Made:
    attributes = {
        "Arn": table["TableArn"],
        "TableId": table.get("TableId", ""),
        "StreamArn": table.get("LatestStreamArn", ""),
    }
    return Made(table["TableName"], attributes)


def _apply(client: Any, name: str, properties: Properties) -> None:
    lifetime = properties.get("TimeToLiveSpecification")
    if lifetime and lifetime.get("AttributeName"):
        client.update_time_to_live(TableName=name, TimeToLiveSpecification=lifetime)
    recovery = properties.get("PointInTimeRecoverySpecification")
    if recovery:
        client.update_continuous_backups(TableName=name, PointInTimeRecoverySpecification=recovery)


_CREATED_WITH = (
    "KeySchema",
    "AttributeDefinitions",
    "BillingMode",
    "ProvisionedThroughput",
    "GlobalSecondaryIndexes",
    "LocalSecondaryIndexes",
    "StreamSpecification",
    "Tags",
)
