"""Each minute → tick."""

from datetime import UTC, datetime

from nodewright.wiring.tick import tick_function

function = tick_function()


def handler(_event: object, _context: object) -> dict[str, int]:
    """One hint per connected cluster."""
    with function.telemetry.recording():
        return {"clusters": function.use(datetime.now(UTC))}
