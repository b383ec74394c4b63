"""A batch of SQS messages as the event Lambda makes of it, and a handler's answer read as Lambda reads it.

https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html and …/services-sqs-errorhandling.html
"""

import base64
from collections.abc import Sequence

from sandbox.lambdas.outcome import Json


def sqs_event(messages: Sequence[Json], queue_arn: str) -> Json:
    """The event of one batch, in the order received."""
    return {"Records": [_record(message, queue_arn) for message in messages]}


def failed_message_ids(response: Json, message_ids: Sequence[str]) -> frozenset[str]:
    """Which messages of the batch stay in the queue; an answer that names none, or a stranger, fails them all."""
    if not response:
        return frozenset()
    failures = response.get("batchItemFailures", []) if isinstance(response, dict) else None
    if failures is None:
        return frozenset()
    if not isinstance(failures, list):
        return frozenset(message_ids)
    named = {str(failure.get("itemIdentifier")) if isinstance(failure, dict) else "" for failure in failures}
    return frozenset(named) if named <= set(message_ids) else frozenset(message_ids)


def _record(message: Json, queue_arn: str) -> Json:
    record = {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message.get("Attributes", {}),
        "messageAttributes": {name: _attribute(value) for name, value in message.get("MessageAttributes", {}).items()},
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": queue_arn.split(":")[3],
    }
    if "MD5OfMessageAttributes" in message:
        record["md5OfMessageAttributes"] = message["MD5OfMessageAttributes"]
    return record


def _attribute(value: Json) -> Json:
    """Lambda's spelling of a message attribute; binary values travel as base64, which JSON can carry."""
    attribute = {"stringListValues": [], "binaryListValues": [], "dataType": value["DataType"]}
    if "StringValue" in value:
        attribute["stringValue"] = value["StringValue"]
    if "BinaryValue" in value:
        attribute["binaryValue"] = base64.b64encode(value["BinaryValue"]).decode()
    return attribute
