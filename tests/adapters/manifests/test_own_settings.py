import re
from pathlib import Path

import pytest

import nodewright.domain
from nodewright.adapters.manifests.own_settings import SETTINGS
from nodewright.adapters.manifests.pools import read_pool
from tests.adapters.manifests.raw import node_pool

#: In that domain, too, and no settings: amounts that limits count, and our names for things.
OTHERS = {
    "nodewright.dev/usd-nanos-per-hour",
    "nodewright.dev/launches-per-hour",
    "nodewright.dev/spread-over-hosts",
    "nodewright.dev/together-",
    # Of workloads, not of pools.
    "nodewright.dev/look-ahead",
}


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("nodewright.dev/assume-arch", "any"),
        ("nodewright.dev/min-values-policy", "BestEffort"),
        ("nodewright.dev/scheduled-event-lead", "90m"),
        ("nodewright.dev/scheduled-event-lead", "0"),
        ("nodewright.dev/preference-budget", "0%"),
        ("nodewright.dev/preference-budget", "2.5%"),
        ("nodewright.dev/preference-budget", "100%"),
        ("nodewright.dev/preferences", "ignore"),
    ],
)
def test_a_setting_is_kept(setting: str, value: str) -> None:
    reading = read_pool(node_pool(metadata={"annotations": {setting: value}}))
    assert reading.warnings == ()
    assert reading.pool is not None
    assert reading.pool.settings == {setting: value}


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("nodewright.dev/assume-arch", "arm64", "use amd64 or any; it counts as not set"),
        ("nodewright.dev/min-values-policy", "besteffort", "use Strict or BestEffort"),
        ("nodewright.dev/scheduled-event-lead", "1 day", "write it like 24h or 90m"),
        ("nodewright.dev/preference-budget", "10", "write it like 10%"),
        ("nodewright.dev/preference-budget", "100.5%", "use 0% to 100%; it counts as not set"),
        ("nodewright.dev/preferences", "Ignore", "use respect or ignore"),
        ("nodewright.dev/limit-usd-per-hours", "1", "did you mean nodewright.dev/limit-usd-per-hour?"),
        ("nodewright.dev/x", "1", "unknown setting, ignored: there are nodewright.dev/assume-arch"),
    ],
)
def test_what_is_no_setting_is_told_and_does_not_count(setting: str, value: str, message: str) -> None:
    reading = read_pool(node_pool(metadata={"annotations": {setting: value, "note": "a"}}))
    (warning,) = reading.warnings
    assert (warning.object, warning.path) == ("NodePool/default", f"metadata.annotations.{setting}")
    assert message in warning.message
    assert reading.pool is not None
    assert reading.pool.settings == {}


def test_settings_that_are_looked_at_are_known() -> None:
    folder = Path(nodewright.domain.__path__[0])
    named = {
        name for file in folder.rglob("*.py") for name in re.findall(r'"(nodewright\.dev/[a-z-]+)"', file.read_text())
    }
    assert named - OTHERS <= SETTINGS.keys()
    assert len(named - OTHERS) >= 3
