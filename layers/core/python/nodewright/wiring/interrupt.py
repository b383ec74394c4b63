"""interrupt, ready to run."""

import json
from dataclasses import dataclass

import boto3

from nodewright.adapters import aws_clients
from nodewright.adapters.ec2 import Ec2Fleet
from nodewright.adapters.eks_token import EksTokens
from nodewright.adapters.kubernetes import KubernetesClusters
from nodewright.application.errors import OutsideError
from nodewright.application.interrupt import Interrupt
from nodewright.application.pool_settings import PoolSettings
from nodewright.application.retirement_starts import RetirementStarts
from nodewright.telemetry import Telemetry
from nodewright.wiring.retire import retire_queue
from nodewright.wiring.state import Base, base


@dataclass(frozen=True, slots=True)
class InterruptFunction:
    """The use case with what a handler needs around it."""

    use: Interrupt
    base: Base

    @property
    def telemetry(self) -> Telemetry:
        """The function's logger and metrics."""
        return self.base.telemetry

    def on_message(self, body: str) -> None:
        """One event, as EventBridge put it on the queue. An OutsideError: it must come again."""
        try:
            report = self.use(_decoded(body))
        except OutsideError as error:
            self.base.observer.problem("", "event", f"{error}; it comes again")
            raise
        self.telemetry.logger.info("event", report=report)


def interrupt_function() -> InterruptFunction:
    """Made at cold start."""
    parts = base("interrupt")
    settings = parts.settings
    clusters = KubernetesClusters(EksTokens(boto3.Session(), settings.region))
    use = Interrupt(
        parts.ledger,
        Ec2Fleet(aws_clients.ec2(settings.region), settings.stack_id),
        PoolSettings(parts.ledger, clusters, parts.clock),
        RetirementStarts(parts.ledger, parts.hints, retire_queue(parts), parts.clock),
        parts.hints,
        parts.observer,
        parts.clock,
    )
    return InterruptFunction(use, parts)


def _decoded(body: str) -> object:
    """What is no JSON is no event either; the use case says so."""
    try:
        return json.loads(body)
    except ValueError:
        return body
