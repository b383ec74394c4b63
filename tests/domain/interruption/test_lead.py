from datetime import timedelta

import pytest

from nodewright.domain.interruption.lead import SCHEDULED_EVENT_LEAD, scheduled_event_lead


@pytest.mark.parametrize(
    ("settings", "hours"),
    [
        ({}, 24),
        ({SCHEDULED_EVENT_LEAD: "72h"}, 72),
        ({SCHEDULED_EVENT_LEAD: "90m"}, 1.5),
        ({SCHEDULED_EVENT_LEAD: "0"}, 0),
    ],
)
def test_a_day_unless_the_pool_says_otherwise(settings: dict[str, str], hours: float) -> None:
    assert scheduled_event_lead(settings) == timedelta(hours=hours)


@pytest.mark.parametrize("text", ["", "a day", "1d", "-1h", "24"])
def test_what_is_no_duration_is_named_with_the_fix(text: str) -> None:
    with pytest.raises(ValueError, match=r"nodewright.dev/scheduled-event-lead: .* write it like 24h"):
        scheduled_event_lead({SCHEDULED_EVENT_LEAD: text})
