"""What would be launched for a cluster that is known from its manifests alone: nothing is asked, nothing is bought."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol

from nodewright.application.errors import RefusedError
from nodewright.application.limits import limits_of
from nodewright.application.node_class_resolution import NodeClassResolver, ResolvedNodeClass, UnusableNodeClassError
from nodewright.application.overlaying import overlaid
from nodewright.application.plan_remarks import elsewhere, left_alone, relaxed, shares_of_nothing
from nodewright.application.ports import ClusterState, ManifestWarning
from nodewright.application.snapshots import snapshot_of, with_headroom
from nodewright.domain import nodes
from nodewright.domain.catalogue import InstanceType
from nodewright.domain.claims import NodeClaim
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.limits import tightest
from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod
from nodewright.domain.quantities import Resources
from nodewright.domain.scheduling import Budget, solve
from nodewright.domain.snapshot import PoolOptions, Snapshot
from nodewright.domain.usage import added, node_usage
from nodewright.domain.volumes import with_volumes

LATEST_KUBERNETES: Final = "1.37"
"""Of a cluster without nodes: nothing else says its version."""


class BadInputError(ValueError):
    """What was given can't be planned at all; says what and how to put it right."""


class Catalogue(Protocol):
    """What could be bought somewhere."""

    @property
    def name(self) -> str:
        """For people: a region, or where it was read."""
        ...

    @property
    def zones(self) -> tuple[str, ...]:
        """Those in which anything is sold, sorted."""
        ...

    def instance_types(self, resolved: ResolvedNodeClass) -> tuple[InstanceType, ...]:
        """As a class makes them, sorted by name. ValueError names class, field and fix."""
        ...

    def remark(self, plan: Plan) -> tuple[ManifestWarning, ...]:
        """What one should know of the prices of a plan."""
        ...


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, what it was made from, and what was wrong with that."""

    plan: Plan
    snapshot: Snapshot
    warnings: tuple[ManifestWarning, ...]


@dataclass(frozen=True, slots=True)
class PlanManifests:
    """The use case."""

    catalogue: Catalogue
    resolver: NodeClassResolver

    def __call__(
        self,
        state: ClusterState,
        claims: Sequence[NodeClaim],
        kubernetes: str,
        now: datetime,
        budget: Budget = Budget(),  # noqa: B008
        expected: Sequence[Pod] = (),
    ) -> Planned:
        """Plan; `kubernetes` is the version as in `1.37`, empty where nothing says it.

        `expected`: pods that aren't there, but are to be expected.
        """
        cluster = _cluster(kubernetes)
        types, warnings = self._types(state, cluster)
        options, overlay_warnings = overlaid(tuple(_options(state, claims, types, cluster)), state.overlays)
        snapshot = with_headroom(snapshot_of(cluster, state, claims, options, now), state)
        snapshot = replace(snapshot, expected=with_volumes(expected, state.storage))
        plan = solve(snapshot, budget)
        told = (
            *state.warnings,
            *warnings,
            *overlay_warnings,
            *left_alone(state, cluster),
            *elsewhere(state.pools, self.catalogue.name, self.catalogue.zones),
            *shares_of_nothing(state.pools, snapshot.headroom),
            *relaxed(plan, options),
            *self.catalogue.remark(plan),
        )
        return Planned(plan, snapshot, tuple(dict.fromkeys(told)))

    def _types(
        self, state: ClusterState, cluster: ConnectedCluster
    ) -> tuple[dict[str, tuple[InstanceType, ...]], list[ManifestWarning]]:
        """By class; one that can't be used has none and a warning."""
        used = {pool.node_class for pool in state.pools}
        types: dict[str, tuple[InstanceType, ...]] = {}
        warnings: list[ManifestWarning] = []
        for node_class in state.node_classes:
            if node_class.name not in used:
                continue
            try:
                resolved = self.resolver.resolve(node_class, cluster, {})
                sold = self.catalogue.instance_types(resolved)
                types[node_class.name] = tuple(each for each in sold if resolved.image_for(each))
                warnings += resolved.warnings
            except UnusableNodeClassError as error:
                warnings.append(ManifestWarning(str(node_class), error.path, error.message))
            except (RefusedError, ValueError) as error:
                warnings.append(ManifestWarning(str(node_class), "spec", str(error)))
        return types, warnings


def _cluster(kubernetes: str) -> ConnectedCluster:
    return ConnectedCluster(
        name="manifests",
        endpoint="",
        certificate_authority="",
        version=kubernetes or LATEST_KUBERNETES,
        service_cidr="",
        dns_ip="",
    )


def _options(
    state: ClusterState,
    claims: Sequence[NodeClaim],
    types: Mapping[str, tuple[InstanceType, ...]],
    cluster: ConnectedCluster,
) -> Iterator[PoolOptions]:
    usage = added(_usage(state, claims, types))
    for pool in state.pools:
        if pool.terminating:
            continue
        limits = limits_of(pool, cluster).items()
        remaining = tightest(most - usage.get(name, Resources()) for name, most in limits)
        yield PoolOptions(pool, types.get(pool.node_class, ()), remaining)


def _usage(
    state: ClusterState, claims: Sequence[NodeClaim], types: Mapping[str, tuple[InstanceType, ...]]
) -> Iterator[Mapping[str, Resources]]:
    """What the nodes of each pool count towards its limits, those on their way too."""
    classes = {pool.name: pool.node_class for pool in state.pools}
    there = {node.name for node in state.nodes} | {node.instance_id for node in state.nodes}
    coming = (claim for claim in claims if claim.node_name not in there and claim.instance_id not in there)
    sizes = [(node.labels, node.capacity) for node in state.nodes] + [(c.labels, c.capacity) for c in coming]
    for labels, capacity in sizes:
        pool = labels.get(nodes.NODE_POOL_LABEL) or labels.get(nodes.PROVISIONER_LABEL, "")
        if pool in classes:
            yield {pool: node_usage(capacity, _price(labels, types.get(classes[pool], ())))}


def _price(labels: Mapping[str, str], types: Iterable[InstanceType]) -> int:
    """By the catalogue; nothing where it doesn't know the node's offering."""
    wanted = (labels.get(nodes.ZONE_LABEL), labels.get(nodes.CAPACITY_TYPE_LABEL))
    name = labels.get(nodes.INSTANCE_TYPE_LABEL)
    offerings = (o for each in types if each.name == name for o in each.offerings)
    return next((o.price for o in offerings if (o.zone, o.capacity_type) == wanted), 0)
