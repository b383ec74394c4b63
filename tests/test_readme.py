"""The README names nothing that isn't there."""

import re
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from infra.options import Options
from nodewright.cli.app import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_every_make_target_it_names_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", README, re.MULTILINE))
    assert {"demo", "test", "deploy"} <= named
    assert named <= targets


def test_every_verb_it_names_is_a_command() -> None:
    commands = set(getattr(get_command(app), "commands", {}))
    named = set(re.findall(r"(?:`|/)nodewright ([a-z]+)", README))
    assert {"connect", "status"} <= named
    assert named <= commands


def test_every_file_it_links_to_is_there() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_annotation_it_names_is_read_somewhere() -> None:
    source = "\n".join(p.read_text() for p in (ROOT / "layers/core/python/nodewright").rglob("*.py"))
    named = set(re.findall(r"^\| `(nodewright\.dev/[a-z-]+)", README, re.MULTILINE))
    assert len(named) >= 3
    assert [name for name in sorted(named) if not re.search(rf"\b{name.partition('/')[2]}\b", source)] == []


def test_the_plan_it_shows_is_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```\n(.+?)```", README, re.DOTALL)
    command, *shown = next(block for block in blocks if block.startswith("$ nodewright plan")).splitlines()
    monkeypatch.chdir(ROOT)
    printed = CliRunner().invoke(app, command.removeprefix("$ nodewright ").split()).stdout.splitlines()
    assert len(shown) > 4
    assert [line.rstrip() for line in printed[: len(shown)]] == shown


def test_its_context_values_are_those_the_stack_reads() -> None:
    named = set(re.findall(r"^\| `([a-zA-Z]+)` \|", README, re.MULTILINE))
    asked: set[str] = set()

    def context(name: str) -> None:
        asked.add(name)

    Options.read(context)
    assert named == asked
