"""Which pods wait, and what room there is."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.domain.attach_limits import AttachLimits
from nodewright.domain.claims import ClaimState
from nodewright.domain.host_ports import HostPort
from nodewright.domain.nodes import NAME_FIELD, Node
from nodewright.domain.pods import EBS_DRIVER, Owner, Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.rooms import pending_pods, rooms
from nodewright.domain.snapshot import Room
from tests.builders import NOW, claim, daemon_pod, daemon_set, node, pod, requirements, resources, taint

SMALL = resources(cpu="1930m", memory="3Gi", pods=110)


def only(found: tuple[Room, ...]) -> Room:
    (room,) = found
    return room


@pytest.mark.parametrize(
    ("waiting", "waits"),
    [
        (pod(), True),
        (pod(unschedulable=True), True),
        (pod(node_name="n"), False),
        (pod(gated=True), False),
        (pod(terminating=True), False),
        (pod(phase="Failed"), False),
        (pod(scheduler_name="other"), False),
        (pod(scheduler_name="fargate-scheduler"), False),
        (pod(owner=Owner("DaemonSet", "agent", "u")), False),
        (pod(owner=Owner("Node", "n", "u")), False),
        (pod(owner=Owner("ReplicaSet", "web", "u")), True),
        (pod(nominated_node_name="n"), False),
        (pod(nominated_node_name="vanished"), True),
    ],
)
def test_which_pods_wait(waiting: Pod, waits: bool) -> None:
    found = pending_pods([waiting], ("default-scheduler", "fargate-scheduler"), node_names={"n"})

    assert (found == (waiting,)) == waits


def test_a_pod_we_nominated_ourselves_still_waits() -> None:
    ours = claim(node_name="n", nominated_pods=(PodKey("default", "p"),))

    assert pending_pods([pod(nominated_node_name="n")], ("default-scheduler",), [ours], {"n"}) != ()
    assert pending_pods([pod(nominated_node_name="m")], ("default-scheduler",), [ours], {"n", "m"}) == ()


def test_a_nomination_counts_while_nobody_says_which_nodes_there_are() -> None:
    assert pending_pods([pod(nominated_node_name="n")], ("default-scheduler",)) == ()


def test_pending_pods_are_sorted() -> None:
    found = pending_pods([pod("b"), pod("a")], ("default-scheduler",))

    assert [each.key.name for each in found] == ["a", "b"]


def test_a_ready_node_has_what_its_pods_leave() -> None:
    bound = [pod("a", cpu="500m", node_name="n"), pod("done", phase="Succeeded", node_name="n")]
    room = only(rooms([node("n", cpu="2", memory="4Gi")], [], bound, [], NOW))

    assert room.available == resources(cpu="1500m", memory="3840Mi", pods=109)
    assert room.initialized


@pytest.mark.parametrize("closed", [node(ready=False), node(unschedulable=True), node(terminating=True)])
def test_a_node_that_takes_no_pods_is_no_room(closed: Node) -> None:
    labelled = replace(closed, labels={**closed.labels, "karpenter.sh/initialized": "true"})
    assert rooms([closed], [], [], [], NOW) == ()
    assert rooms([labelled], [claim(node_name="n", state=ClaimState.INITIALIZED)], [], [], NOW) == ()


def test_a_node_read_before_its_claim_was_initialized_counts_as_it_was_planned() -> None:
    """Else its pods would be bought another: reconcile takes the claim forward between the two readings."""
    read = node("n", ready=False, taints=(taint("karpenter.sh/unregistered", "NoExecute"),))
    initialized = claim(node_name="n", state=ClaimState.INITIALIZED, labels={"role": "x"}, allocatable=SMALL)
    room = only(rooms([read], [initialized], [], [], NOW))

    assert room.taints == ()
    assert room.labels["role"] == "x"
    assert rooms([read], [initialized], [], [], NOW + timedelta(minutes=16)) == ()


def test_daemon_sets_still_to_come_are_taken_off_and_running_ones_not_twice() -> None:
    running = daemon_pod("agent-x", "n", "agent", cpu="300m", namespace="kube-system")
    agent, logger = daemon_set("agent", cpu="300m"), daemon_set("logger", cpu="200m")
    room = only(rooms([node("n", cpu="2")], [], [running], [agent, logger], NOW))

    assert room.available.get("cpu") == 1500


def test_daemon_sets_that_do_not_run_there_take_nothing() -> None:
    elsewhere = daemon_set(terms=[requirements(("kubernetes.io/os", "In", "windows"))])
    shy = daemon_set("shy", tolerates=())
    tainted = node("n", cpu="2", taints=(taint("a"),))

    assert only(rooms([tainted], [], [], [elsewhere, shy], NOW)).available.get("cpu") == 2000


def test_a_daemon_set_that_waits_for_the_registered_label_is_to_come() -> None:
    late = daemon_set(cpu="300m", terms=[requirements(("karpenter.sh/registered", "In", "true"))])

    assert only(rooms([], [claim()], [], [late], NOW)).available.get("cpu") == 1630


def test_a_claim_without_a_node_has_the_room_it_was_planned_with() -> None:
    coming = claim("c", labels={"team": "red"}, taints=(taint("team", "red"),), nominated_pods=(PodKey("a", "b"),))
    room = only(rooms([], [coming], [], [], NOW))

    assert room == Room(
        name="c",
        labels={
            "kubernetes.io/hostname": "c",
            "node.kubernetes.io/instance-type": "x.s",
            "topology.kubernetes.io/zone": "a",
            "karpenter.sh/capacity-type": "on-demand",
            "karpenter.sh/nodepool": "default",
            "team": "red",
        },
        taints=(taint("team", "red"),),
        available=SMALL,
        initialized=False,
        pool="default",
        nominated=(PodKey("a", "b"),),
    )


def test_a_reserved_claim_has_room_for_what_it_was_planned_for() -> None:
    reserved = claim(
        "c",
        state=ClaimState.RESERVED,
        instance_type="",
        zone="",
        allocatable=Resources(),
        requests=resources(cpu="1", pods=2),
    )
    room = only(rooms([], [reserved], [], [daemon_set()], NOW))

    assert room.available == resources(cpu="1", pods=2)
    assert room.labels == {"karpenter.sh/nodepool": "default", "kubernetes.io/hostname": "c"}


def test_a_node_s_own_name_stands_among_its_labels_and_its_hostname_too() -> None:
    named, plain = node("n", labels={"kubernetes.io/hostname": "h"}), node("m")
    found = {room.name: room.labels for room in rooms([named, plain], [claim(node_name="m")], [], [], NOW)}

    assert (found["n"]["kubernetes.io/hostname"], found["n"][NAME_FIELD]) == ("h", "n")
    assert (found["m"]["kubernetes.io/hostname"], found["m"][NAME_FIELD]) == ("m", "m")


def test_a_room_has_its_pods_those_on_their_way_out_included() -> None:
    going = pod("going", node_name="n", phase="Running", terminating=True)
    there = [pod("a", node_name="n"), going, daemon_pod("agent-x", "n", "agent"), pod("done", phase="Failed")]
    room = only(rooms([node("n")], [], there, [], NOW))

    assert [each.key.name for each in room.pods] == ["a", "going", "agent-x"]


def test_ports_of_pods_and_of_daemon_sets_to_come_are_taken_once() -> None:
    there = pod("a", node_name="n", host_ports=(HostPort(80), HostPort(443)))
    agent = replace(daemon_set("agent"), host_ports=(HostPort(80), HostPort(9100)))
    elsewhere = replace(daemon_set("other", terms=[requirements(("os", "In", "x"))]), host_ports=(HostPort(1),))
    room = only(rooms([node("n")], [], [there], [agent, elsewhere], NOW))

    assert room.host_ports == (HostPort(80), HostPort(443), HostPort(9100))


def test_a_node_says_how_many_volumes_it_takes_and_its_type_until_then() -> None:
    limits = AttachLimits({"n": {EBS_DRIVER: 20}, "m": {"other": 1}}, {("default", "x.s"): 25})
    found = rooms([node("n"), node("m"), node("o")], [claim(node_name="m")], [], [], NOW, limits)

    assert [room.attachable for room in found] == [{"other": 1, EBS_DRIVER: 25}, {EBS_DRIVER: 20}, {}]


@pytest.mark.parametrize("known_as", [{"node_name": "n"}, {"instance_id": "i-n"}])
def test_until_a_node_is_initialized_its_planned_size_and_taints_count(known_as: dict[str, str]) -> None:
    """Case 32: the GPU is not reported yet, and somebody's agent taints the node while it starts."""
    planned = SMALL + resources(gpu=1)
    young = node("n", labels={"extra": "1"}, taints=(taint("node.cilium.io/agent-not-ready", effect="NoExecute"),))
    ours = claim(state=ClaimState.REGISTERED, allocatable=planned, **known_as)
    room = only(rooms([replace(young, ready=False)], [ours], [], [], NOW))

    assert room.name == "n"
    assert room.available == planned
    assert room.taints == ()
    assert room.labels["extra"] == "1"
    assert not room.initialized


