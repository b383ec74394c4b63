"""EventBridge's default bus: every event told to the sandbox, and moto's delivery put right.

moto gives an event to a disabled rule and to a schedule, loses its account, ignores a target's Input, and raises for a
Lambda target. Here queues get theirs as AWS sends it. Lambda targets are left to whoever listens: code runs elsewhere.
Somebody who carries events to all targets switches `delivers` off.
"""

import json
import logging
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from moto.core.exceptions import ServiceException
from moto.events.models import EventsBackend, events_backends
from moto.events.utils import EventTemplateParser
from moto.sqs.models import sqs_backends

from sandbox.aws.defaults import ACCOUNT
from sandbox.aws.patches import Patches

_log = logging.getLogger(__name__)

Event = dict[str, Any]
EventListener = Callable[[Event], None]


class Events:
    """Hears of each event before moto delivers it."""

    def __init__(self, region: str, clock: Callable[[], datetime]) -> None:
        self._region = region
        self._clock = clock
        self._listeners: list[EventListener] = []
        # Off while somebody else carries events to targets.
        self.delivers = True

    def on_put(self, listener: EventListener) -> Callable[[], None]:
        """Call the listener with each event put on the default bus, shaped as AWS delivers it; the result ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def put(self, source: str, detail_type: str, detail: Event, resources: Iterable[str] = ()) -> None:
        """Put an event on the default bus, as AWS's own services do (say a spot interruption)."""
        entry = {
            "Source": source,
            "DetailType": detail_type,
            "Detail": json.dumps(detail),
            "Resources": list(resources),
        }
        events_backends[ACCOUNT][self._region].put_events([entry])

    def install(self, patches: Patches) -> None:
        """Take over telling and delivering."""

        def put_events(backend: Any, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
            entries: list[dict[str, Any]] = original(_Silent(backend), events)
            for event, entry in zip(events, entries, strict=True):
                if "EventId" in entry:
                    self._deliver(backend, event, entry["EventId"])
            return entries

        original = patches.replace(EventsBackend, "put_events", put_events)

    def _deliver(self, backend: Any, entry: dict[str, Any], event_id: str) -> None:
        bus_name = backend._normalize_event_bus_arn(entry.get("EventBusName"))  # noqa: SLF001  moto's own rule for names
        event = self._shaped(backend, entry, event_id)
        if bus_name == "default":
            for listener in list(self._listeners):
                listener(event)
        if not self.delivers:
            return
        for rule in list(backend.describe_event_bus(bus_name).rules.values()):
            if matches(rule, event):
                _send(rule, event)

    def _shaped(self, backend: Any, entry: dict[str, Any], event_id: str) -> Event:
        return {
            "version": "0",
            "id": event_id,
            "detail-type": entry["DetailType"],
            "source": entry["Source"],
            "account": ACCOUNT,
            "time": _timestamp(entry.get("Time") or self._clock()),
            "region": backend.region_name,
            "resources": list(entry.get("Resources", ())),
            "detail": json.loads(entry["Detail"]),
        }


class _Silent:
    """A backend whose buses have no rules: moto checks the entries, and delivers none."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def describe_event_bus(self, name: str) -> Any:
        self._backend.describe_event_bus(name)
        return type("Bus", (), {"rules": {}})


def matches(rule: Any, event: Event) -> bool:
    """Whether a rule is on, is about events at all, and its pattern fits."""
    if rule.state != "ENABLED" or not rule.event_pattern.get_pattern():
        return False
    return bool(rule.event_pattern.matches_event(event))


def target_input(target: dict[str, Any], event: Event) -> Event:
    """What a target receives: its own Input, a transformed event, part of the event, or all of it."""
    if "Input" in target:
        return dict(json.loads(target["Input"]))
    if transformer := target.get("InputTransformer"):
        parse: Any = EventTemplateParser.parse
        paths = transformer.get("InputPathsMap", {})
        return dict(parse(transformer["InputTemplate"], paths, {**event, "ingestion-time": event["time"]}))
    part: Any = event
    for name in target.get("InputPath", "$").split(".")[1:]:
        part = part[name]
    return dict(part)


def _send(rule: Any, event: Event) -> None:
    for target in rule.targets:
        _, _, service, region, account, resource = target["Arn"].split(":", 5)
        if service != "sqs":
            continue
        group = target.get("SqsParameters", {}).get("MessageGroupId")
        try:
            body = json.dumps(target_input(target, event))
            sqs_backends[account][region].send_message(resource, body, group_id=group)
        except ServiceException as error:
            # The caller of PutEvents never hears of a target that fails.
            _log.warning("rule %s, target %s: %s", rule.name, target["Arn"], error)


def _timestamp(moment: Any) -> str:
    instant = moment if isinstance(moment, datetime) else datetime.fromtimestamp(float(moment), UTC)
    return f"{instant:%Y-%m-%dT%H:%M:%SZ}"
