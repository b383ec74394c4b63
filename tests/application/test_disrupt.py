"""Disrupt: nodes go although nothing is wrong with them, and as safely as any (cases.md 20, 21, 33)."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from nodewright.adapters.memory.departures import Budget
from nodewright.application.disrupt import Report
from nodewright.domain.pods import DO_NOT_DISRUPT
from nodewright.domain.pools import DisruptionBudget, NodePool
from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirements
from nodewright.domain.retirement import DISRUPTED, EXCLUDED
from nodewright.domain.retiring import begin
from tests.application.disrupting import DAY, HOUR, MINUTE, Scene, small, web
from tests.application.provisioning import ON_DEMAND, SPOT
from tests.application.world import CLUSTER, connected
from tests.builders import pod

HELD = {DO_NOT_DISRUPT: "true"}
ONE = DisruptionBudget("1")


def expiring(**changes: object) -> NodePool:
    return small(expire_after=DAY, **changes)


def aged(scene: Scene, age: timedelta = 25 * HOUR) -> Scene:
    scene.world.later(age)
    scene.world.reconcile()
    return scene


# ---- empty nodes ----


def test_an_empty_node_is_tainted_out_of_load_balancers_and_retires() -> None:
    scene = Scene(*web(2))
    node, epoch = scene.node_of("web-0"), scene.world.ledger.epoch(CLUSTER)
    scene.empty("web-0")
    assert scene.disrupt() == Report("looked", retired=1)
    assert scene.marked == [node]
    assert scene.retirement.reason == "empty"
    assert scene.world.ledger.epoch(CLUSTER) > epoch
    (turn,) = scene.queue.waiting
    assert (turn.claim_id, turn.epoch) == (scene.claim_of(node).id, scene.retirement.epoch)


def test_scaled_to_zero_all_nodes_go_and_no_instance_is_left() -> None:
    scene = Scene(*web(3))
    scene.empty()
    scene.live(4 * MINUTE)
    assert (scene.world.running, scene.nodes, scene.world.claims) == ([], [], ())


def test_nodes_with_pods_stay() -> None:
    scene = Scene(*web(2))
    assert scene.disrupt() == Report("looked")
    scene.assert_untouched()


def test_it_waits_for_consolidate_after_from_the_last_pod_on() -> None:
    scene = Scene(*web(), of=small(consolidate_after=3 * MINUTE))
    scene.world.later(HOUR)
    scene.empty()
    scene.disrupt()
    scene.world.later(3 * MINUTE - timedelta(seconds=1))
    scene.disrupt()
    scene.assert_untouched()
    scene.world.later(timedelta(seconds=1))
    assert scene.disrupt().retired == 1


def test_budgets_let_empty_nodes_go_a_few_at_a_time_and_all_in_the_end() -> None:
    scene = Scene(*web(3), of=small(budgets=(ONE,)))
    scene.empty()
    report = scene.disrupt()
    assert (report.retired, report.blocked) == (1, 2)
    scene.live(15 * MINUTE)
    assert scene.world.running == []


# ---- the startup race (cases.md 33) ----


def starting() -> Scene:
    """Its node is ready while kube-scheduler still backs off."""
    scene = Scene()
    scene.replicas = 1
    scene.world.cluster.add(*web())
    scene.world.provision()
    scene.world.join()
    scene.world.reconcile()
    return scene


def test_a_node_waits_for_the_pod_it_was_bought_for() -> None:
    scene = starting()
    for _ in range(9):
        scene.world.later(timedelta(seconds=30))
        scene.world.reconcile()
        assert scene.disrupt() == Report("looked")
    scene.settle()
    assert scene.disrupt() == Report("looked")
    scene.assert_whole(1)


def test_after_five_minutes_in_vain_it_waits_no_longer() -> None:
    scene = starting()
    scene.world.later(5 * MINUTE)
    assert scene.disrupt().retired == 1


def test_a_pod_that_is_bound_while_its_node_is_being_tainted_keeps_it() -> None:
    scene = Scene(*web(2))
    node = scene.node_of("web-0")
    scene.empty("web-0")
    late = pod("late", cpu="1")
    scene.world.cluster.add(late)
    scene.world.later(10 * MINUTE)
    scene.when("mark_node", lambda: scene.world.cluster.bind(late.key, node))
    assert scene.disrupt().retired == 0
    scene.assert_untouched()
    assert [why for *_, why in scene.world.observer.dropped_disruptions] == [f"{node}: default/late came to it"]


def test_of_several_only_the_one_that_is_in_use_again_stays() -> None:
    scene = Scene(*web(3))
    node = scene.node_of("web-0")
    scene.empty()
    late = pod("late", cpu="1")
    scene.when("disruption_budgets", lambda: scene.world.cluster.add(replace(late, node_name=node)))
    scene.disrupt()
    assert node not in scene.marked
    assert len(scene.leaving) == 2


# ---- expired nodes (cases.md 21) ----


def test_an_expired_node_gets_its_replacement_first_and_everything_runs_again() -> None:
    scene = Scene(*web(), of=expiring())
    (old,) = scene.world.claims
    aged(scene)
    report = scene.disrupt()
    assert (report.retired, report.launched) == (1, 1)
    (new,) = [claim for claim in scene.world.claims if claim.id != old.id]
    assert scene.retirement.replacements == (new.id,)
    scene.live(2 * MINUTE)
    scene.live(10 * MINUTE)
    assert old.id not in {claim.id for claim in scene.world.claims}
    assert len(scene.bought) == 2
    scene.assert_whole(1)


def test_its_pods_run_until_the_replacement_is_ready() -> None:
    scene = aged(Scene(*web(), of=expiring()))
    scene.disrupt()
    for _ in range(30):
        scene.world.later(timedelta(seconds=10))
        scene.retire()
    assert scene.node_of("web-0") in scene.marked


def test_where_its_pods_fit_elsewhere_nothing_is_bought() -> None:
    scene = Scene(*web(2, cpu="900m"), of=expiring())
    scene.world.cluster.add(*web(1, "more"))
    scene.replicas += 1
    scene.world.provision()
    scene.settle()
    first, second = scene.world.claims
    scene.empty("more-0")
    scene.world.ledger.save_claim(
        CLUSTER, replace(second, created=second.created + 24 * HOUR, version=second.version + 1)
    )
    aged(scene)
    report = scene.disrupt()
    assert (report.retired, report.launched) == (1, 0)
    assert [claim.id for claim in scene.leaving] == [first.id]


def test_one_pod_that_may_not_be_disrupted_keeps_its_node_untouched_and_that_is_told_once() -> None:
    scene = aged(Scene(*web(1, annotations=HELD), of=expiring()))
    for _ in range(3):
        assert scene.disrupt() == Report("looked", blocked=1)
        scene.world.later(MINUTE)
    scene.assert_untouched()
    told = [d for d in scene.world.ledger.decisions(CLUSTER, 9) if d.kind == "disrupt"]
    assert ["expired, blocked by default/web-0" in str(each.details) for each in told] == [True]
    (event,) = scene.world.cluster.events
    assert (event.pod.name, event.reason, event.count) == ("web-0", "DisruptionBlocked", 1)


def test_one_held_by_a_budget_of_pods_is_not_even_tainted() -> None:
    scene = Scene(*web(1, labels={"app": "db"}), of=expiring())
    selector = Requirements.from_labels({"app": "db"})
    scene.world.cluster.budgets["db"] = Budget("default", "db", selector, min_available=1)
    aged(scene)
    assert scene.disrupt() == Report("looked", blocked=1)
    scene.assert_untouched()
    assert "is held by budget db" in scene.world.decided()


@pytest.mark.parametrize("annotations", [{DO_NOT_DISRUPT: "false"}, {DO_NOT_DISRUPT: "1h"}])
def test_an_annotation_that_says_no_or_is_over_does_not_hold_it(annotations: dict[str, str]) -> None:
    (held,) = web(1, annotations=annotations)
    scene = Scene(replace(held, started=held.created), of=expiring())
    assert aged(scene).disrupt().retired == 1


def test_with_a_grace_period_the_drain_begins_and_the_instance_ends_by_the_deadline() -> None:
    pool = expiring(termination_grace_period=4 * HOUR)
    scene = aged(Scene(*web(1, annotations=HELD), of=pool))
    begun = scene.world.clock.now()
    scene.disrupt()
    (old,) = scene.leaving
    assert scene.retirement.deadline is not None
    assert timedelta() <= scene.retirement.deadline - begun - 4 * HOUR < MINUTE
    scene.live(4 * HOUR - MINUTE)
    assert scene.node_of("web-0") == old.node_name
    assert len(scene.bought) == 2  # the replacement waits as long as it takes
    scene.live(3 * MINUTE)
    assert scene.world.fleet.instances[old.instance_id].state == "terminated"


def test_a_node_with_the_annotation_itself_stays() -> None:
    scene = Scene(*web(), of=expiring())
    (node,) = scene.nodes
    scene.world.cluster.add(replace(node, annotations=HELD))
    aged(scene)
    assert scene.disrupt() == Report("looked")


def test_without_room_in_the_pools_limits_it_stays_and_says_so() -> None:
    scene = aged(Scene(*web(), of=expiring(limits=Resources({"cpu": 2000}))))
    assert scene.disrupt() == Report("looked", blocked=1)
    assert "there is no other place for default/web-0" in scene.world.decided()
    scene.assert_untouched()


def test_many_go_one_after_the_other_within_one_run() -> None:
    scene = aged(Scene(*web(3), of=expiring()))
    report = scene.disrupt()
    assert (report.retired, report.launched) == (3, 3)
    assert len({claim.retirement.replacements for claim in scene.leaving if claim.retirement}) == 3
    scene.live(15 * MINUTE)
    assert len(scene.bought) == 6
    scene.assert_whole(3)


def test_an_expired_node_is_no_place_for_another_ones_pods() -> None:
    scene = Scene(*web(2, cpu="900m"), of=expiring())
    scene.world.cluster.add(*web(2, "more", cpu="900m"))
    scene.replicas += 2
    scene.world.provision()
    scene.settle()
    scene.empty("web-0", "more-0")
    assert len(scene.nodes) == 2
    aged(scene)
    report = scene.disrupt()
    assert (report.retired, report.launched) == (2, 1)
    first, second = (claim.retirement.replacements for claim in scene.leaving if claim.retirement)
    assert first == second
    assert len(first) == 1


# ---- what comes between ----


def test_another_planner_between_look_and_retirement_makes_it_drop_everything() -> None:
    scene = Scene(*web(2))
    scene.empty("web-0")
    ledger = scene.world.ledger
    scene.when("mark_node", lambda: ledger.set_usage(CLUSTER, ledger.epoch(CLUSTER), ledger.usage(CLUSTER)))
    assert scene.disrupt() == Report("overtaken")
    scene.assert_untouched()


def test_a_node_that_aws_takes_meanwhile_keeps_the_mark() -> None:
    scene = Scene(*web(2))
    node = scene.node_of("web-0")
    scene.empty("web-0")

    def interrupted() -> None:
        begun = begin(scene.claim_of(node), "spot-interruption", scene.world.clock.now())
        assert begun is not None
        scene.world.ledger.start_retirements(CLUSTER, [begun], None)

    scene.when("mark_node", interrupted)
    scene.disrupt()
    assert scene.marked == [node]
    assert scene.retirement.reason == "spot-interruption"
    assert scene.queue.waiting == []


def test_a_claim_that_was_merely_written_to_is_read_again() -> None:
    scene = Scene(*web(2))
    node = scene.node_of("web-0")
    scene.empty("web-0")
    scene.when("mark_node", lambda: scene.world.ledger.save_claim(CLUSTER, scene.claim_of(node)))
    assert scene.disrupt().retired == 1


def test_a_node_that_went_away_meanwhile_keeps_no_other_from_going() -> None:
    scene = Scene(*web(2))
    gone = scene.node_of("web-0")
    scene.empty()
    scene.when("disruption_budgets", lambda: scene.world.cluster.nodes.pop(gone))
    assert scene.disrupt().retired == 1


def test_without_capacity_for_its_replacement_it_stays() -> None:
    scene = aged(Scene(*web(), of=expiring()))
    scene.world.fleet.room = {**SPOT, **ON_DEMAND}
    assert scene.disrupt().retired == 0
    scene.assert_untouched()
    ((*_, why),) = scene.world.observer.dropped_disruptions
    assert "its replacement didn't come" in why
    scene.assert_whole(1)


def test_a_replacement_of_a_run_that_died_is_used_and_none_is_bought_twice() -> None:
    scene = aged(Scene(*web(), of=expiring()))
    start = scene.world.ledger.start_retirements

    def dies(*_: object) -> object:
        raise RuntimeError("killed")

    scene.world.ledger.start_retirements = dies  # type: ignore[method-assign, assignment]
    with pytest.raises(RuntimeError):
        scene.disrupt()
    scene.world.ledger.start_retirements = start  # type: ignore[method-assign]
    assert len(scene.bought) == 2
    report = scene.disrupt()
    assert (report.retired, report.launched, report.untainted) == (1, 0, 1)
    assert len(scene.retirement.replacements) == 1
    scene.live(10 * MINUTE)
    assert len(scene.bought) == 2
    scene.assert_whole(1)


def test_a_stale_mark_is_taken_off_first() -> None:
    scene = Scene(*web())
    (node,) = scene.nodes
    scene.world.cluster.mark_node(node.name, DISRUPTED, {EXCLUDED: "true"})
    assert scene.disrupt() == Report("looked", untainted=1)
    scene.assert_untouched()


# ---- when it doesn't look ----


def test_a_paused_or_unreachable_cluster_is_left_alone() -> None:
    scene = Scene(*web())
    scene.empty()
    scene.world.ledger.put_cluster(connected(paused=True))
    assert scene.disrupt() == Report("paused")
    scene.world.ledger.put_cluster(connected(unreachable_until=scene.world.clock.now() + MINUTE))
    assert scene.disrupt() == Report("unreachable")


def test_a_hint_that_was_answered_is_not_looked_at_again() -> None:
    scene = Scene(*web())
    sent = scene.world.clock.now()
    assert scene.run(sent) == Report("looked")
    assert scene.run(sent) == Report("stale-hint")


def test_a_run_without_time_begins_nothing() -> None:
    scene = Scene(*web())
    scene.empty()
    assert scene.run(None, left=timedelta(seconds=59)) == Report("looked")
    scene.assert_untouched()


def test_the_moment_of_its_look_is_known_before_anything_is_tainted() -> None:
    scene = Scene(*web())
    scene.empty()
    known: list[datetime | None] = []
    scene.when("mark_node", lambda: known.append(scene.world.ledger.last_run(CLUSTER, "disrupt")))
    scene.disrupt()
    assert known[0] is not None
