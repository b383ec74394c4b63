"""What every function has: settings, telemetry, clock, the table and the hint queues."""

from collections.abc import Mapping
from dataclasses import dataclass

from nodewright.adapters import aws_clients
from nodewright.adapters.clock import SystemClock
from nodewright.adapters.dynamodb.ledger import DynamoLedger
from nodewright.adapters.sqs import SqsHints
from nodewright.application.ports import Duty
from nodewright.settings import Settings
from nodewright.telemetry import PowertoolsObserver, Telemetry


@dataclass(frozen=True, slots=True)
class Base:
    """Made once per container."""

    settings: Settings
    telemetry: Telemetry
    observer: PowertoolsObserver
    clock: SystemClock
    ledger: DynamoLedger
    hints: SqsHints


def base(function: str) -> Base:
    """For the function of this verb. SettingsError names every variable that is missing."""
    settings = Settings.load()
    telemetry = Telemetry.of(function, settings.stack_id)
    observer = PowertoolsObserver(telemetry)
    clock = SystemClock()
    ledger = DynamoLedger(
        aws_clients.dynamodb(settings.region),
        settings.table,
        region=settings.region,
        clock=clock,
        report=lambda message: observer.problem("", "table", message),
    )
    hints = SqsHints(aws_clients.sqs(settings.region), _queues(settings))
    return Base(settings, telemetry, observer, clock, ledger, hints)


def _queues(settings: Settings) -> Mapping[Duty, str]:
    return {
        "provision": settings.provision_queue_url,
        "reconcile": settings.reconcile_queue_url,
        "disrupt": settings.disrupt_queue_url,
    }
