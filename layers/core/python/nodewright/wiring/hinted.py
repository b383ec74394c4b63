"""A function that is woken by hints."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, NamedTuple, TypeVar

from nodewright.application.hints import carry_out, is_overtaken
from nodewright.application.ports import Duty
from nodewright.telemetry import Telemetry
from nodewright.wiring.state import Base

UseCase = TypeVar("UseCase")


class Hint(NamedTuple):
    """One message."""

    cluster: str
    urgent: bool
    """It waits for no burst to be over."""


@dataclass(frozen=True, slots=True)
class HintedFunction(Generic[UseCase]):
    """A use case with what a handler needs around it."""

    use: UseCase
    base: Base
    duty: Duty

    @property
    def telemetry(self) -> Telemetry:
        """The function's logger and metrics."""
        return self.base.telemetry

    def on_hint(self, body: str, sent_milliseconds: int, run: Callable[[str, datetime | None], object]) -> None:
        """Carry out one message. An unreadable one is told and dropped: sending it again would not mend it."""
        hint = read_hint(body)
        if hint is None:
            self.base.observer.problem("", self.duty, f"not a hint: {body[:200]!r}")
            return
        sent = datetime.fromtimestamp(sent_milliseconds / 1000, UTC)
        carry_out(
            hint.cluster,
            lambda: self._run(hint, sent, run),
            duty=self.duty,
            hints=self.base.hints,
            observer=self.base.observer,
            clock=self.base.clock,
            urgent=hint.urgent,
        )

    def _run(self, hint: Hint, sent: datetime, run: Callable[[str, datetime | None], object]) -> None:
        if hint.urgent and is_overtaken(self.base.ledger, hint.cluster, self.duty, sent):
            return
        report = run(hint.cluster, None if hint.urgent else sent)
        self.base.telemetry.logger.info("run", cluster=hint.cluster, report=report)


def read_hint(body: str) -> Hint | None:
    """What a message says; None for what is no hint."""
    try:
        raw = json.loads(body)
    except ValueError:
        return None
    name = raw.get("cluster") if isinstance(raw, dict) else None
    return Hint(name, raw.get("urgent") is True) if isinstance(name, str) and name else None
