"""AWS's events about instances → interrupt."""

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from nodewright.wiring.interrupt import interrupt_function

function = interrupt_function()
processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)


def event_of(record: SQSRecord) -> None:
    """One event."""
    function.on_message(record.body)


def handler(event: dict[str, object], context: LambdaContext) -> PartialItemFailureResponse:
    """An event that couldn't be handled to its end is named, so the queue brings it again; the others are done."""
    with function.telemetry.recording():
        return process_partial_response(event, event_of, processor, context)
