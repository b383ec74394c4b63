"""What was read becomes what is decided on."""

from dataclasses import replace

from nodewright.application.ports import ClusterState
from nodewright.application.snapshots import snapshot_of
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.nodes import ZONE_LABEL
from nodewright.domain.pods import EBS_DRIVER, Attachment, Owner
from nodewright.domain.retiring import begin
from nodewright.domain.snapshot import Snapshot
from nodewright.domain.storage import PersistentVolume, PersistentVolumeClaim, Storage
from nodewright.domain.topology import PodAffinityTerm, PodSelector
from tests.builders import NOW, claim, daemon_pod, daemon_set, instance_type, node, options, pod, requirements

CONNECTED = ConnectedCluster("c", "https://x", "", "1.37", "10.100.0.0/16", "10.100.0.10")
EMPTY = ClusterState((), (), (), (), ())


def snapshot(state: ClusterState, *claims: NodeClaim) -> Snapshot:
    return snapshot_of(CONNECTED, state, claims, (options(types=[replace(instance_type(), volumes=25)]),), NOW)


def test_waiting_pods_know_what_their_volumes_mean() -> None:
    storage = Storage(
        (PersistentVolumeClaim("default", "data", volume="v", bound=True),),
        (PersistentVolume("v", (requirements((ZONE_LABEL, "In", "b")),), Attachment(EBS_DRIVER, "vol-1")),),
    )
    state = replace(EMPTY, pods=(pod(claim_names=("data",)),), storage=storage)
    (waiting,) = snapshot(state).pods
    assert waiting.volume_nodes == (requirements((ZONE_LABEL, "In", "b")),)


def test_a_node_on_its_way_takes_as_many_volumes_as_its_type() -> None:
    state = replace(EMPTY, nodes=(node("n"),), storage=Storage(attachable={"n": {EBS_DRIVER: 3}}))
    found = {room.name: room.attachable for room in snapshot(state, claim("c")).rooms}
    assert found == {"n": {EBS_DRIVER: 3}, "c": {EBS_DRIVER: 25}}


def test_a_pod_that_has_to_leave_is_planned_anew_and_counted_nowhere_else() -> None:
    web = Owner("ReplicaSet", "web", "u")
    there = (pod("a", node_name="n", phase="Running", owner=web), daemon_pod("agent", "n", "agent"))
    leaving = begin(claim(state=ClaimState.INITIALIZED, node_name="n"), "spot-interruption", NOW)
    assert leaving is not None
    found = snapshot(replace(EMPTY, nodes=(node("n"),), pods=there), leaving)
    assert found.rooms == ()
    assert [(each.key.name, each.node_name) for each in found.pods] == [("a", "")]
    assert [[each.key.name for each in other.pods] for other in found.bystanders] == [["agent"]]


def test_daemon_sets_take_what_their_live_pods_do() -> None:
    live = daemon_pod("agent-x", "n", "agent", cpu="1")
    state = replace(EMPTY, nodes=(node("n"), node("m", cpu="4")), pods=(live,), daemon_sets=(daemon_set("agent"),))
    found = snapshot(state)
    assert found.daemon_sets[0].requests.get("cpu") == 1000
    assert found.rooms[0].available.get("cpu") == 3000


def test_namespaces_come_along_and_unknown_ones_are_told() -> None:
    term = PodAffinityTerm("zone", PodSelector(requirements(), frozenset(), requirements(("team", "In", "a"))))
    state = replace(EMPTY, pods=(pod(affinity=(term,)),), namespaces={"shop": {"team": "a"}})
    assert snapshot(state).namespaces == {"shop": {"team": "a"}}
    assert snapshot(state).pods[0].problems == ()
    unknown = snapshot(replace(state, namespaces=None))
    assert unknown.namespaces == {}
    assert "Namespaces may not be listed" in unknown.pods[0].problems[0]
