"""Lambda's recursion guard: the chain of functions an event came through travels in the trace header.

The SDK inside a function passes the header on, SQS keeps it as the message's AWSTraceHeader, and Lambda counts the
function's own passes: https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html. X-Ray's documentation
gives the form `Root=…;Lineage=hash:count|hash:count`.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import unquote

# "After exceeding 16 invocations" in the same chain Lambda stops the next one.
MAXIMUM_PASSES = 16

WsgiApp: TypeAlias = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

# The trace header of the request being served, for the queue that stores its message.
current_trace: ContextVar[str | None] = ContextVar("current_trace", default=None)


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace header's root and how often the chain passed through each function."""

    root: str
    passes: Mapping[str, int]

    @classmethod
    def parse(cls, header: str) -> "Trace":
        """Read a header; what it does not say is empty."""
        fields = dict(part.partition("=")[::2] for part in unquote(header).split(";"))
        counts = (entry.rpartition(":")[::2] for entry in fields.get("Lineage", "").split("|") if entry)
        return cls(fields.get("Root", ""), {name: int(count) for name, count in counts if count.isdigit()})

    @property
    def header(self) -> str:
        """As the runtime hands it to the function."""
        lineage = "|".join(f"{name}:{count}" for name, count in sorted(self.passes.items()))
        return f"Root={self.root};Sampled=0" + (f";Lineage={lineage}" if lineage else "")

    def count(self, function_arn: str) -> int:
        """How often the chain went through this function already."""
        return self.passes.get(_mark(function_arn), 0)

    def through(self, function_arn: str) -> "Trace":
        """The chain after one more pass."""
        return Trace(self.root, {**self.passes, _mark(function_arn): self.count(function_arn) + 1})

    def merged(self, other: "Trace") -> "Trace":
        """Of two messages in one batch: the longer chain counts, for each function."""
        names = {*self.passes, *other.passes}
        return Trace(self.root, {name: max(self.passes.get(name, 0), other.passes.get(name, 0)) for name in names})


def lineage_middleware(app: WsgiApp) -> WsgiApp:
    """Remember a request's trace header while `app` serves it; `moto_patch` stores it with the messages sent."""

    def remembering(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        token = current_trace.set(environ.get("HTTP_X_AMZN_TRACE_ID"))
        try:
            return app(environ, start_response)
        finally:
            current_trace.reset(token)

    return remembering


def _mark(function_arn: str) -> str:
    return hashlib.sha256(function_arn.encode()).hexdigest()[:8]
