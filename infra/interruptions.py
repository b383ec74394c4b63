"""One EventBridge rule per kind of event that `nodewright.domain.interruption` reads, all to interrupt's queue."""

from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from nodewright.domain.interruption import EVENTS, Event


class InterruptionRules(Construct):
    """EVENTS decides which there are and what each lets through, so stack and code can't disagree."""

    def __init__(self, scope: Construct, construct_id: str, *, queue: sqs.IQueue) -> None:
        super().__init__(scope, construct_id)
        for event in EVENTS:
            events.Rule(
                self,
                event.name,
                description=f"{event.source}: {event.detail_type}",
                event_pattern=_pattern(event),
                targets=[targets.SqsQueue(queue)],
            )


def _pattern(event: Event) -> events.EventPattern:
    return events.EventPattern(
        source=[event.source],
        detail_type=[event.detail_type],
        detail=dict(event.pattern) or None,
    )
