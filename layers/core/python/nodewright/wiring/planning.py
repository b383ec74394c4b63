"""`nodewright plan`, ready to run: no AWS, no cluster."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from nodewright.adapters.assumed_aws import AssumedImages, AssumedNetworks, AssumedProfiles
from nodewright.adapters.catalogue_files import CatalogueFile, catalogue_of, read_catalogue
from nodewright.adapters.manifests.files import read_sources
from nodewright.adapters.manifests.worlds import World, read_world
from nodewright.adapters.packaged_catalogue import DEFAULT_REGION, PackagedCatalogue, packaged_catalogue, regions
from nodewright.application.node_class_resolution import NodeClassResolver
from nodewright.application.plan import BadInputError, PlanManifests, Planned
from nodewright.application.ports import ManifestWarning
from nodewright.domain.nodes import ZONE_LABEL

__all__ = ["DEFAULT_REGION", "SoldCatalogue", "catalogue", "catalogue_of", "plan_objects", "plan_sources", "regions"]

SoldCatalogue = PackagedCatalogue | CatalogueFile


def catalogue(file: Path | None, region: str) -> SoldCatalogue | None:
    """The file's, else the packaged one of the region; None where neither is said and the manifests have to say it."""
    if file:
        return read_catalogue(file, region)
    return packaged_catalogue(region) if region else None


def plan_sources(names: Sequence[str], standard_input: BinaryIO, sold: SoldCatalogue | None, now: datetime) -> Planned:
    """Files, directories and `-`. BadInputError where nothing can be planned."""
    documents = read_sources(names, standard_input)
    world = read_world(documents.objects)
    if not documents.objects:
        raise BadInputError(_with_causes(f"there is nothing to plan in {', '.join(names)}", documents.warnings))
    if not world.names_pools:
        missing = "there is no NodePool or Provisioner, so nothing says what may be bought; add one with -f"
        raise BadInputError(_with_causes(missing, (*documents.warnings, *world.state.warnings)))
    return _planned(world, sold or packaged_catalogue(_region(world)), now, documents.warnings)


def plan_objects(objects: Iterable[Mapping[str, object]], sold: SoldCatalogue, now: datetime) -> Planned:
    """Kubernetes objects that are at hand."""
    return _planned(read_world(objects), sold, now, ())


def _planned(world: World, sold: SoldCatalogue, now: datetime, warnings: tuple[ManifestWarning, ...]) -> Planned:
    """`warnings` are those of reading the objects."""
    state = replace(world.state, warnings=(*warnings, *world.state.warnings))
    resolver = NodeClassResolver(AssumedNetworks(sold.zones), AssumedImages(), AssumedProfiles(), "assumed")
    return PlanManifests(sold, resolver)(state, world.claims, world.kubernetes, now, expected=world.expected)


def _region(world: World) -> str:
    """The one whose zones pools and nodes name, where it is one we have prices of."""
    state = world.state
    named = {zone for pool in state.pools if (wanted := pool.requirements.get(ZONE_LABEL)) for zone in wanted.values}
    named |= {node.labels.get(ZONE_LABEL, "") for node in state.nodes}
    found = [region for region in regions() if any(zone.startswith(region) for zone in named)]
    return found[0] if len(found) == 1 else DEFAULT_REGION


def _with_causes(message: str, warnings: Iterable[ManifestWarning]) -> str:
    """What was wrong with the input may be why something is missing."""
    lines = (": ".join(part for part in (w.object, w.path, w.message) if part) for w in warnings)
    return "\n  ".join(dict.fromkeys((message, *lines)))
