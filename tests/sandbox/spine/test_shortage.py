"""EC2 that throttles, refuses or has nothing left: what is wanted is bought once, or the reason is told once."""

import pytest

from tests.sandbox.spine.manifests import AMD64, EITHER, ON_DEMAND, family, node_class, node_pool, pod, requirement
from tests.sandbox.spine.scene import Scene

pytestmark = pytest.mark.sandbox

M7I = (family("m7i"), AMD64)

#: Every try of one run: the SDK makes three of each of the launcher's four.
TRIES_OF_A_RUN = 12


def test_a_throttled_launch_is_finished_by_the_next_run_and_bought_once(scene: Scene) -> None:
    """Usually three things wake it: the pod's first event, its second one (the scheduler tries again after a second,
    and as the pod's status was written in between that is no repeat), and the throttled run itself.
    """
    scene.world.aws.fleet.throttle(TRIES_OF_A_RUN + 1)
    scene.apply(node_class(), node_pool(*M7I, ON_DEMAND), pod("web"))

    scene.running(1)
    (claim,) = scene.initialized(1)
    (instance,) = scene.instances()
    assert claim.instance_id == instance["InstanceId"]
    assert instance["ClientToken"].startswith(claim.launch_id)
    assert "throttled" in scene.problems()[0]["reason"] or "RequestLimitExceeded" in scene.problems()[0]["reason"]
    scene.quiet()
    assert scene.runs("provision") <= scene.wakings("web") + 1
    assert scene.ledger.launches(claim.launch_id) == ()


def test_a_refusal_is_recorded_once_and_overcome_when_it_ends(scene: Scene) -> None:
    scene.world.aws.faults.fail("ec2", "CreateFleet", "UnauthorizedOperation", times=1000)
    scene.apply(node_class(), node_pool(*M7I, ON_DEMAND), pod("web"))

    refused = scene.decided(lambda each: each["refused"], "a refusal")["refused"]
    assert "UnauthorizedOperation" in refused[0]
    scene.quiet()
    assert scene.world.aws.calls.count("ec2", "CreateFleet") <= scene.runs("provision") <= scene.wakings("web")
    assert (scene.claims(), scene.instances()) == ((), [])

    scene.world.aws.faults.clear()
    scene.hint("provision", "allowed-again")
    scene.running(1)
    assert len(scene.instances()) == 1


def test_spot_that_is_sold_out_becomes_on_demand_in_the_same_run(scene: Scene) -> None:
    scene.world.aws.fleet.exhaust(capacity_type="spot")
    scene.apply(node_class(), node_pool(*M7I, EITHER), pod("web"))

    scene.running(1)
    (instance,) = scene.instances()
    assert "InstanceLifecycle" not in instance
    bought = [each for each in scene.reports("provision") if "launched=1" in each]
    # Another test's last event may have woken provision before there was a pod.
    assert bought == [each for each in scene.reports("provision") if "planned" in each][:1]
    cooling = scene.cooling()
    assert {each.capacity_type for each in cooling} == {"spot"}
    assert all("InsufficientInstanceCapacity" in each.reason for each in cooling)


def test_with_no_capacity_at_all_the_pod_is_told_and_nothing_loops(scene: Scene) -> None:
    scene.world.aws.fleet.exhaust()
    small = requirement("karpenter.k8s.aws/instance-size", "large")
    scene.apply(node_class(), node_pool(*M7I, small, EITHER), pod("web"))

    (told,) = scene.eventually(lambda: scene.our_events("web"), "an event on the pod")
    assert told["reason"] == "FailedScheduling"
    assert told["note"].startswith("NoCapacity: ")
    assert told["type"] == "Warning"
    scene.quiet()
    (waiting,) = [each["unschedulable"] for each in scene.decisions() if each["unschedulable"]]
    assert [(each["reason"], each["pods"]) for each in waiting] == [("NoCapacity", ["default/web"])]
    assert scene.runs("provision") <= scene.wakings("web")
    assert (scene.claims(), scene.instances(), scene.nodes()) == ((), [], {})
