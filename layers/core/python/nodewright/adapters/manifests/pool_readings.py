"""What reading a pool comes to, whatever kind its manifest is of."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from nodewright.adapters.manifests.fields import Report
from nodewright.adapters.manifests.own_settings import PRICE_LIMIT
from nodewright.application.ports import ManifestWarning
from nodewright.domain.limits import PRICE, Limits
from nodewright.domain.money import parse_usd
from nodewright.domain.nodeclasses import Kubelet, NodeClass
from nodewright.domain.pools import NodePool


@dataclass(frozen=True, slots=True)
class PoolReading:
    """What a pool's manifest came to; no pool where it can't be used, and the warnings say why."""

    pool: NodePool | None
    kubelet: Kubelet | None
    """Of the pool itself (v1beta1 and older): it belongs to the pool's class."""
    warnings: tuple[ManifestWarning, ...]
    node_class: NodeClass | None = None
    """Written into the pool (a Provisioner's `spec.provider`)."""


def with_price_limit(limits: Limits | None, annotations: Mapping[str, str], report: Report) -> Limits | None:
    """A pool's limits with that of what its nodes may cost; one that can't be read refuses the pool."""
    if PRICE_LIMIT not in annotations:
        return limits
    try:
        return Limits({**(limits or {}), PRICE: parse_usd(annotations[PRICE_LIMIT])})
    except ValueError as error:
        report.refuse(f"metadata.annotations.{PRICE_LIMIT}", str(error))
        return limits


def static_hash(pool: NodePool) -> str:
    """Of the template without its requirements: a node made from another one has drifted.

    Taken of the value read, so neither the order nor the generation of the manifest counts
    (karpenter-behaviour §1.6).
    """
    content = (
        pool.node_class,
        sorted(pool.labels.items()),
        sorted(pool.annotations.items()),
        sorted(map(str, pool.taints)),
        sorted(map(str, pool.startup_taints)),
        pool.expire_after and pool.expire_after.total_seconds(),
        pool.termination_grace_period and pool.termination_grace_period.total_seconds(),
    )
    return hashlib.sha256(msgspec.json.encode(content)).hexdigest()[:16]
