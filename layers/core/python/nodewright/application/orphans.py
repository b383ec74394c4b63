"""Instances without a claim, and claims without an instance (architecture §4, rule 6).

Ours is what carries our stack's tag, and nothing else. Nothing young is an orphan: its launch may still be
settling, or its claim not yet be seen. One that serves as a node is adopted, so that it can leave in good order;
one that nobody uses is ended.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from nodewright.application.errors import ConflictError, NotFoundError
from nodewright.application.ports import Fleet, Instance, Ledger, Observer
from nodewright.application.reservations import LAUNCH_TAG, LAUNCH_TIMEOUT
from nodewright.application.retirement_ports import NodeLedger
from nodewright.application.retirement_starts import RetirementStarts
from nodewright.domain.claims import ClaimState, LaunchRecord, NodeClaim
from nodewright.domain.nodes import NODE_POOL_LABEL, Node
from nodewright.domain.quantities import Resources

#: An instance younger than this isn't ended as an orphan.
SPARED = timedelta(minutes=10)
#: EC2's own lists lag: an instance it doesn't show isn't gone before.
UNSEEN = timedelta(minutes=5)
CLASS_TAG = "karpenter.k8s.aws/ec2nodeclass"
_ENDING = frozenset({"shutting-down", "terminated"})


class Before(NamedTuple):
    """What the table said before anything else was looked at.

    The launches first: one that is settled in between is then among them, or its instances are the claims'.
    """

    launches: tuple[LaunchRecord, ...]
    claims: tuple[NodeClaim, ...]

    @classmethod
    def read(cls, ledger: Ledger, cluster: str) -> "Before":
        """Now."""
        return cls(ledger.launches(cluster), ledger.claims(cluster))


@dataclass(frozen=True, slots=True)
class Orphans:
    """Looks for them; reconcile asks at each run."""

    ledger: NodeLedger
    fleet: Fleet
    starts: RetirementStarts
    observer: Observer

    def follow(self, cluster: str, before: Before, nodes: Sequence[Node], now: datetime) -> int:
        """Adopt, end and retire; returns how many."""
        claims, live = before.claims, {launch.id for launch in before.launches}
        instances = self.fleet.ours(cluster)
        by_instance = {node.instance_id: node for node in nodes if node.instance_id}
        unclaimed = list(_unclaimed(instances, claims, live, now))
        ended = self._end(cluster, [i for i in unclaimed if i.id not in by_instance])
        adopted = sum(self._adopt(cluster, i, by_instance[i.id], now) for i in unclaimed if i.id in by_instance)
        lost = sum(self._lost(cluster, claim, now) for claim in _without_instance(claims, instances, now))
        return ended + adopted + lost

    def _end(self, cluster: str, orphans: Sequence[Instance]) -> int:
        if orphans:
            self.fleet.terminate([i.id for i in orphans])
        for i in orphans:
            self.observer.problem(cluster, "orphan", f"{i.id} ({i.instance_type}) has no claim and no node: ended")
        return len(orphans)

    def _adopt(self, cluster: str, instance: Instance, node: Node, now: datetime) -> int:
        """A claim for a node that serves; 1 when it has one now.

        The launch is past its deadline from the start: whoever finishes it after a crash in between buys nothing.
        """
        price, claim_id = self._price(instance), self._claim_id(cluster, instance)
        claim = replace(_claim_of(instance, node, now), id=claim_id, price=price)
        record = LaunchRecord(claim.launch_id, (claim.id,), "", now + SPARED, now - UNSEEN)
        try:
            self.ledger.reserve(cluster, self.ledger.epoch(cluster), record, [claim])
            launched = replace(claim, state=ClaimState.LAUNCHED, instance_id=instance.id)
            self.ledger.settle_launch(cluster, record.id, [launched])
        except ConflictError as error:
            self.observer.problem(cluster, "orphan", f"{instance.id}: {error}; the next run tries again")
            return 0
        self.observer.problem(cluster, "orphan", f"{instance.id} had no claim but serves as {node.name}: adopted")
        return 1

    def _claim_id(self, cluster: str, instance: Instance) -> str:
        """That of the claim it had, if any: an instance has one owner for ever."""
        owner = self.ledger.owner(instance.id)
        return owner[1] if owner is not None and owner[0] == cluster else _adopted(instance)

    def _price(self, instance: Instance) -> int:
        """As the catalogue has it now, so that it counts towards limits in USD; 0 where it isn't known."""
        try:
            prices = self.ledger.catalogue().prices
        except NotFoundError:
            return 0
        wanted = (instance.instance_type, instance.capacity_type)
        zones = {"", instance.zone}
        return next((p.nanos for p in prices if (p.instance_type, p.capacity_type) == wanted and p.zone in zones), 0)

    def _lost(self, cluster: str, claim: NodeClaim, now: datetime) -> int:
        """A claim whose instance EC2 doesn't know any more leaves as if EC2 had said so."""
        stored = self.starts.begin(cluster, claim, "instance-gone", now)
        if stored is None:
            return 0
        self.starts.wake(cluster, stored, f"instance-gone:{claim.id}")
        return 1


def _unclaimed(
    instances: Sequence[Instance], claims: Sequence[NodeClaim], live: set[str], now: datetime
) -> Iterator[Instance]:
    claimed = {claim.instance_id for claim in claims}
    for instance in instances:
        old = instance.launched is not None and now - instance.launched >= SPARED
        settling = instance.tags.get(LAUNCH_TAG, "") in live
        if instance.id not in claimed and old and not settling and instance.state not in _ENDING:
            yield instance


def _without_instance(claims: Sequence[NodeClaim], instances: Sequence[Instance], now: datetime) -> Iterator[NodeClaim]:
    there = {instance.id for instance in instances if instance.state not in _ENDING}
    for claim in claims:
        # Its launch may have been finished long after it was reserved.
        old = now - claim.created >= LAUNCH_TIMEOUT + UNSEEN
        if claim.instance_id and claim.instance_id not in there and old:
            yield claim


def _claim_of(instance: Instance, node: Node, now: datetime) -> NodeClaim:
    """What can be known of it: its tags say pool and class, its Node the rest."""
    return NodeClaim(
        id=_adopted(instance),
        launch_id=_adopted(instance),
        state=ClaimState.RESERVED,
        pool=_either(instance.tags, node.labels, NODE_POOL_LABEL),
        node_class=_either(instance.tags, node.labels, CLASS_TAG),
        pool_hash="",
        class_hash="",
        created=instance.launched or now,
        labels=dict(node.labels),
        taints=(),
        startup_taints=(),
        requests=Resources(),
        nominated_pods=(),
        instance_type=instance.instance_type,
        zone=instance.zone,
        capacity_type=instance.capacity_type,
        capacity=node.capacity,
        allocatable=node.allocatable,
        image_id=instance.image_id,
    )


def _adopted(instance: Instance) -> str:
    return f"adopted-{instance.id}"


def _either(tags: Mapping[str, str], labels: Mapping[str, str], key: str) -> str:
    return tags.get(key) or labels.get(key, "")
