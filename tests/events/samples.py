"""Samples of the events AWS sends, one file per member of EVENTS, as its documentation shows them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

FOLDER = Path(__file__).parent
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
#: The instance every sample is about.
INSTANCE = "i-0b662ef9931388ba0"
OTHER = "i-07a3f9d1c55e20b44"


def text(name: str) -> str:
    return (FOLDER / f"{name}.json").read_text()


def sample(name: str, detail: Mapping[str, Json] | None = None, **top: Json) -> dict[str, Json]:
    """The sample with fields of `detail` and of the envelope replaced; None takes one away."""
    raw: dict[str, Json] = json.loads(text(name))
    inside = raw["detail"]
    assert isinstance(inside, dict)
    return without_none({**raw, "detail": without_none({**inside, **(detail or {})}), **top})


def of(name: str, instance_id: str, event_id: str = "", detail: Mapping[str, Json] | None = None, **top: Json) -> Json:
    """The same about another instance."""
    about: dict[str, Json] = {"instance-id": instance_id}
    if name == "ScheduledEvent":
        about = {"affectedEntities": [{"entityValue": instance_id}]}
    return sample(name, {**about, **(detail or {})}, **{"id": event_id or f"{name}:{instance_id}", **top})


def without_none(fields: Mapping[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in fields.items() if value is not None}
