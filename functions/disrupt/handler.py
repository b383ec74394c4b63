"""disrupt.fifo → disrupt."""

from datetime import UTC, datetime, timedelta

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from nodewright.wiring.disrupt import disrupt_function

function = disrupt_function()
processor = BatchProcessor(event_type=EventType.SQS)


def handler(event: dict[str, object], context: LambdaContext) -> PartialItemFailureResponse:
    """One hint a batch; a run that fails is told, and reconcile asks again."""
    deadline = datetime.now(UTC) + timedelta(milliseconds=context.get_remaining_time_in_millis())

    def hint(record: SQSRecord) -> None:
        sent = int(record.attributes.sent_timestamp)
        function.on_hint(record.body, sent, lambda cluster, at: function.use(cluster, at, deadline))

    with function.telemetry.recording():
        return process_partial_response(event, hint, processor, context)
