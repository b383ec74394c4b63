"""v1alpha1's selectors, as terms: one map of ids and of tags, whose values may be lists with commas.

Source: karpenter-behaviour §3.4.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sized
from dataclasses import replace
from typing import Final

from nodewright.adapters.manifests.fields import Fields
from nodewright.domain.nodeclasses import SelectorTerm

_IDS: Final = frozenset({"aws-ids", "aws::ids"})
_NAME: Final = "aws::name"
_OWNERS: Final = "aws::owners"
#: What a tag's value is where only its key counts; an empty one meant that too.
_ANY: Final = "*"

#: Each combination is a search of its own.
MOST_COMBINATIONS: Final = 100


def read_selector(spec: Fields, name: str) -> tuple[SelectorTerm, ...]:
    """Terms that pick the same subnets or security groups; at least one, or the object is refused."""
    selector = spec.pairs(name)
    terms = _ids(selector, spec, name) or _combinations(selector, spec, name)
    if not terms:
        spec.refuse(name, "it selects nothing; give at least one tag, or ids under aws-ids")
    return terms


def read_image_selector(spec: Fields) -> tuple[SelectorTerm, ...]:
    """Terms that pick the same images; none where the family's latest is meant."""
    selector = spec.pairs("amiSelector")
    return _ids(selector, spec, "amiSelector") or _image_combinations(selector, spec)


def _ids(selector: Mapping[str, str], spec: Fields, name: str) -> tuple[SelectorTerm, ...]:
    """A term an id. The old API wanted tags besides to match too, which terms can't say."""
    keys = [key for key in selector if key in _IDS]
    others = [key for key in selector if key not in _IDS]
    if keys and others:
        spec.warn(name, f"{keys[0]} names what to take, so {', '.join(others)} is ignored; remove one or the other")
    return tuple(SelectorTerm(id=each) for key in keys for each in _listed(selector[key]))


def _combinations(selector: Mapping[str, str], spec: Fields, name: str) -> tuple[SelectorTerm, ...]:
    """A term for each combination of the listed values: within a tag any of them, over tags all."""
    for key in [key for key in selector if key.startswith("aws::")]:
        spec.refuse(f"{name}.{key}", "it is not known; use aws-ids, or tags")
    choices = {key: _listed(value) or (_ANY,) for key, value in selector.items()}
    if not choices or _too_many(choices.values(), spec, name):
        return ()
    each = itertools.product(*choices.values())
    return tuple(SelectorTerm(tags=dict(zip(choices, values, strict=True))) for values in each)


def _image_combinations(selector: Mapping[str, str], spec: Fields) -> tuple[SelectorTerm, ...]:
    """Each term has one of the names, one of the owners and one combination of the tags."""
    tags = {key: value for key, value in selector.items() if key not in {_NAME, _OWNERS}}
    names, owners = _listed(selector.get(_NAME, "")), _listed(selector.get(_OWNERS, ""))
    if selector and not names and not tags:
        alone = f"{_OWNERS} alone would take any of their images; add {_NAME} or tags"
        spec.refuse("amiSelector", alone if owners else f"it selects nothing; give {_NAME}, tags or aws-ids")
    tagged = _combinations(tags, spec, "amiSelector") if tags else (SelectorTerm(),)
    choices = (tagged, names or ("",), owners or ("",))
    if not selector or _too_many(choices, spec, "amiSelector"):
        return ()
    return tuple(replace(term, name=name, owner=owner) for term, name, owner in itertools.product(*choices))


def _listed(text: str) -> tuple[str, ...]:
    """`a, b` is a or b."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _too_many(choices: Iterable[Sized], spec: Fields, name: str) -> bool:
    count = math.prod(map(len, choices))
    if count > MOST_COMBINATIONS:
        spec.refuse(name, f"its lists make {count} combinations, at most {MOST_COMBINATIONS} are searched; list less")
    return count > MOST_COMBINATIONS
