"""Room that is kept free: bought once, kept, filled up again, and never at a pod's expense."""

from dataclasses import replace
from datetime import timedelta

from nodewright.domain.headroom import HEADROOM, CapacityBuffer
from nodewright.domain.limits import NODES
from nodewright.domain.nodes import Node
from nodewright.domain.pods import PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.workloads import Workload
from tests.application.disrupting import WEB, Scene, small, web
from tests.application.provisioning import CPU, world
from tests.application.world import CLUSTER, MINUTE, World
from tests.builders import pod, pool

#: A node of two cores has room for one unit.
ONE_NODE = {HEADROOM: "cpu=1500m,pods=1"}
SPARE = CapacityBuffer(PodKey("default", "spare"), pod("unit", cpu="1500m"), replicas=2)


def provision(here: World) -> int:
    here.later(timedelta(seconds=1))
    return here.provision(here.clock.now()).launched


def empty_nodes(scene: Scene) -> list[Node]:
    taken = {each.node_name for each in scene.world.cluster.pods.values()}
    return [each for name, each in scene.world.cluster.nodes.items() if name not in taken and each.ready]


def test_a_pools_headroom_is_bought_once() -> None:
    here = world(of=pool("default", (CPU, "In", "2"), settings=ONE_NODE))
    assert provision(here) == 1
    assert [(claim.nominated_pods, len(claim.headroom)) for claim in here.claims] == [((), 1)]
    assert here.decided().startswith("1 of headroom → 1 × m5.large spot at 0.04 USD/h")
    assert provision(here) == 0
    here.join()
    assert provision(here) == 0


def test_a_buffer_is_bought_in_the_pool_that_takes_it() -> None:
    here = world(of=small())
    here.cluster.buffers = (SPARE,)
    assert provision(here) == 2
    assert provision(here) == 0


def test_a_buffer_of_the_highest_priority_ranks_below_every_pod() -> None:
    here = world(pod("real", cpu="1500m", priority=-10), of=small(limits=Resources({NODES: 1})))
    here.cluster.buffers = (replace(SPARE, template=replace(SPARE.template, priority=2_000_001_000, critical=True)),)
    assert provision(here) == 1
    assert here.planned_pods == [PodKey("default", "real")]


def test_an_urgent_run_buys_none() -> None:
    here = world(of=small(settings=ONE_NODE))
    assert here.provision().launched == 0


def test_a_limit_is_never_exceeded_for_it() -> None:
    here = world(pod("real", cpu="1500m"), of=small(settings=ONE_NODE, limits=Resources({NODES: 1})))
    assert provision(here) == 1
    assert len(here.planned_pods) == 1
    assert "LimitReached" in str(here.ledger.decisions(CLUSTER, 1)[0].details["headroom"])
    assert here.cluster.events == []


def test_a_node_that_holds_headroom_is_not_empty() -> None:
    scene = Scene(*web(1), of=small(settings=ONE_NODE))
    scene.live(5 * MINUTE)
    (spare,) = empty_nodes(scene)
    scene.live(20 * MINUTE)
    assert empty_nodes(scene) == [spare]
    assert len(scene.world.fleet.instances) == 2


def test_a_second_empty_node_goes_and_stays_away() -> None:
    scene = Scene(*web(3), of=small(settings=ONE_NODE))
    scene.replicas = 1
    for number in (1, 2):
        del scene.world.cluster.pods[PodKey("default", f"web-{number}")]
    scene.live(20 * MINUTE)
    assert len(empty_nodes(scene)) == 1
    assert len(scene.world.fleet.instances) == 3


def test_headroom_that_was_used_up_is_bought_again_without_any_pod_waiting() -> None:
    scene = Scene(*web(1), of=small(settings=ONE_NODE))
    scene.live(5 * MINUTE)
    assert len(empty_nodes(scene)) == 1
    scene.replicas = 2
    scene.live(5 * MINUTE)
    assert len(empty_nodes(scene)) == 1
    assert len(scene.world.running) == 3


def test_nodes_go_when_the_headroom_is_wanted_no_more() -> None:
    scene = Scene(*web(1), of=small(settings=ONE_NODE))
    scene.live(5 * MINUTE)
    scene.world.cluster.add(small())
    scene.live(20 * MINUTE)
    assert empty_nodes(scene) == []
    assert len(scene.world.running) == 1


def test_what_a_limit_denies_is_asked_for_every_other_minute_only() -> None:
    scene = Scene(*web(1), of=small(settings=ONE_NODE, limits=Resources({NODES: 1})))
    here, asked = scene.world, 0
    for _ in range(10):
        here.later(MINUTE)
        here.reconcile()
        if here.hinted("provision"):
            asked += 1
            here.hints.sent.clear()
            here.provision(here.clock.now())
    assert asked == 5


def test_a_share_grows_with_what_runs() -> None:
    scene = Scene(*web(1), of=small(settings={HEADROOM: "100%"}))
    scene.live(5 * MINUTE)
    assert len(empty_nodes(scene)) == 1
    scene.replicas = 3
    scene.live(10 * MINUTE)
    assert len(empty_nodes(scene)) == 3


def test_expected_pods_come_before_headroom() -> None:
    here = world(*web(1), of=small(settings=ONE_NODE, limits=Resources({NODES: 2})))
    here.cluster.workloads["default", "ReplicaSet", "web"] = Workload("default", WEB, 2)
    assert provision(here) == 2
    bought = [(len(c.nominated_pods), len(c.expected_pods), len(c.headroom)) for c in here.claims]
    assert bought == [(1, 0, 0), (0, 1, 0)]
