"""Roles held against what functions do: what one lacks, and what it has for nothing.

All of the session runs with the roles' policies enforced, so a test whose function may too little fails by itself.
"""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from threading import Event

import pytest

from nodewright.application.errors import ConflictError
from nodewright.domain.claims import NodeClaim
from sandbox.world.world import CLUSTER
from tests.sandbox.spine.leaving import (
    DRAIN_SECONDS,
    is_alive,
    settled,
    swept,
    tell_of_maintenance,
    tell_of_spot_interruption,
    warn,
)
from tests.sandbox.spine.manifests import AMD64, SPOT, deployment, family, node_class, node_pool
from tests.sandbox.spine.scene import Scene, now

pytestmark = pytest.mark.sandbox

VERBS = ("notify", "tick", "provision", "reconcile", "interrupt", "retire", "disrupt", "refresh")

#: Granted to a role, called by Lambda itself: it writes the log, and its poller empties the queue.
CALLED_BY_LAMBDA = {
    "logs:CreateLogStream",
    "logs:PutLogEvents",
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:GetQueueUrl",
    "sqs:ReceiveMessage",
}
#: Granted and not called here, with the reason.
NOT_CALLED_HERE = {
    # Orphans are ended when they are ten minutes old: tests/application does it in virtual time.
    "reconcile": {"ec2:TerminateInstances"},
    # A cluster whose API server doesn't answer is left alone for a minute: as above.
    "interrupt": {"dynamodb:UpdateItem"},
    # An offering without capacity cools down; provision's was found out before.
    "disrupt": {"dynamodb:BatchWriteItem"},
}


def test_every_action_that_a_role_may_take_is_one_that_its_function_takes(
    scene: Scene, killed_at_launch: Event
) -> None:
    _do_everything_once(scene, killed_at_launch)
    _take_nodes_away(scene)

    unused = {verb: _unused(scene, verb) for verb in VERBS}
    assert unused == {verb: NOT_CALLED_HERE.get(verb, set()) for verb in VERBS}


def test_no_function_was_ever_refused_by_its_role(scene: Scene) -> None:
    """Refusals that a function lives with, or that nobody's test noticed, are in its log."""
    called = scene.world.called()
    for name, function in scene.world.lambdas.deployment.functions.items():
        refused = [line for line in scene.world.lambdas.logs(name) if "is not authorized to perform: " in line]
        actions = called.get(function.role_arn, frozenset())
        unlawful = [action for action in actions if not scene.world.aws.iam.allowed(function.role_arn, action)]
        assert (name, refused, unlawful) == (name, [], [])


def _unused(scene: Scene, verb: str) -> set[str]:
    role = scene.world.lambdas.find(verb).role_arn
    called = scene.world.called().get(role, frozenset()) | CALLED_BY_LAMBDA
    return set(scene.world.aws.iam.unused(role, called))


def _do_everything_once(scene: Scene, killed_at_launch: Event) -> None:
    """A throttled run, one killed as it buys, reconcile that finishes its launch, another one that meets its traces.

    Classes nobody has used, with a pinned image and a named one: profiles and images have to be asked for.
    Spot is sold out where it is cheapest, so every launch has something to remember.
    """
    scene.world.aws.faults.fail("ec2", "DescribeSubnets", "RequestLimitExceeded", times=6)
    prices = scene.spot_prices()
    for wanted in ("m7i.large", "c7i.large"):
        _, cheaper = min((price, zone) for (name, zone), price in prices.items() if name == wanted)
        scene.world.aws.fleet.exhaust(wanted, cheaper, "spot")
    scene.apply(
        node_class("pinned", amiSelectorTerms=[{"alias": "al2023@v20260914"}]),
        node_class("named", amiFamily="AL2023", amiSelectorTerms=[{"id": _image(scene)}]),
        node_pool(family("m7i"), AMD64, SPOT, name="pinned", node_class="pinned"),
        node_pool(family("c7i"), AMD64, SPOT, name="named", node_class="named"),
        *(deployment(name, 1, nodeSelector={"karpenter.sh/nodepool": name}) for name in ("pinned", "named")),
    )
    scene.eventually(killed_at_launch.is_set, "a run to be killed")
    (launch,) = scene.ledger.launches(CLUSTER)
    scene.ledger.hand_back_launch(CLUSTER, launch.id, now())
    scene.fire("Tick")
    scene.eventually(lambda: not scene.ledger.launches(CLUSTER), "the launch to be finished")
    # The killed run's hint would block its cluster's queue for as long as it stays invisible.
    scene.world.aws.queues.purge()
    scene.hint("provision", "the-other-pod")
    scene.running(2)
    scene.initialized(2)
    for rule in ("SchedulesCatalogue", "SchedulesSpot", "SchedulesClusters"):
        scene.fire(rule)
    scene.eventually(lambda: scene.ended("refresh") == 3, "three refreshes")


def _take_nodes_away(scene: Scene) -> None:
    """One node's hardware is announced to end, and then isn't to; spot takes it; the other one expires.

    And spot takes an instance that carries our tags and has no claim.
    """
    taken, old = settled(scene)
    tell_of_maintenance(scene, taken, ahead=timedelta(days=7))
    scene.eventually(lambda: _claim(scene, taken).retirement, "a retirement for later")
    tell_of_maintenance(scene, taken, ahead=timedelta(days=7), status="closed")
    scene.eventually(lambda: _claim(scene, taken).retirement is None, "it to be withdrawn")
    warn(scene, _stranger_of_ours(scene, taken), taken.zone)
    tell_of_spot_interruption(scene, taken)
    scene.eventually(lambda: not is_alive(scene, taken), "the node to end", DRAIN_SECONDS)
    scene.running(2)
    settled(scene)
    _make_old(scene, old)
    scene.eventually(lambda: swept(scene) and not is_alive(scene, old), "the old node to end", DRAIN_SECONDS)
    scene.running(2)


def _claim(scene: Scene, of: NodeClaim) -> NodeClaim:
    return scene.ledger.claim(CLUSTER, of.id)


def _stranger_of_ours(scene: Scene, like: NodeClaim) -> str:
    """An instance tagged as this one is, as a launch leaves it that nobody remembers."""
    (known,) = scene.ec2.describe_instances(InstanceIds=[like.instance_id])["Reservations"][0]["Instances"]
    answer = scene.ec2.run_instances(
        ImageId=known["ImageId"],
        InstanceType=known["InstanceType"],
        MinCount=1,
        MaxCount=1,
        TagSpecifications=[{"ResourceType": "instance", "Tags": known["Tags"]}],
    )
    instance_id: str = answer["Instances"][0]["InstanceId"]
    return instance_id


def _make_old(scene: Scene, claim: NodeClaim) -> None:
    """As if its pool had let nodes live for a second only. Reconcile may be writing the claim too."""

    def aged() -> bool:
        with suppress(ConflictError):
            scene.ledger.save_claim(CLUSTER, replace(_claim(scene, claim), expire_after=timedelta(seconds=1)))
            return True
        return False

    scene.eventually(aged, "the claim to be old")


def _image(scene: Scene) -> str:
    name = {"Name": "name", "Values": ["amazon-eks-node-al2023-x86_64-standard-1.37-*"]}
    images = scene.ec2.describe_images(Owners=["amazon"], Filters=[name])["Images"]
    image: str = images[0]["ImageId"]
    return image
