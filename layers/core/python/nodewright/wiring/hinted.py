"""A function that is woken by hints."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, TypeVar

from nodewright.application.hints import carry_out
from nodewright.application.ports import Duty
from nodewright.telemetry import Telemetry
from nodewright.wiring.state import Base

UseCase = TypeVar("UseCase")


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

    def on_hint(self, body: str, sent_milliseconds: int, run: Callable[[str, datetime], object]) -> None:
        """Carry out one message. An unreadable one is told and dropped: sending it again would not mend it."""
        cluster = cluster_of(body)
        if cluster is None:
            self.base.observer.problem("", self.duty, f"not a hint: {body[:200]!r}")
            return
        sent = datetime.fromtimestamp(sent_milliseconds / 1000, UTC)
        carry_out(
            cluster,
            lambda: self.base.telemetry.logger.info("run", cluster=cluster, report=run(cluster, sent)),
            duty=self.duty,
            hints=self.base.hints,
            observer=self.base.observer,
            clock=self.base.clock,
        )


def cluster_of(body: str) -> str | None:
    """The cluster a hint names; None for what is no hint."""
    try:
        raw = json.loads(body)
    except ValueError:
        return None
    name = raw.get("cluster") if isinstance(raw, dict) else None
    return name if isinstance(name, str) and name else None
