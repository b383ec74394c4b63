"""Nodes that leave: what makes them, and what is left of them."""

from datetime import timedelta
from email.utils import format_datetime

from nodewright.domain.claims import ClaimState, NodeClaim
from tests.sandbox.spine.scene import Scene, now

#: A budget that gives one pod leave at a time makes a drain of four take as many turns, with pauses.
DRAIN_SECONDS = 180.0


def tell_of_spot_interruption(scene: Scene, claim: NodeClaim) -> None:
    """In two minutes EC2 takes it."""
    warn(scene, claim.instance_id, claim.zone)


def warn(scene: Scene, instance_id: str, zone: str) -> None:
    """The same of any instance."""
    detail = {"instance-id": instance_id, "instance-action": "terminate"}
    arn = f"arn:aws:ec2:{zone}:instance/{instance_id}"
    scene.world.aws.events.put("aws.ec2", "EC2 Spot Instance Interruption Warning", detail, [arn])


def tell_of_maintenance(
    scene: Scene, claim: NodeClaim, *, ahead: timedelta = timedelta(hours=2), status: str = "upcoming"
) -> None:
    """Within the day that a pool's nodes are given to leave, so the node leaves from now on; unless it is later."""
    detail = {
        "service": "EC2",
        "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED",
        "eventTypeCategory": "scheduledChange",
        "statusCode": status,
        "startTime": format_datetime(now() + ahead, usegmt=True),
        "affectedEntities": [{"entityValue": claim.instance_id, "status": "PENDING"}],
    }
    scene.world.aws.events.put("aws.health", "AWS Health Event", detail, [claim.instance_id])


def swept(scene: Scene) -> bool:
    """The minute's sweep, which comes sooner here."""
    scene.fire("Tick")
    return True


def settled(scene: Scene) -> tuple[NodeClaim, ...]:
    """Wait until every claim is initialized and none leaves; those."""

    def all_there() -> tuple[NodeClaim, ...]:
        claims = scene.claims()
        done = all(claim.state is ClaimState.INITIALIZED and claim.retirement is None for claim in claims)
        return claims if done else ()

    return scene.eventually(all_there, "claims to be settled", DRAIN_SECONDS)


def is_alive(scene: Scene, claim: NodeClaim) -> bool:
    """Whether anything is left of it: record, instance or node."""
    states = {each["InstanceId"]: each["State"]["Name"] for each in scene.instances()}
    recorded = any(each.id == claim.id for each in scene.claims())
    return recorded or states[claim.instance_id] != "terminated" or claim.node_name in scene.nodes()
