"""Skipped types that hang a policy on a queue or a bucket."""

import json
from collections.abc import Mapping

from sandbox.aws.cloudformation.kinds import Clients, Kind, Made, Properties


def policy_types() -> Mapping[str, Kind]:
    """Resource type → what is done for it."""
    return {
        "AWS::SQS::QueuePolicy": Kind(_put_on_queues, _update_on_queues, _take_off_queues, attributes=("Id",)),
        "AWS::S3::BucketPolicy": Kind(_put_on_bucket, _update_on_bucket, _take_off_bucket),
    }


def _put_on_queues(clients: Clients, name: str, properties: Properties) -> Made:
    policy = json.dumps(properties["PolicyDocument"])
    for queue in properties["Queues"]:
        clients("sqs").set_queue_attributes(QueueUrl=queue, Attributes={"Policy": policy})
    return Made(name, {"Id": name})


def _update_on_queues(clients: Clients, made: Made, properties: Properties) -> Made:
    return _put_on_queues(clients, made.reference, properties)


def _take_off_queues(clients: Clients, _: Made, properties: Properties) -> None:
    sqs = clients("sqs")
    for queue in properties["Queues"]:
        try:
            sqs.set_queue_attributes(QueueUrl=queue, Attributes={"Policy": ""})
        except sqs.exceptions.QueueDoesNotExist:
            continue  # the stack's own queue went first


def _put_on_bucket(clients: Clients, _: str, properties: Properties) -> Made:
    document = properties["PolicyDocument"]
    # moto applies a statement whatever its conditions say: "deny all that isn't TLS" would deny everything.
    unconditional = [statement for statement in document["Statement"] if "Condition" not in statement]
    if unconditional:
        policy = json.dumps({**document, "Statement": unconditional})
        clients("s3").put_bucket_policy(Bucket=properties["Bucket"], Policy=policy)
    return Made(properties["Bucket"])


def _update_on_bucket(clients: Clients, made: Made, properties: Properties) -> Made:
    return _put_on_bucket(clients, made.reference, properties)


def _take_off_bucket(clients: Clients, made: Made, _: Properties) -> None:
    clients("s3").delete_bucket_policy(Bucket=made.reference)
