"""The retire queue → retire."""

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from nodewright.wiring.retire import retire_function

function = retire_function()
processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)


def turn(record: SQSRecord) -> None:
    """One retirement's turn."""
    function.on_message(record.body)


def handler(event: dict[str, object], context: LambdaContext) -> PartialItemFailureResponse:
    """A message whose effect couldn't be stored is named, so the queue brings it again."""
    with function.telemetry.recording():
        return process_partial_response(event, turn, processor, context)
