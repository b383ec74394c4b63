"""What a cluster does by itself."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.adapters.memory import InMemoryCluster
from nodewright.adapters.memory.control_plane import (
    CLOUD_LOOKS,
    LEASE,
    QUARANTINE_SECONDS,
    ControlPlane,
    Deployment,
    waiting,
)
from nodewright.adapters.memory.timeline import Timeline
from nodewright.domain.pods import Pod
from nodewright.domain.taints import Toleration
from tests.builders import NOW, daemon_set, node, pod, requirements, taint

SECOND = timedelta(seconds=1)


class Heard:
    """A cluster, and who listens to it."""

    def __init__(self) -> None:
        self.timeline = Timeline(NOW)
        self.cluster = InMemoryCluster(clock=self.timeline)
        self.failed: list[str] = []
        self.nodes: list[str] = []
        self.plane = ControlPlane(
            self.cluster,
            self.timeline,
            failed_scheduling=lambda pod: self.failed.append(pod.key.name),
            node_changed=lambda node: self.nodes.append(node.name),
        )

    def later(self, seconds: float = 1) -> None:
        self.timeline.sleep(timedelta(seconds=seconds))

    def join(self, name: str = "n", cpu: str = "2") -> None:
        self.plane.join(replace(node(name, cpu=cpu, ready=False), taints=(taint("node.kubernetes.io/not-ready"),)))
        self.plane.ready(name, ("node.kubernetes.io/not-ready",))
        self.later()

    @property
    def where(self) -> dict[str, str]:
        return {key.name: pod.node_name for key, pod in self.cluster.pods.items()}

    @property
    def pods(self) -> list[Pod]:
        return list(self.cluster.pods.values())


@pytest.fixture
def here() -> Heard:
    return Heard()


def web(replicas: int = 2, **of: object) -> Deployment:
    return Deployment("web", replicas, pod("web", cpu="800m", **of))  # type: ignore[arg-type]


def test_pods_that_do_not_fit_are_told_of_once_each(here: Heard) -> None:
    here.plane.deploy(web())
    here.later()
    here.plane.changed()
    here.later()
    assert here.failed == ["web-0", "web-1"]
    assert all(pod.unschedulable for pod in here.pods)


def test_a_node_that_becomes_ready_gets_them(here: Heard) -> None:
    here.plane.deploy(web())
    here.join()
    assert here.where == {"web-0": "n", "web-1": "n"}
    assert all(pod.ready and pod.started for pod in here.pods)
    assert here.nodes == ["n", "n"], "created, and Ready"


def test_a_deployment_is_scaled_up_and_down_the_waiting_first(here: Heard) -> None:
    here.join()
    here.plane.deploy(web(3))
    here.later()
    assert len(waiting(here.cluster)) == 1
    here.plane.scale("web", 2)
    here.later()
    assert here.where == {"web-0": "n", "web-1": "n"}
    here.plane.scale("web", 4)
    here.later()
    assert sorted(here.where) == ["web-0", "web-1", "web-3", "web-4"]


def test_a_pod_that_is_told_to_go_is_replaced_at_once_and_goes_when_its_grace_is_over(here: Heard) -> None:
    here.join(cpu="8")
    here.plane.deploy(web(1, termination_grace_seconds=20))
    here.later()
    here.cluster.evict(here.pods[0].key, here.pods[0].uid)
    here.plane.changed()
    here.later()
    assert {pod.key.name: pod.terminating for pod in here.pods} == {"web-0": True, "web-1": False}
    here.later(20)
    assert list(here.where) == ["web-1"]


def test_daemons_run_on_every_node_they_may(here: Heard) -> None:
    tolerant = replace(daemon_set("agent"), tolerations=(Toleration("team", "Exists"),))
    picky = daemon_set("gpu", terms=(requirements(("gpu", "Exists")),))
    here.cluster.daemon_sets = (tolerant, picky)
    here.join("a")
    here.plane.join(replace(node("b"), taints=(taint("other"),)))
    here.plane.join(replace(node("c"), taints=(taint("team"), taint("node.kubernetes.io/not-ready"))))
    here.later()
    assert sorted(pod.node_name for pod in here.pods if pod.owner and pod.owner.name == "agent") == ["a", "c"]
    assert len(here.pods) == 2


def test_a_machine_that_dies_is_found_out_and_its_pods_run_elsewhere(here: Heard) -> None:
    here.join()
    here.plane.deploy(web(1))
    here.later()
    here.plane.lost("n", "uid-n")
    here.join("m")
    here.timeline.run_until(here.timeline.now() + LEASE)
    assert not here.cluster.nodes["n"].ready
    here.timeline.run_until(here.timeline.now() + CLOUD_LOOKS)
    assert "n" not in here.cluster.nodes
    here.later()
    assert {pod.node_name: pod.terminating for pod in here.pods} == {"n": True, "m": False}
    here.later(QUARANTINE_SECONDS)
    assert list(here.where.values()) == ["m"]


def test_a_node_with_a_finalizer_stays_until_it_is_taken_off(here: Heard) -> None:
    here.join()
    here.cluster.register_node("n", {}, ())
    here.plane.lost("n", "uid-n")
    here.later(60)
    assert here.cluster.nodes["n"].terminating
    here.cluster.delete_node("n", "uid-n")
    assert "n" not in here.cluster.nodes


def test_another_node_of_that_name_is_not_taken_for_the_dead_one(here: Heard) -> None:
    here.join()
    here.plane.lost("n", "uid-of-before")
    here.later(60)
    assert here.cluster.nodes["n"].ready


def test_startup_taints_are_taken_off(here: Heard) -> None:
    here.plane.join(replace(node("n"), taints=(taint("starting"), taint("mine"))))
    here.plane.untaint("n", ("starting",))
    assert here.cluster.nodes["n"].taints == (taint("mine"),)
    here.plane.untaint("gone", ("starting",))
