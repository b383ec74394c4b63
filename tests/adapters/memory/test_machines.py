"""Instances that boot, join and die."""

from dataclasses import replace
from datetime import timedelta
from random import Random

from nodewright.adapters.memory import InMemoryCluster
from nodewright.adapters.memory.control_plane import LEASE, ControlPlane
from nodewright.adapters.memory.machines import (
    BOOT,
    GETTING_READY,
    SHOWN,
    SHUTTING_DOWN,
    STARTING_UP,
    Birth,
    LivingFleet,
    Machines,
)
from nodewright.adapters.memory.timeline import Timeline
from nodewright.application.ports import FleetOverride, FleetRequest, FleetTemplate, Instance, LaunchTemplateSpec
from tests.application.world import STACK, node_class
from tests.builders import NOW, instance_type, pool, taint

STARTING = taint("starting")


class Region:
    """A fleet whose machines join a cluster; user data says whether they can."""

    def __init__(self, *, lag: timedelta = timedelta(), user_data: str = "good") -> None:
        self.timeline = Timeline(NOW)
        self.cluster = InMemoryCluster(clock=self.timeline)
        self.cluster.add(pool(startup_taints=(STARTING,)))
        plane = ControlPlane(self.cluster, self.timeline)
        self.fleet = LivingFleet(self.timeline, STACK, timeline=self.timeline, lag=lag)
        Machines(self.fleet, plane, self.timeline, _read, lambda _: instance_type("x.s"), Random(0))
        spec = LaunchTemplateSpec("ami", user_data, "profile", ("sg",), node_class(), "spot", {})
        override = FleetOverride("x.s", "a", "subnet-a", "ami")
        template = FleetTemplate(self.fleet.ensure_template(spec), (override,))
        tags = {"nodewright.dev/stack": STACK, "eks:eks-cluster-name": "prod"}
        self.request = FleetRequest("launch", 1, "spot", (template,), tags)

    def launch(self) -> Instance:
        (instance,) = self.fleet.launch(self.request).instances
        return instance

    def later(self, duration: timedelta) -> None:
        self.timeline.sleep(duration)


def _read(user_data: str) -> Birth | None:
    labels = {"karpenter.sh/nodepool": "default"}
    return Birth(labels, (STARTING,)) if user_data == "good" else None


def test_an_instance_becomes_a_node_when_it_has_booted_and_ready_a_little_later() -> None:
    region = Region()
    instance = region.launch()
    region.later(BOOT)
    (node,) = region.cluster.nodes.values()
    assert (node.instance_id, node.ready) == (instance.id, False)
    assert [t.key for t in node.taints] == ["starting", "node.kubernetes.io/not-ready"]
    region.later(GETTING_READY)
    (node,) = region.cluster.nodes.values()
    assert (node.ready, node.taints) == (True, (STARTING,))
    region.later(STARTING_UP)
    (node,) = region.cluster.nodes.values()
    assert node.taints == ()


def test_asked_twice_it_starts_once() -> None:
    region = Region()
    region.launch()
    region.launch()
    region.later(BOOT)
    assert len(region.cluster.nodes) == 1


def test_wrong_user_data_makes_no_node() -> None:
    region = Region(user_data="bad")
    region.launch()
    region.later(2 * BOOT)
    assert region.cluster.nodes == {}


def test_one_that_dies_while_it_boots_makes_no_node() -> None:
    region = Region()
    region.fleet.end(region.launch().id)
    region.later(2 * BOOT)
    assert region.cluster.nodes == {}


def test_describing_shows_the_youngest_only_after_a_while() -> None:
    region = Region(lag=timedelta(seconds=5))
    instance = region.launch()
    seen = (region.fleet.launched("launch"), region.fleet.ours("prod"), region.fleet.ours_among([instance.id]))
    assert seen == ((), (), ())
    region.later(timedelta(seconds=5))
    assert region.fleet.launched("launch") == region.fleet.ours("prod") == (instance,)
    assert region.fleet.ours_among([instance.id]) == (instance,)


def test_an_instance_shuts_down_is_terminated_and_forgotten() -> None:
    region, told = Region(), list[str]()
    region.fleet.on_end.append(lambda instance: told.append(instance.id))
    instance = region.launch()
    region.fleet.terminate([instance.id])
    region.fleet.terminate([instance.id])
    assert told == [instance.id]
    (shown,) = region.fleet.ours_among([instance.id])
    assert shown == replace(instance, state="shutting-down")
    region.later(SHUTTING_DOWN)
    (shown,) = region.fleet.ours_among([instance.id])
    assert shown.state == "terminated"
    region.later(SHOWN)
    assert region.fleet.ours_among([instance.id]) == ()


def test_the_node_of_a_dead_machine_is_found_out() -> None:
    region = Region()
    instance = region.launch()
    region.later(BOOT + GETTING_READY)
    region.fleet.end(instance.id)
    region.later(LEASE)
    (node,) = region.cluster.nodes.values()
    assert not node.ready
    region.later(LEASE)
    assert region.cluster.nodes == {}


def test_ending_a_stranger_is_no_error() -> None:
    Region().fleet.terminate(["i-unknown"])
