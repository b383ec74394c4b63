from collections.abc import Callable, Iterator
from datetime import datetime

import pytest
from typer.testing import CliRunner

from nodewright.application.connecting import NO_CHANGE, Brakes
from nodewright.cli.app import app


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Brakes]:
    """What `connect` was asked of ceilings; nothing is connected."""
    heard: list[Brakes] = []

    def connecting(*arguments: object) -> Callable[[datetime], Iterator[str]]:
        assert isinstance(arguments[-1], Brakes)
        heard.append(arguments[-1])
        return lambda _: iter(())

    monkeypatch.setattr("nodewright.cli.connect.connecting", connecting)
    return heard


@pytest.mark.parametrize(
    ("options", "brakes"),
    [
        ([], NO_CHANGE),
        (["--limit-usd-per-hour", "12.50"], Brakes(limit_usd_per_hour=12_500_000_000)),
        (["--limit-usd-per-hour", "0"], Brakes(limit_usd_per_hour=0)),
        (["--limit-usd-per-hour", "none"], Brakes(without_usd_limit=True)),
        (["--launches-per-hour", "20"], Brakes(launches_per_hour=20)),
        (["--limit-usd-per-hour", "none", "--launches-per-hour", "1"], Brakes(None, True, 1)),  # noqa: FBT003
    ],
)
def test_ceilings_are_asked_for_by_options(asked: list[Brakes], options: list[str], brakes: Brakes) -> None:
    assert CliRunner().invoke(app, ["connect", "prod", *options]).exit_code == 0
    assert asked == [brakes]


@pytest.mark.parametrize(
    "options", [["--limit-usd-per-hour", "lots"], ["--limit-usd-per-hour", "-1"], ["--launches-per-hour", "0"]]
)
def test_what_is_no_ceiling_is_refused_before_anything_is_done(asked: list[Brakes], options: list[str]) -> None:
    result = CliRunner().invoke(app, ["connect", "prod", *options])
    assert result.exit_code == 2
    assert options[0] in result.output
    assert asked == []
