"""Node overlays on what the pools of a cluster can buy."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from nodewright.application.ports import ManifestWarning
from nodewright.domain import nodes
from nodewright.domain.overlays import NodeOverlay, Ranking, Shelf, apply, rank
from nodewright.domain.snapshot import PoolOptions


def overlaid(
    options: Sequence[PoolOptions], overlays: Sequence[NodeOverlay]
) -> tuple[tuple[PoolOptions, ...], tuple[ManifestWarning, ...]]:
    """The options as overlays make them, and what is to be said of overlays that don't count."""
    if not overlays:
        return tuple(options), ()
    shelves = [_shelf(each) for each in options]
    ranking = rank(overlays, shelves)
    changed = [
        replace(each, instance_types=apply(ranking.in_force, shelf))
        for each, shelf in zip(options, shelves, strict=True)
    ]
    return tuple(changed), tuple(_warnings(ranking))


def _shelf(options: PoolOptions) -> Shelf:
    labels = {**options.pool.labels, nodes.NODE_POOL_LABEL: options.pool.name}
    return Shelf(options.pool.name, labels, options.instance_types)


def _warnings(ranking: Ranking) -> Iterator[ManifestWarning]:
    for each in ranking.conflicts:
        _, instance_type, zone, capacity_type = each.place
        yield ManifestWarning(
            str(each.loser),
            "spec.weight",
            f"it and {each.winner} have the same weight and differ in {each.field} of {instance_type} ({capacity_type},"
            f" {zone}), so it is not applied; give them different weights",
        )
    for overlay in ranking.unused:
        reason = "nothing that a pool can buy meets them, so it changes nothing; loosen them"
        yield ManifestWarning(str(overlay), "spec.requirements", reason)
