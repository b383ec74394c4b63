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

__all__ = ["DEFAULT_REGION", "SoldCatalogue", "catalogue", "catalogue_of", "plan_objects", "plan_sources", "regions"]

SoldCatalogue = PackagedCatalogue | CatalogueFile


def catalogue(file: Path | None, region: str) -> SoldCatalogue:
    """The file's, else the packaged one of a region."""
    return read_catalogue(file, region) if file else packaged_catalogue(region or DEFAULT_REGION)


def plan_sources(names: Sequence[str], standard_input: BinaryIO, sold: SoldCatalogue, now: datetime) -> Planned:
    """Files, directories and `-`. BadInputError where nothing can be planned."""
    documents = read_sources(names, standard_input)
    if not documents.objects:
        told = "; ".join(_line(each) for each in documents.warnings)
        raise BadInputError(f"there is nothing to plan in {', '.join(names)}" + (f": {told}" if told else ""))
    world = read_world(documents.objects)
    if not world.names_pools:
        raise BadInputError("there is no NodePool or Provisioner, so nothing says what may be bought; add one with -f")
    return _planned(world, sold, now, documents.warnings)


def plan_objects(objects: Iterable[Mapping[str, object]], sold: SoldCatalogue, now: datetime) -> Planned:
    """Kubernetes objects that are at hand."""
    return _planned(read_world(objects), sold, now, ())


def _planned(world: World, sold: SoldCatalogue, now: datetime, warnings: tuple[ManifestWarning, ...]) -> Planned:
    """`warnings` are those of reading the objects."""
    state = replace(world.state, warnings=(*warnings, *world.state.warnings))
    resolver = NodeClassResolver(AssumedNetworks(sold.zones), AssumedImages(), AssumedProfiles(), "assumed")
    return PlanManifests(sold, resolver)(state, world.claims, world.kubernetes, now)


def _line(warning: ManifestWarning) -> str:
    return ": ".join(part for part in (warning.object, warning.path, warning.message) if part)
