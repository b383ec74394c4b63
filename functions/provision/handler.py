"""provision.fifo → provision."""

from datetime import UTC, datetime, timedelta

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext
from nodewright.wiring import provision_function

function = provision_function()
processor = BatchProcessor(event_type=EventType.SQS)


def handler(event: dict[str, object], context: LambdaContext) -> PartialItemFailureResponse:
    """One hint a batch; a failed run sends a new hint instead of blocking its cluster's group."""
    deadline = datetime.now(UTC) + timedelta(milliseconds=context.get_remaining_time_in_millis())

    def record(record: SQSRecord) -> None:
        function.on_hint(
            record.body, int(record.attributes.sent_timestamp), lambda c, sent: function.use(c, sent, deadline)
        )

    with function.telemetry.recording():
        return process_partial_response(event, record, processor, context)
