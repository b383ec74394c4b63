"""Reconcile is behind interrupt: pods that have to leave and that nobody planned for are found by looking."""

from datetime import timedelta

from tests.application.interrupting import Scene, web
from tests.events.samples import Json


def test_pods_that_have_to_leave_wake_provision_though_every_hint_was_lost() -> None:
    scene = Scene(web(2))
    scene.deliver(scene.event("SpotInterruption", scene.before[0]))
    scene.world.hints.sent.clear()
    scene.world.later(timedelta(seconds=5))
    assert scene.world.reconcile().missed_pods == 1
    assert [hint.duty for hint in scene.world.hints.sent if hint.duty == "provision"] == ["provision"]


def test_once_a_node_is_bought_for_them_they_wake_nobody() -> None:
    scene = Scene(web(2))
    scene.deliver(scene.event("SpotInterruption", scene.before[0]))
    scene.plan()
    assert scene.world.reconcile().missed_pods == 0


def test_a_node_that_is_to_leave_later_wakes_nobody_until_then() -> None:
    scene = Scene(web(1))
    entities: Json = [{"entityValue": scene.before[0].id}]
    scene.deliver(scene.event("ScheduledEvent", "", "e-1", affectedEntities=entities))
    assert scene.world.reconcile().missed_pods == 0
    scene.world.later(timedelta(days=13))
    assert scene.world.reconcile().missed_pods == 1
    scene.world.provision()
    assert scene.replacements == 1


def test_a_node_on_its_way_that_is_leaving_already_is_not_waited_for() -> None:
    scene = Scene(web(1))
    scene.world.cluster.add(*web(1, "late"))
    scene.world.provision()
    (coming,) = [instance for instance in scene.world.running if instance not in scene.before]
    scene.world.later(timedelta(seconds=10))
    assert scene.world.reconcile().missed_pods == 0
    scene.deliver(scene.event("StateChange", coming, state="terminated"))
    assert scene.world.reconcile().missed_pods == 1
