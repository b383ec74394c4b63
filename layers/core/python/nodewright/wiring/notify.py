"""notify, ready to run: nothing is loaded that it doesn't use, for an API server waits while it starts cold."""

from dataclasses import dataclass

from nodewright.adapters import aws_json
from nodewright.adapters.dynamodb.connected import ConnectedReader
from nodewright.adapters.sqs import SqsHints
from nodewright.application.notify import Notify
from nodewright.settings import Settings
from nodewright.telemetry import PowertoolsObserver, Telemetry


@dataclass(frozen=True, slots=True)
class NotifyFunction:
    """The use case with its telemetry."""

    use: Notify
    telemetry: Telemetry


def notify_function() -> NotifyFunction:
    """Made at cold start."""
    settings = Settings.load()
    telemetry = Telemetry.of("notify", settings.stack_id)
    use = Notify(_connected(settings), _hints(settings), PowertoolsObserver(telemetry))
    return NotifyFunction(use, telemetry)


def _connected(settings: Settings) -> ConnectedReader:
    endpoint = settings.endpoint_url or aws_json.endpoint_beside(settings.provision_queue_url, "dynamodb")
    return ConnectedReader(aws_json.dynamodb(settings.region, endpoint), settings.table)


def _hints(settings: Settings) -> SqsHints:
    endpoint = settings.endpoint_url or aws_json.endpoint_beside(settings.provision_queue_url, "sqs")
    queues = aws_json.QueueService(aws_json.sqs(settings.region, endpoint))
    return SqsHints(queues, {"provision": settings.provision_queue_url, "reconcile": settings.reconcile_queue_url})
