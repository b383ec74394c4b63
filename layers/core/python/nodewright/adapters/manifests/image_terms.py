"""Image family and terms: v1 asks for terms, v1beta1 and older for a family; each says both."""

import re
from typing import cast

from nodewright.adapters.manifests.fields import Fields
from nodewright.adapters.manifests.tag_filters import read_tag_filter
from nodewright.adapters.manifests.tag_selectors import read_image_selector
from nodewright.domain.nodeclasses import AmiFamily, SelectorTerm

_ALIASES: dict[str, AmiFamily] = {"al2": "AL2", "al2023": "AL2023", "bottlerocket": "Bottlerocket"}
_ALIAS_OF = {family: alias for alias, family in _ALIASES.items()}
_FAMILIES = (*_ALIASES.values(), "Custom")
_ALIAS = re.compile(r"(?P<family>[a-z0-9]+)@(?P<version>[A-Za-z0-9.\-]+)")
_INSTEAD = {
    "Ubuntu": "use amiFamily Custom with amiSelectorTerms and userData that joins the cluster",
    "Windows": "Windows nodes are not supported",
}


def read_images(spec: Fields) -> tuple[AmiFamily, tuple[SelectorTerm, ...]]:
    """Family and image terms; without terms the family's latest image is meant (v1beta1)."""
    terms = tuple(_read_term(entry) for entry in spec.children("amiSelectorTerms"))
    named = spec.text("amiFamily")
    aliased = _aliased_family(spec, terms)
    if named and named not in _FAMILIES:
        spec.refuse("amiFamily", _unknown_family(named))
    elif aliased and named not in {"", "Custom", aliased}:
        spec.refuse("amiFamily", f"{named} contradicts the alias {terms[0].alias}; remove one of them")
    elif not named and not aliased:
        spec.refuse("amiFamily", f"neither a family nor an alias is given; use one of {', '.join(_FAMILIES)}")
    elif named == "Custom" and not terms:
        spec.refuse("amiSelectorTerms", "amiFamily Custom needs at least one term that finds its image")
    family = cast(AmiFamily, named or aliased or "Custom")
    return family, terms or _latest(family)


def read_old_images(spec: Fields) -> tuple[AmiFamily, tuple[SelectorTerm, ...]]:
    """v1alpha1's amiFamily, which is AL2 where nobody says, and amiSelector."""
    named = spec.text("amiFamily") or "AL2"
    terms = read_image_selector(spec)
    if named not in _FAMILIES:
        spec.refuse("amiFamily", _unknown_family(named))
    elif named == "Custom" and not terms:
        spec.refuse("amiSelector", "amiFamily Custom needs a selector that finds its image")
    family = cast(AmiFamily, named)
    return family, terms or _latest(family)


def _latest(family: AmiFamily) -> tuple[SelectorTerm, ...]:
    return (SelectorTerm(alias=f"{_ALIAS_OF[family]}@latest"),) if family in _ALIAS_OF else ()


def _aliased_family(spec: Fields, terms: tuple[SelectorTerm, ...]) -> str:
    """The family an alias names; empty where no term has one."""
    aliases = [term.alias for term in terms if term.alias]
    if not aliases:
        return ""
    if len(terms) > 1:
        spec.refuse("amiSelectorTerms", f"alias {aliases[0]} must be the only term; remove the others")
    match = _ALIAS.fullmatch(aliases[0])
    family = match["family"] if match else aliases[0]
    if family not in _ALIASES:
        known = ", ".join(f"{alias}@latest" for alias in _ALIASES)
        spec.refuse("amiSelectorTerms[0].alias", f"{aliases[0]!r} is not supported; use one like {known}")
    return _ALIASES.get(family, "")


def _read_term(entry: Fields) -> SelectorTerm:
    term = SelectorTerm(
        id=entry.text("id"),
        name=entry.text("name"),
        tags=read_tag_filter(entry),
        owner=entry.text("owner"),
        alias=entry.text("alias"),
        ssm_parameter=entry.text("ssmParameter"),
    )
    others = bool(term.name or term.tags or term.owner)
    alone = [bool(term.alias), bool(term.id), bool(term.ssm_parameter), others].count(True)
    if alone != 1:
        entry.refuse(
            "", "a term has one of these: an alias, an id, an ssmParameter, or a name, tags and owner together"
        )
    elif term.owner and not (term.name or term.tags):
        entry.refuse("owner", "an owner alone would take any of its images; add a name or tags")
    return term


def _unknown_family(named: str) -> str:
    instead = next((text for prefix, text in _INSTEAD.items() if named.startswith(prefix)), None)
    return f"{named} is not supported; {instead or 'use one of ' + ', '.join(_FAMILIES)}"
