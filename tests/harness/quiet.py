"""What must hold once nothing happens any more."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nodewright.adapters.memory.control_plane import waiting
from nodewright.application.orders import UNREGISTERED
from nodewright.application.ports import Instance
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.nodes import NODE_POOL_LABEL
from nodewright.domain.retirement import DISRUPTED, EXCLUDED
from nodewright.domain.usage import counted, node_usage, usage_of
from tests.application.world import CLUSTER
from tests.harness.weather import CALM

if TYPE_CHECKING:
    from tests.harness.world import World


def unfinished(world: "World", may_wait: int, nodes: int | None = None) -> list[str]:
    """Everything that isn't as it should be; `may_wait` pods need no node, and `nodes` is how many should be left."""
    left = len(world.alive)
    count = [] if nodes in {None, left} else [f"{left} instances are left, {nodes} should be"]
    return [*_claims(world), *_nodes(world), *_pods(world, may_wait), *_table(world), *count]


def dead_letters(world: "World") -> list[str]:
    """Somebody is called for each, though everything goes on without it: one fault alone must not cost one."""
    queues = {"retire": world.retire_queue, "interrupt": world.interrupt_queue}
    return [f"dead letter of {name}: {m.body}" for name, queue in queues.items() for m in queue.dead_letters]


def _claims(world: "World") -> Iterator[str]:
    claims = world.ledger.claims(CLUSTER)
    alive = {instance.id: instance for instance in world.alive}
    owned = [claim.instance_id for claim in claims if claim.instance_id]
    for claim in claims:
        if claim.state is not ClaimState.INITIALIZED:
            yield f"claim {claim.id} is {claim.state}"
        instance = alive.get(claim.instance_id)
        if instance is None:
            yield f"claim {claim.id} has no living instance ({claim.instance_id or 'none'})"
        elif not _describes(claim, instance, world):
            yield f"claim {claim.id} says {claim.instance_type} in {claim.zone}, its instance is {instance}"
        if claim.retirement is not None:
            yield f"claim {claim.id} is still retiring: {claim.retirement.reason}, {claim.retirement.step}"
        if claim.instance_id and world.ledger.owner(claim.instance_id) != (CLUSTER, claim.id):
            yield f"instance {claim.instance_id} isn't owned by its claim {claim.id}"
    if len(owned) != len(set(owned)):
        yield f"one instance has two claims: {sorted(owned)}"
    for instance_id in sorted(set(alive) - set(owned)):
        yield f"instance {instance_id} has no claim"


def _describes(claim: NodeClaim, instance: Instance, world: "World") -> bool:
    """What is counted towards limits is what is paid for.

    It is more where the launch was finished by a run that couldn't resolve the node class at that moment: then the
    largest type of the reservation goes on counting. One fault alone doesn't lead there.
    """
    offering = (claim.instance_type, claim.zone, claim.capacity_type)
    really = (instance.instance_type, instance.zone, instance.capacity_type)
    paid = node_usage(world.size(instance).capacity, world.fleet.prices[really])
    counts = counted(claim)
    return offering == really and (counts == paid if world.weather == CALM else paid.fits(counts))


def _nodes(world: "World") -> Iterator[str]:
    alive = {instance.id: instance for instance in world.alive}
    ours = [node for node in world.cluster.nodes.values() if NODE_POOL_LABEL in node.labels]
    for node in ours:
        if node.instance_id not in alive:
            yield f"node {node.name} has no living instance"
        marks = [str(t) for t in node.taints if t in {DISRUPTED, UNREGISTERED}] + [EXCLUDED] * (EXCLUDED in node.labels)
        if marks:
            yield f"node {node.name} still carries {', '.join(marks)}"
    for instance_id in sorted(set(alive) - {node.instance_id for node in ours}):
        yield f"instance {instance_id} is no node"


def _pods(world: "World", may_wait: int) -> Iterator[str]:
    left = waiting(world.cluster)
    if len(left) > may_wait:
        yield f"{len(left)} pods wait, {may_wait} may: {', '.join(str(pod.key) for pod in left[:5])}"
    for pod in world.cluster.pods.values():
        if pod.node_name and pod.node_name not in world.cluster.nodes:
            yield f"{pod.key} is on {pod.node_name}, which is no more"


def _table(world: "World") -> Iterator[str]:
    for record in world.ledger.launches(CLUSTER):
        yield f"launch {record.id} isn't settled"
    counted, real = dict(world.ledger.usage(CLUSTER)), dict(usage_of(world.ledger.claims(CLUSTER)))
    if counted != real:
        yield f"usage is counted as {counted}, and is {real}"
