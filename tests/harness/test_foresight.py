"""What is bought for pods that aren't there: once, within limits, and gone when nobody comes."""

import pytest

from nodewright.application import disruption_view, reconcile
from nodewright.application.looking_ahead import LookAhead
from nodewright.domain.disruption import expectations
from tests.application.world import CLUSTER
from tests.harness.playing import play
from tests.harness.scenarios import MINUTE, SCENARIOS, SECOND
from tests.harness.world import World

Patch = pytest.MonkeyPatch


def test_nodes_for_all_are_on_their_way_before_all_pods_are_there() -> None:
    world = World()
    SCENARIOS["pods to come"].play(world)
    world.timeline.run_until(world.timeline.now() + 3 * SECOND)
    assert len(world.cluster.pods) <= 4
    assert len(world.fleet.instances) == 6


def test_usage_and_limits_are_those_of_what_was_bought() -> None:
    world = World()
    scenario = SCENARIOS["pods to come, within limits"]
    scenario.play(world)
    world.timeline.run_until(world.timeline.now() + 5 * MINUTE)
    usage = world.ledger.usage(CLUSTER)
    assert usage["default"].get("nodes") == len(world.fleet.instances) == 4
    assert world.watch.violations == []


def test_nodes_wait_two_minutes_for_their_pods_and_no_longer_than_emptiness_takes() -> None:
    world = World()
    SCENARIOS["pods that never come"].play(world)
    begun = world.timeline.now()
    world.timeline.run_until(begun + 2 * MINUTE)
    assert len(world.alive) == 6
    world.timeline.run_until(begun + 4 * MINUTE)
    assert len(world.alive) == 2


def test_without_the_wait_nodes_would_go_before_their_pods_come(monkeypatch: Patch) -> None:
    monkeypatch.setattr(expectations, "awaited", lambda *_: False)
    world = World()
    SCENARIOS["pods that never come"].play(world)
    world.timeline.run_until(world.timeline.now() + 2 * MINUTE)
    assert len(world.alive) < 6


def test_without_headroom_in_disruptions_view_nodes_would_go_and_be_bought_again(monkeypatch: Patch) -> None:
    monkeypatch.setattr(disruption_view, "with_headroom", lambda snapshot, _: snapshot)
    assert play(SCENARIOS["headroom"]).bought > 4


def test_without_reconcile_nobody_would_fill_headroom_up(monkeypatch: Patch) -> None:
    monkeypatch.setattr(reconcile, "lacks_headroom", lambda *_: False)
    assert play(SCENARIOS["headroom"]).bought < 4


def test_nodes_for_pods_to_come_serve_whoever_comes() -> None:
    """Two pods of another application come while others are expected: four of the six have a node, as limits allow."""
    world = World()
    SCENARIOS["pods to come, within limits"].play(world)
    world.timeline.run_until(world.timeline.now() + 5 * MINUTE)
    bound = sum(bool(pod.node_name) for pod in world.cluster.pods.values())
    assert (bound, len(world.cluster.pods)) == (4, 6)


def test_without_looking_ahead_everything_is_whole_too(monkeypatch: Patch) -> None:
    monkeypatch.setattr(LookAhead, "__call__", lambda _, snapshot: snapshot)
    played = play(SCENARIOS["pods to come"])
    assert (played.wrong, played.bought) == ((), 6)
