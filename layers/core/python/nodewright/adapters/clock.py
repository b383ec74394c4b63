"""The machine's clock."""

import time
from datetime import UTC, datetime, timedelta


class SystemClock:
    """Implements Clock."""

    def now(self) -> datetime:
        """Aware, UTC."""
        return datetime.now(UTC)  # noqa: TID251 - this is where now comes from

    def sleep(self, duration: timedelta) -> None:
        """Wait; a negative duration is over already."""
        time.sleep(max(0.0, duration.total_seconds()))
