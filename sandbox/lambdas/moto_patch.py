"""What must differ in moto where the sandbox, and not moto, runs the functions. Call `install()` in moto's process."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from moto.core.utils import unix_time_millis
from moto.events.models import EventsBackend, Rule
from moto.sqs.models import Queue, SQSBackend

from sandbox.lambdas.lineage import current_trace
from sandbox.lambdas.outcome import Json

_sinks: list[Callable[[Json], object]] = []


def install() -> None:
    """Patch moto's classes; calling it again changes nothing.

    - A message no longer invokes its mapped function inside `send_message` (moto runs no code and loses batches).
    - A message keeps the trace header of the request that sent it.
    - Deleting holds the queue's lock: a message sent at the same moment was lost.
    - A waiting receive wakes when a delay or a visibility timeout ends, not up to a second later.
    - `put_events` delivers nothing itself (in moto one schedule makes it fail) and tells the sinks.
    """
    if getattr(SQSBackend.send_message, "__wrapped__", None) is not None:
        return
    _wrap(SQSBackend, "send_message", _send_with_trace)
    _wrap(Queue, "delete_message", _delete_locked)
    _wrap(Queue, "wait_for_messages", _wait_until_due)
    _wrap(Rule, "send_to_targets", _deliver_nothing)
    _wrap(EventsBackend, "put_events", _put_to_sinks)
    # A class's property wins over what an instance stored: moto sees no mappings when a message arrives.
    setattr(Queue, "lambda_event_source_mappings", property(lambda _: {}, lambda _, __: None))  # noqa: B010 - a class's attribute


def forward_events(sink: Callable[[Json], object]) -> Callable[[], None]:
    """Give `sink` every event that `put_events` accepts from now on; the result ends that."""
    _sinks.append(sink)

    def end() -> None:
        with suppress(ValueError):
            _sinks.remove(sink)

    return end


def _wrap(owner: type, name: str, replacement: Callable[..., Any]) -> None:
    original = getattr(owner, name)

    def patched(self: Any, *args: Any, **kwargs: Any) -> Any:
        return replacement(original, self, *args, **kwargs)

    patched.__wrapped__ = original  # type: ignore[attr-defined]
    setattr(owner, name, patched)


def _send_with_trace(original: Callable[..., Any], backend: SQSBackend, *args: Any, **kwargs: Any) -> Any:
    trace, given = current_trace.get(), kwargs.get("system_attributes") or {}
    if trace and "AWSTraceHeader" not in given:
        header = {"DataType": "String", "StringValue": trace}
        kwargs["system_attributes"] = {**given, "AWSTraceHeader": header}
    return original(backend, *args, **kwargs)


def _delete_locked(original: Callable[..., Any], queue: Queue, receipt_handle: str) -> None:
    with queue._messages_lock:  # noqa: SLF001 - moto offers no other way in
        original(queue, receipt_handle)


def _wait_until_due(original: Callable[..., Any], queue: Queue, timeout: float) -> None:
    now = unix_time_millis()
    due = (max(message.visible_at, message.delayed_until) for message in list(queue._messages))  # noqa: SLF001
    next_due = min((at - now for at in due if at > now), default=timeout * 1000)
    # A millisecond more, because moto counts a message as visible only after its time.
    original(queue, min(timeout, next_due / 1000 + 0.001))


def _deliver_nothing(original: Callable[..., Any], rule: Rule, *_: Any, **__: Any) -> None:
    """EventBridge is the sandbox's."""


def _put_to_sinks(original: Callable[..., Any], backend: EventsBackend, events: list[Json]) -> Any:
    entries = original(backend, events)
    for event, entry in zip(events, entries, strict=True):
        if "EventId" in entry:
            for sink in tuple(_sinks):
                sink(_event(backend, event, entry["EventId"]))
    return entries


def _event(backend: EventsBackend, event: Json, event_id: str) -> Json:
    return {
        "id": event_id,
        "source": event["Source"],
        "detail-type": event["DetailType"],
        "account": backend.account_id,
        "region": backend.region_name,
        "resources": event.get("Resources", []),
        "detail": json.loads(event["Detail"]),
    }
