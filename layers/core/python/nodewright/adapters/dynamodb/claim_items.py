"""How claims, launches and owners lie in the table, and how they are read back whoever wrote them."""

from collections.abc import Mapping
from dataclasses import replace

from nodewright.adapters.dynamodb import keys
from nodewright.adapters.dynamodb.items import (
    Item,
    body,
    moment,
    number,
    read_body,
    read_moment,
    read_number,
    text,
)
from nodewright.domain.claims import LaunchRecord, NodeClaim

#: Condition for what must not be there yet.
NEW = "attribute_not_exists(pk)"
#: Condition for what must not be gone.
THERE = "attribute_exists(pk)"
#: Condition for a claim that has no instance.
WITHOUT_INSTANCE = "(instance = :none OR attribute_not_exists(instance))"

#: Fields an older release didn't write.
_DEFAULTS: Mapping[str, object] = {
    "pool_hash": "",
    "class_hash": "",
    "labels": {},
    "taints": [],
    "startup_taints": [],
    "requests": {},
    "nominated_pods": [],
}


def claim_item(cluster: str, claim: NodeClaim) -> Item:
    """What conditions look at are attributes, which win when read; the rest is in the body."""
    item: Item = {
        **keys.claim(cluster, claim.id),
        "version": number(claim.version),
        "state": text(claim.state.value),
        "instance": text(claim.instance_id),
        "body": body(claim),
    }
    if claim.retirement is not None:
        item["retirement_epoch"] = number(claim.retirement.epoch)
        item["next_at"] = moment(claim.retirement.next_at)
    return item


def read_claim(item: Item) -> NodeClaim:
    """UnreadableItemError names key and attribute."""
    claim = read_body(item, NodeClaim, _DEFAULTS)
    if "version" in item:
        claim = replace(claim, version=read_number(item, "version"))
    if claim.retirement is not None and "next_at" in item:
        claim = replace(claim, retirement=replace(claim.retirement, next_at=read_moment(item, "next_at")))
    return claim


def unchanged(claim: NodeClaim) -> tuple[str, Item]:
    """Condition, with its values, that the stored claim is still of this version."""
    values: Item = {":version": number(claim.version)}
    if claim.version:
        return "version = :version", values
    return "attribute_exists(pk) AND (version = :version OR attribute_not_exists(version))", values


def launch_item(cluster: str, launch: LaunchRecord) -> Item:
    """`lease_until` is an attribute of its own, changed without the rest, and wins when read."""
    return {**keys.launch(cluster, launch.id), "lease_until": moment(launch.lease_until), "body": body(launch)}


def read_launch(item: Item) -> LaunchRecord:
    """UnreadableItemError names key and attribute."""
    return replace(read_body(item, LaunchRecord, {}), lease_until=read_moment(item, "lease_until"))


def owner_item(cluster: str, claim: NodeClaim) -> Item:
    """Whose the claim's instance is."""
    return {**keys.owner(claim.instance_id), "cluster": text(cluster), "claim": text(claim.id)}
