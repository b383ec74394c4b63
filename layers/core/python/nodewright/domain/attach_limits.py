"""How many volumes a node can have attached (cases.md 11)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from nodewright.domain.claims import NodeClaim
from nodewright.domain.free_volumes import NO_FREE_VOLUMES, FreeVolumes
from nodewright.domain.pods import EBS_DRIVER, Attachment
from nodewright.domain.snapshot import PoolOptions


@dataclass(frozen=True, slots=True)
class AttachLimits:
    """What nodes say themselves, and what is known of types for those that don't yet."""

    by_node: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Node → CSI driver → volumes."""
    by_type: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """(pool, instance type) → EBS volumes."""
    free: FreeVolumes = NO_FREE_VOLUMES
    attached: Mapping[str, frozenset[Attachment]] = field(default_factory=dict)
    """Node → volumes, whoever they are for."""

    def of(self, node: str, claim: NodeClaim | None, labels: Mapping[str, str]) -> Mapping[str, int]:
        """Of a node, and of the claim it was bought by; a driver that isn't there has no known limit.

        A driver tells its number some time after its node is Ready: until then pods would be let onto it without end.
        """
        told = {**self.by_node.get(node, {}), **self.free.within(labels)}
        expected = self.by_type.get((claim.pool, claim.instance_type)) if claim is not None else None
        return told if expected is None or EBS_DRIVER in told else {**told, EBS_DRIVER: expected}


NO_LIMITS: Final = AttachLimits()


def attach_limits(
    by_node: Mapping[str, Mapping[str, int]],
    claims: Iterable[NodeClaim],
    options: Iterable[PoolOptions],
    free: FreeVolumes = NO_FREE_VOLUMES,
    attached: Mapping[str, frozenset[Attachment]] = MappingProxyType({}),
) -> AttachLimits:
    """With what is known of the types of these claims."""
    wanted = {(claim.pool, claim.instance_type) for claim in claims}
    known = ((each.pool.name, each.instance_types) for each in options)
    volumes = (
        (pool, each.name, each.volumes) for pool, types in known for each in types if (pool, each.name) in wanted
    )
    by_type = {(pool, name): count for pool, name, count in volumes if count is not None}
    return AttachLimits(by_node, by_type, free, attached)
