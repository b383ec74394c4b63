"""What wakes the functions: hint queues and schedules. The webhook's door is in api.py."""

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from aws_cdk.aws_lambda_event_sources import SqsEventSource
from constructs import Construct

from infra.functions import VerbFunction
from infra.nag import acknowledge

#: What the refresh handler is asked for, and how often. Types, offerings and list prices move slowly;
#: a new image or cluster version should be found within the hour, and spot prices move within it.
REFRESHES = (
    ("Catalogue", Duration.hours(12), ("types", "offerings", "prices")),
    ("Spot", Duration.hours(1), ("spot",)),
    ("Clusters", Duration.hours(1), ("clusters", "images")),
)


class HintQueue(Construct):
    """A FIFO queue whose messages say no more than "look at cluster X"; FIFO only to coalesce them.

    Losing one loses no work, as the minute's sweep is behind it: hence five minutes of retention and no dead letters.
    """

    def __init__(self, scope: Construct, construct_id: str, *, name: str, timeout_seconds: int) -> None:
        super().__init__(scope, construct_id)
        self.queue = sqs.Queue(
            self,
            "Queue",
            queue_name=f"{name}.fifo",
            fifo=True,
            content_based_deduplication=False,
            deduplication_scope=sqs.DeduplicationScope.MESSAGE_GROUP,
            fifo_throughput_limit=sqs.FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
            visibility_timeout=Duration.seconds(timeout_seconds + 10),
            retention_period=Duration.minutes(5),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
        )
        acknowledge(self.queue, "AwsSolutions-SQS3", "A hint holds no work: a dead one is replaced within the minute")

    def wakes(self, woken: VerbFunction) -> None:
        """One hint a run, as a run reads the whole cluster anyway."""
        woken.function.add_event_source(SqsEventSource(self.queue, batch_size=1, report_batch_item_failures=True))


#: How often a message may fail before somebody is to look: its retirement goes on all the same, sent on by reconcile.
RECEIVES = 5


class WorkQueue(Construct):
    """A standard queue of messages that each mean one thing to do, with a place for those that fail again and again.

    Senders give the cluster as message group, so that SQS lets no cluster wait for another's many.
    """

    def __init__(self, scope: Construct, construct_id: str, *, name: str, timeout_seconds: int) -> None:
        super().__init__(scope, construct_id)
        self.dead = sqs.Queue(
            self,
            "Dead",
            queue_name=f"{name}-dead",
            retention_period=Duration.days(14),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
        )
        self.queue = sqs.Queue(
            self,
            "Queue",
            queue_name=name,
            visibility_timeout=Duration.seconds(timeout_seconds + 10),
            retention_period=Duration.days(4),
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead, max_receive_count=RECEIVES),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
        )

    def wakes(self, woken: VerbFunction, *, at_once: int = 1) -> None:
        """`at_once` messages a run share the function's time; one alone has all of it."""
        woken.function.add_event_source(SqsEventSource(self.queue, batch_size=at_once, report_batch_item_failures=True))


class Schedules(Construct):
    """The clock: a tick each minute, and refreshes from minutes to hours."""

    def __init__(self, scope: Construct, construct_id: str, *, tick: VerbFunction, refresh: VerbFunction) -> None:
        super().__init__(scope, construct_id)
        self._minutely(tick.function)
        for name, period, what in REFRESHES:
            self._refresh(name, period, what, refresh.function)

    def _minutely(self, tick: lambda_.IFunction) -> None:
        # Late or repeated ticks are worth nothing: the next is a minute away.
        target = targets.LambdaFunction(tick, retry_attempts=0, max_event_age=Duration.minutes(1))
        schedule = events.Schedule.rate(Duration.minutes(1))
        events.Rule(self, "Tick", description="One hint per connected cluster", schedule=schedule, targets=[target])

    def _refresh(self, name: str, period: Duration, what: Sequence[str], refresh: lambda_.IFunction) -> None:
        order = events.RuleTargetInput.from_object({"refresh": list(what)})
        target = targets.LambdaFunction(refresh, event=order, retry_attempts=2, max_event_age=period)
        schedule = events.Schedule.rate(period)
        events.Rule(self, name, description=f"Refresh {', '.join(what)}", schedule=schedule, targets=[target])
