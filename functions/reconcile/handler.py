"""reconcile.fifo → reconcile."""

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from nodewright.wiring.reconcile import reconcile_function

function = reconcile_function()
processor = BatchProcessor(event_type=EventType.SQS)


def hint(record: SQSRecord) -> None:
    """One hint."""
    function.on_hint(record.body, int(record.attributes.sent_timestamp), function.use)


def handler(event: dict[str, object], context: LambdaContext) -> PartialItemFailureResponse:
    """One hint a batch; a failed run sends a new hint instead of blocking its cluster's group."""
    with function.telemetry.recording():
        return process_partial_response(event, hint, processor, context)
