"""Hardware whose end is announced: the node's pods have another place before they are asked to leave."""

from datetime import timedelta

from nodewright.domain.retiring import begin
from tests.application.disrupting import HOUR, MINUTE, Scene, web
from tests.application.world import CLUSTER


def test_pods_run_until_the_node_that_provision_bought_for_them_is_ready() -> None:
    scene = Scene(*web())
    (old,) = scene.world.claims
    announce(scene)
    scene.world.provision()
    for _ in range(30):
        scene.world.later(timedelta(seconds=5))
        scene.retire()
    assert scene.node_of("web-0") == old.node_name
    assert scene.marked == [old.node_name]
    scene.live(10 * MINUTE)
    assert old.id not in {claim.id for claim in scene.world.claims}
    assert len(scene.bought) == 2
    scene.assert_whole(1)


def test_where_there_is_room_already_nobody_waits_long() -> None:
    scene = Scene(*web(2))
    announce(scene)
    leaving = scene.leaving[0].node_name
    scene.empty("web-1" if scene.node_of("web-0") == leaving else "web-0")
    scene.world.provision()
    scene.world.later(timedelta(seconds=5))
    scene.retire()
    for _ in range(7):
        scene.world.later(timedelta(seconds=5))
        scene.retire()
    assert scene.world.cluster.evictions != []
    assert len(scene.bought) == 2


def announce(scene: Scene) -> None:
    """For in two hours; the first turn is on its way."""
    now = scene.world.clock.now()
    wanted = begin(scene.world.claims[0], "scheduled-event", now, deadline=now + 2 * HOUR)
    assert wanted is not None
    (stored,) = scene.world.ledger.start_retirements(CLUSTER, [wanted], None)
    assert stored.retirement is not None
    scene.queue.send(CLUSTER, stored.id, stored.retirement.epoch, timedelta())
