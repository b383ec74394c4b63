from dataclasses import replace

from nodewright.domain.occupants import fingerprint, occupants
from nodewright.domain.pods import Owner
from tests.builders import daemon_pod, pod

APP = pod("app", node_name="n", phase="Running")
MIRROR = pod("static", annotations={"kubernetes.io/config.mirror": "hash"}, node_name="n")


def test_daemons_static_pods_and_those_that_ended_need_no_node() -> None:
    of_node = pod("kubelet", owner=Owner("Node", "n", "u"))
    ended = (pod("done", phase="Succeeded"), pod("failed", phase="Failed"))
    assert occupants([APP, daemon_pod("agent-x", "n", "agent"), MIRROR, of_node, *ended]) == (APP,)


def test_the_fingerprint_changes_when_an_occupant_comes_goes_ends_or_begins_to_end() -> None:
    other = pod("other")
    prints = [
        fingerprint(pods)
        for pods in (
            (),
            (APP,),
            (APP, other),
            (replace(APP, terminating=True),),
            (replace(APP, uid="its successor of the same name"),),
        )
    ]
    assert len(set(prints)) == len(prints)
    assert all(prints)


def test_it_does_not_mind_order_readiness_or_daemons() -> None:
    other = pod("other")
    same = (daemon_pod("agent-x", "n", "agent"), other, replace(APP, ready=True, phase="Running"), MIRROR)
    assert fingerprint((APP, other)) == fingerprint(same)


def test_a_pod_that_ends_leaves() -> None:
    assert fingerprint((replace(APP, phase="Succeeded"),)) == fingerprint(())