def test_once_initialized_a_node_counts_as_it_is() -> None:
    ours = claim(state=ClaimState.INITIALIZED, node_name="n", allocatable=SMALL)
    labels = {"karpenter.sh/initialized": "true"}
    room = only(rooms([node("n", cpu="1", labels=labels, taints=(taint("a"),))], [ours], [], [], NOW))

    assert room.available.get("cpu") == 1000
    assert room.taints == (taint("a"),)
    assert room.initialized


def test_a_node_that_takes_too_long_to_start_is_no_longer_waited_for() -> None:
    late = NOW + timedelta(minutes=15, seconds=1)

    assert len(rooms([], [claim()], [], [], late - timedelta(seconds=1))) == 1
    assert rooms([], [claim()], [], [], late) == ()
    assert rooms([node("n")], [claim(node_name="n")], [], [], late) == ()


def test_claims_that_are_gone_or_lost_their_node_are_no_room() -> None:
    assert rooms([], [claim(state=ClaimState.GONE)], [], [], NOW) == ()
    assert rooms([], [claim(state=ClaimState.INITIALIZED, node_name="n")], [], [], NOW) == ()


def test_rooms_are_sorted_by_name() -> None:
    found = rooms([node("b"), node("a")], [claim("aa", instance_id="i-other")], [], [], NOW)

    assert [room.name for room in found] == ["a", "aa", "b"]
