"""What moto's queues must do for functions that run outside of it. Call `install()` in moto's process."""

from collections.abc import Callable
from typing import Any

from moto.sqs.models import Queue, SQSBackend

from sandbox.lambdas.lineage import current_trace


def install() -> None:
    """Patch moto's classes; calling it again changes nothing.

    - A message keeps the trace header of the request that sent it, in a batch too: the recursion guard reads it.
    - Deleting holds the queue's lock: a message that was sent at the same moment got lost.
    """
    if not hasattr(SQSBackend.send_message, "__wrapped__"):
        _wrap(SQSBackend, "send_message", _send_with_trace)
        _wrap(Queue, "delete_message", _delete_locked)


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
