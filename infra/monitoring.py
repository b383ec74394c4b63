"""Alarms that mean something is broken, and one page to look at. Hint queues have none: see events.py."""

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from infra.events import HintQueue, WorkQueue
from infra.functions import VerbFunction

_PERIOD = Duration.minutes(5)

#: As nodewright/telemetry.py sends them, with the function and the stack as dimensions; a test holds the two together.
_NAMESPACE = "Nodewright"
#: Who buys, or leaves out what was bought in vain.
_BRAKING = ("provision", "disrupt", "reconcile")
#: How often who reports problems runs. notify has none: whoever finds its address can make it report some.
_REPORTING = {
    **dict.fromkeys(("provision", "reconcile", "interrupt", "retire", "disrupt"), Duration.minutes(15)),
    "refresh": Duration.hours(1),
}


class Monitoring(Construct):
    """Alarms at 0.10 USD a month each, two or more a function; an account's first dashboards are free."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        functions: Sequence[VerbFunction],
        queues: Sequence[HintQueue],
        works: Sequence[WorkQueue],
    ) -> None:
        super().__init__(scope, construct_id)
        for function in functions:
            _alarm(self, function, "Errors", function.function.metric_errors(period=_PERIOD))
            _alarm(self, function, "Throttles", function.function.metric_throttles(period=_PERIOD))
            if function.verb.name in _BRAKING:
                _brakes(self, function, name)
            if function.verb.name in _REPORTING:
                _problems(self, function, name)
        for work in works:
            _dead_letters(self, work)
        cloudwatch.Dashboard(
            self, "Dashboard", dashboard_name=name, widgets=[_runs(functions), _durations(functions, queues)]
        )


def _alarm(scope: Construct, function: VerbFunction, what: str, metric: cloudwatch.Metric) -> None:
    """Two periods of three: a single failure repairs itself at the next hint."""
    verb = function.verb.name
    cloudwatch.Alarm(
        scope,
        f"{verb.capitalize()}{what}",
        alarm_description=f"{verb}: {what.lower()} in two of three 5-minute periods; its log says why",
        metric=metric,
        threshold=1,
        comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluation_periods=3,
        datapoints_to_alarm=2,
        treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
    )


def _brakes(scope: Construct, function: VerbFunction, stack: str) -> None:
    """One is enough: pods wait until somebody looks, or for as long as the brake says."""
    verb = function.verb.name
    cloudwatch.Alarm(
        scope,
        f"{verb.capitalize()}Brakes",
        alarm_description=f"{verb}: buying was stopped, its log says which brake and why; see `nodewright status`",
        metric=_our_metric("BrakesApplied", verb, stack, _PERIOD),
        threshold=1,
        comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluation_periods=1,
        treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
    )


def _problems(scope: Construct, function: VerbFunction, stack: str) -> None:
    """Three periods in a row: most problems are gone at the next run, these aren't."""
    verb = function.verb.name
    cloudwatch.Alarm(
        scope,
        f"{verb.capitalize()}Problems",
        alarm_description=f"{verb}: problems in three periods in a row don't mend themselves; its log says which",
        metric=_our_metric("Problems", verb, stack, _REPORTING[verb]),
        threshold=1,
        comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluation_periods=3,
        treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
    )


def _our_metric(metric: str, verb: str, stack: str, period: Duration) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=_NAMESPACE,
        metric_name=metric,
        dimensions_map={"service": verb, "stack": stack},
        statistic="Sum",
        period=period,
    )


def _dead_letters(scope: Construct, work: WorkQueue) -> None:
    """One is enough: something fails every time."""
    cloudwatch.Alarm(
        scope,
        f"{work.node.id}Dead",
        alarm_description=f"{work.queue.node.path}: a message failed every time; the function's log says why",
        metric=work.dead.metric_approximate_number_of_messages_visible(period=_PERIOD),
        threshold=1,
        comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluation_periods=1,
        treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
    )


def _runs(functions: Sequence[VerbFunction]) -> list[cloudwatch.IWidget]:
    return [
        _graph("Runs", [each.function.metric_invocations(label=each.verb.name, period=_PERIOD) for each in functions]),
        _graph("Errors", [each.function.metric_errors(label=each.verb.name, period=_PERIOD) for each in functions]),
    ]


def _durations(functions: Sequence[VerbFunction], queues: Sequence[HintQueue]) -> list[cloudwatch.IWidget]:
    slowest = [
        each.function.metric_duration(label=each.verb.name, period=_PERIOD, statistic="Maximum") for each in functions
    ]
    waiting = [each.queue.metric_approximate_age_of_oldest_message(period=_PERIOD) for each in queues]
    return [_graph("Slowest run", slowest), _graph("Oldest hint", waiting)]


def _graph(title: str, metrics: Sequence[cloudwatch.IMetric]) -> cloudwatch.IWidget:
    return cloudwatch.GraphWidget(title=title, left=list(metrics), width=12)
