"""retire, ready to run."""

from dataclasses import dataclass
from datetime import timedelta

import boto3

from nodewright.adapters import aws_clients
from nodewright.adapters.ec2 import Ec2Fleet
from nodewright.adapters.eks_token import EksTokens
from nodewright.adapters.kubernetes import KubernetesClusters
from nodewright.adapters.sqs_retire import RetireMessage, SqsRetireQueue
from nodewright.application.errors import NotFoundError, OutsideError
from nodewright.application.retire import Retire
from nodewright.telemetry import Telemetry
from nodewright.wiring.state import Base, base


@dataclass(frozen=True, slots=True)
class RetireFunction:
    """The use case with what a handler needs around it."""

    use: Retire
    base: Base

    @property
    def telemetry(self) -> Telemetry:
        """The function's logger and metrics."""
        return self.base.telemetry

    def on_message(self, body: str) -> None:
        """One turn. An unreadable message, or one for a cluster that was disconnected, is told and dropped.

        UnavailableError: what came of it isn't stored, so the message must come again.
        """
        message = RetireMessage.read(body)
        if message is None:
            self.base.observer.problem("", "retire", f"not a turn: {body[:200]!r}")
            return
        try:
            outcome = self.use(*message)
        except NotFoundError as error:
            self.base.observer.problem(message.cluster, "retire", str(error))
        except OutsideError as error:
            self.base.observer.problem(message.cluster, "retire", f"{message.claim_id}: {error}; it comes again")
            raise
        else:
            self.telemetry.logger.info("turn", cluster=message.cluster, node_claim=message.claim_id, outcome=outcome)


def retire_function() -> RetireFunction:
    """Made at cold start."""
    parts = base("retire")
    settings = parts.settings
    use = Retire(
        parts.ledger,
        KubernetesClusters(EksTokens(boto3.Session(), settings.region)),
        Ec2Fleet(aws_clients.ec2(settings.region), settings.stack_id),
        retire_queue(parts),
        parts.hints,
        parts.observer,
        parts.clock,
        timedelta(seconds=settings.function_timeout_seconds),
    )
    return RetireFunction(use, parts)


def retire_queue(parts: Base) -> SqsRetireQueue:
    """For every function that starts retirements or sends them on."""
    settings = parts.settings
    return SqsRetireQueue(aws_clients.sqs(settings.region), settings.retire_queue_url)
