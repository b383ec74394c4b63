"""Alarms: what each listens to is what something sends."""

import json
from collections.abc import Callable

import pytest

from nodewright.application.ports import Observer
from nodewright.telemetry import PowertoolsObserver, Telemetry
from tests.infra.template import Json, Template, mapping, sequence, text

VERBS = ["disrupt", "interrupt", "notify", "provision", "reconcile", "refresh", "retire", "tick"]


def test_two_alarms_watch_each_function_one_each_dead_letter_queue_and_none_a_hint_queue(template: Template) -> None:
    alarms = template.of("AWS::CloudWatch::Alarm").values()
    functions = [each for each in alarms if each["Namespace"] == "AWS/Lambda"]
    queues = [each for each in alarms if each["Namespace"] == "AWS/SQS"]

    assert len(functions) == 2 * len(VERBS)
    watched = " ".join(text(mapping(one)["Value"]) for each in queues for one in sequence(each["Dimensions"]))
    assert (len(queues), "RetireWorkDead" in watched, "InterruptWorkDead" in watched) == (2, True, True)
    ours = [each for each in alarms if each["Namespace"] == "Nodewright"]
    assert len(alarms) == len(functions) + len(queues) + len(ours)


def _brake(observer: Observer) -> None:
    observer.braked("red", "launches-per-hour", "too many")


def _have_a_problem(observer: Observer) -> None:
    observer.problem("red", "launch", "refused")


@pytest.mark.parametrize(
    ("does", "verbs"),
    [
        (_brake, ["disrupt", "provision", "reconcile"]),
        (_have_a_problem, ["disrupt", "interrupt", "provision", "reconcile", "refresh", "retire"]),
    ],
)
def test_what_somebody_must_look_at_raises_an_alarm_of_its_function_and_stack(
    chosen_template: Template,
    does: Callable[[Observer], None],
    verbs: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    alarms = [
        each for each in chosen_template.of("AWS::CloudWatch::Alarm").values() if each["Namespace"] == "Nodewright"
    ]
    assert [verb for verb in VERBS if _sent(verb, does, capsys) in map(_listened_to, alarms)] == verbs


def _sent(verb: str, does: Callable[[Observer], None], capsys: pytest.CaptureFixture[str]) -> dict[str, Json]:
    """The metric that a function of this name sends when it does that."""
    telemetry = Telemetry.of(verb, "Other")
    with telemetry.recording():
        does(PowertoolsObserver(telemetry))
    record = json.loads(capsys.readouterr().out.splitlines()[-1])
    (metrics,) = record["_aws"]["CloudWatchMetrics"]
    (dimensions,) = metrics["Dimensions"]
    (metric,) = metrics["Metrics"]
    return {
        "Namespace": metrics["Namespace"],
        "MetricName": metric["Name"],
        "Dimensions": {name: record[name] for name in dimensions},
    }


def _listened_to(alarm: dict[str, Json]) -> dict[str, Json]:
    dimensions = [mapping(each) for each in sequence(alarm["Dimensions"])]
    return {
        "Namespace": alarm["Namespace"],
        "MetricName": alarm["MetricName"],
        "Dimensions": {text(each["Name"]): each["Value"] for each in dimensions},
    }
