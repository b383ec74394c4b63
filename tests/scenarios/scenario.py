"""A scenario file: a small world of manifests and the right answer."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from nodewright.adapters.catalogue_files import read_catalogue
from nodewright.adapters.manifests.yaml_values import read_yaml
from nodewright.application.plan import Planned
from nodewright.wiring.planning import SoldCatalogue, catalogue_of, plan_objects

FOLDER = Path(__file__).parent
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Unschedulable(msgspec.Struct, forbid_unknown_fields=True):
    """Why a pod waits; `message` is a part of it."""

    reason: str = ""
    message: str = ""


class Expected(msgspec.Struct, forbid_unknown_fields=True):
    """The right answer; what is left out isn't looked at."""

    nodes: int | None = None
    cost: float | None = None
    """USD per hour of all new nodes."""
    types: list[str] | None = None
    """The planned (cheapest) type of each new node, sorted."""
    zones: dict[str, int] | None = None
    """New nodes by zone; then each launch must list one zone only."""
    pods_per_node: list[int] | None = None
    """Of new nodes, largest first."""
    pods_by_zone: dict[str, int] | None = None
    """Placed pods, those on nodes that are there included."""
    pools: dict[str, int] | None = None
    """New nodes by pool."""
    capacity_types: dict[str, int] | None = None
    """New nodes by capacity type."""
    launch_types: list[list[str]] | None = None
    """instanceTypes of each launch, in order."""
    nominations: dict[str, list[str]] | None = None
    """Node → pods that go there; all there are."""
    unschedulable: dict[str, Unschedulable] | None = None
    """All pods that wait."""
    expected: dict[str, int] | None = None
    """Pods that aren't there but will come, by what becomes of them: placed, bought, left."""
    headroom: dict[str, int] | None = None
    """The same of room that is kept free."""
    apart: list[list[str]] = []
    """Groups of pods, each on a node of its own."""
    together: list[list[str]] = []
    """Groups of pods on one node."""
    warnings: list[str] = []
    """Each a part of some warning, written `object path: message`."""


class Scenario(msgspec.Struct, forbid_unknown_fields=True):
    """One file."""

    name: str
    """A sentence."""
    source: str
    """Where the case comes from."""
    catalogue: str | dict[str, Any]
    """A file of `catalogues/` without its suffix, or the content of one."""
    objects: list[dict[str, Any]]
    expect: Expected
    now: datetime = NOW

    def plan(self) -> Planned:
        """As `nodewright plan` does."""
        return plan_objects(self.objects, self._sold(), self.now)

    def _sold(self) -> SoldCatalogue:
        if isinstance(self.catalogue, Mapping):
            return catalogue_of(msgspec.json.encode(self.catalogue), self.name)
        return read_catalogue(FOLDER / f"catalogues/{self.catalogue}.json")


def read_scenario(path: Path) -> Scenario:
    """Unknown keys are an error: a misspelt expectation would expect nothing."""
    value, notes = read_yaml(path.read_text())
    assert not notes, notes
    return msgspec.convert(value, Scenario)
