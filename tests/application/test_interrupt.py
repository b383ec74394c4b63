"""Interrupt: what AWS tells becomes retirements and places for pods, once, however often and late it is told.

The numbers are those of the reference cases.
"""

from datetime import timedelta

import pytest

from nodewright.application.errors import UnavailableError
from nodewright.application.interrupt import COOLDOWN, Report
from nodewright.application.ports import Instance
from nodewright.application.retirement_starts import TRIES
from nodewright.domain.retirement import Step
from tests.application.interrupting import Scene, offering, web
from tests.application.provisioning import CPU
from tests.application.world import CLUSTER
from tests.builders import pool
from tests.events.samples import Json, of

SPOT, STATE, REBALANCE = "SpotInterruption", "StateChange", "Rebalance"


@pytest.fixture
def scene() -> Scene:
    return Scene(web(2))


def test_a_spot_notice_retires_its_node_by_its_deadline_and_wakes_provision_and_retire_at_once(scene: Scene) -> None:
    lost, now = scene.before[0], scene.world.clock.now()
    assert scene.tell(scene.event(SPOT, lost, "e-1")) == Report("handled", retired=1)
    retirement = scene.retirement(lost)
    assert retirement is not None
    assert (retirement.reason, retirement.deadline) == ("spot-interruption", now + timedelta(minutes=2))
    assert [(hint.cluster, hint.duty, hint.urgent) for hint in scene.world.hints.sent] == [(CLUSTER, "provision", True)]
    (turn,) = scene.queue.waiting
    assert (turn.claim_id, turn.epoch) == (scene.claim_of(lost).id, retirement.epoch)
    assert turn.due <= scene.world.clock.now()
    assert scene.world.observer.interruptions[0][2] == "spot-interruption"


def test_hibernation_leaves_no_time(scene: Scene) -> None:
    scene.tell(scene.event(SPOT, scene.before[0], instance_action="hibernate"))
    retirement = scene.retirement(scene.before[0])
    assert retirement is not None
    assert retirement.deadline is not None
    assert retirement.deadline <= scene.world.clock.now()


def test_its_pods_get_one_other_node_of_another_offering(scene: Scene) -> None:
    lost = scene.before[0]
    scene.deliver(scene.event(SPOT, lost))
    assert scene.plan() == 1
    assert scene.replacements == 1
    assert scene.cooling() == {offering(lost)}
    assert offering(scene.world.running[-1]) != offering(lost)
    assert scene.world.claims[-1].nominated_pods == scene.claim_of(lost).nominated_pods


def test_each_displaced_pod_is_planned_once_however_often_it_is_looked_at(scene: Scene) -> None:
    lost = scene.before[0]
    scene.deliver(scene.event(SPOT, lost))
    for _ in range(3):
        scene.world.provision()
    scene.settle()  # the replacement is there, and the old pods still run
    scene.world.provision()
    scene.drain(lost.private_dns_name)
    for _ in range(3):
        scene.world.provision()
    assert scene.replacements == 1


def test_room_that_is_there_is_taken_before_anything_is_bought() -> None:
    scene = Scene((*web(1), *web(1, "small")))
    lost, spacious = scene.before
    scene.drain(spacious.private_dns_name)
    scene.world.cluster.pods = {key: pod for key, pod in scene.world.cluster.pods.items() if pod.node_name}
    scene.deliver(scene.event(SPOT, lost))
    for _ in range(3):
        scene.world.provision()
    assert scene.replacements == 0


def test_a_hundred_notices_at_once_are_answered_by_the_first_run_after_them() -> None:
    scene = Scene(web(10))
    scene.deliver(*(scene.event(SPOT, lost) for lost in scene.before))
    assert scene.world.hinted("provision") == 10
    scene.world.later(timedelta(seconds=1))
    assert scene.plan() == 1
    assert scene.replacements == 10


def test_a_rebalance_recommendation_only_cools_its_offering_down(scene: Scene) -> None:
    assert scene.tell(scene.event(REBALANCE, scene.before[0])) == Report("handled", known=1)
    assert scene.retirement(scene.before[0]) is None
    assert (scene.world.hints.sent, scene.queue.waiting) == ([], [])
    assert scene.cooling() == {offering(scene.before[0])}
    scene.world.later(COOLDOWN)
    assert scene.cooling() == set()


def test_an_on_demand_offering_is_not_cooled_down() -> None:
    scene = Scene(web(1), pool("default", (CPU, "In", "2"), ("karpenter.sh/capacity-type", "In", "on-demand")))
    scene.tell(scene.event(SPOT, scene.before[0]))
    assert scene.cooling() == set()


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("stopping", "instance-stopped"),
        ("stopped", "instance-stopped"),
        ("shutting-down", "instance-gone"),
        ("TERMINATED", "instance-gone"),
    ],
)
def test_an_instance_that_is_ending_is_replaced_at_once(scene: Scene, state: str, reason: str) -> None:
    scene.deliver(scene.event(STATE, scene.before[0], state=state))
    assert scene.reason(scene.before[0]) == reason
    scene.plan()
    assert scene.replacements == 1


def test_an_instance_that_runs_is_left_alone(scene: Scene) -> None:
    for state in ("pending", "running"):
        assert scene.tell(scene.event(STATE, scene.before[0], state=state)) == Report("ignored")
    assert scene.retirement(scene.before[0]) is None


@pytest.mark.parametrize(
    "raw",
    [
        "{not json",
        None,
        {"source": "aws.ec2", "detail-type": "EC2 Instance State-change Notification", "id": "e", "detail": {}},
    ],
)
def test_what_cannot_be_read_is_told_and_never_tried_again(scene: Scene, raw: Json) -> None:
    assert scene.tell(raw) == Report("unreadable")
    assert "dropped" in scene.world.problems()
    assert not [claim for claim in scene.world.claims if claim.retirement]


# ---- doubled, late and out of order (case 23) ----


def test_messages_in_the_wrong_order_and_doubled_make_one_replacement(scene: Scene) -> None:
    lost = scene.before[0]
    warning = scene.event(SPOT, lost, "warning")
    scene.world.fleet.terminate([lost.id])
    ending = [scene.event(STATE, lost, state=state) for state in ("terminated", "shutting-down")]
    for raw in (ending[0], warning, warning, ending[1]):
        scene.deliver(raw)
        scene.plan()
    assert scene.replacements == 1
    assert scene.reason(lost) == "instance-gone"
    assert len(scene.world.observer.interruptions) == 1


def test_the_same_event_twice_has_one_effect(scene: Scene) -> None:
    warning = scene.event(SPOT, scene.before[0], "warning")
    assert scene.tell(warning) == Report("handled", retired=1)
    once = scene.claim_of(scene.before[0])
    assert scene.tell(warning) == Report("handled", known=1)
    assert scene.claim_of(scene.before[0]) == once
    assert scene.world.hinted("provision") == 1


@pytest.mark.parametrize("step", [Step.TERMINATE, Step.FORGET])
def test_the_end_that_we_made_ourselves_makes_no_second_replacement(scene: Scene, step: Step) -> None:
    lost = scene.before[0]
    scene.deliver(scene.event(SPOT, lost))
    scene.plan()
    scene.move_on(lost, step)
    scene.deliver(*(scene.event(STATE, lost, state=state) for state in ("shutting-down", "terminated")))
    assert scene.plan() == 0
    assert scene.replacements == 1


def test_events_of_a_node_that_is_gone_do_nothing(scene: Scene) -> None:
    lost = scene.before[0]
    warning = scene.event(SPOT, lost)
    scene.forget(lost)
    for raw in (warning, scene.event(STATE, lost, state="terminated")):
        assert scene.tell(raw) == Report("handled", known=1)
    assert (scene.world.hints.sent, scene.queue.waiting, scene.world.observer.foreign_events) == ([], [], [])


def test_a_warning_hours_late_does_nothing_to_a_node_that_runs(scene: Scene) -> None:
    warning = scene.event(SPOT, scene.before[0])
    scene.world.later(timedelta(hours=3))
    assert scene.tell(warning) == Report("stale")
    assert scene.retirement(scene.before[0]) is None
    assert scene.cooling() == set()


def test_an_end_hours_late_is_still_an_end(scene: Scene) -> None:
    ended = scene.event(STATE, scene.before[0], state="terminated")
    scene.world.later(timedelta(hours=3))
    assert scene.tell(ended).retired == 1


@pytest.mark.parametrize("minutes", [-1, 1])
def test_a_clock_that_is_off_by_a_minute_costs_at_most_that_minute(scene: Scene, minutes: int) -> None:
    now = scene.world.clock.now()
    sent = now + timedelta(minutes=minutes)
    scene.tell(of(SPOT, scene.before[0].id, time=sent.isoformat()))
    retirement = scene.retirement(scene.before[0])
    assert retirement is not None
    assert retirement.deadline == min(sent, now) + timedelta(minutes=2)


# ---- not ours, another cluster's, not yet known (case 24) ----


def test_a_stranger_costs_one_look_at_its_tags_and_is_counted(scene: Scene) -> None:
    scene.world.fuse.renew()
    assert scene.tell(scene.event(SPOT, "i-0bbb")) == Report("handled", foreign=1)
    assert (scene.asked("InMemoryLedger.owner"), scene.asked("InMemoryFleet.ours_among")) == (1, 1)
    assert scene.world.observer.foreign_events == [("spot-interruption", "i-0bbb")]
    assert scene.world.observer.problems == []


def test_state_changes_of_strangers_are_not_looked_at(scene: Scene) -> None:
    scene.world.fuse.renew()
    assert scene.tell(scene.event(STATE, "i-0bbb")).foreign == 1
    assert scene.world.fuse.made == ["InMemoryLedger.owner"]


def test_a_warning_about_an_unknown_instance_that_must_be_gone_is_not_looked_at(scene: Scene) -> None:
    warning = scene.event(SPOT, "i-0bbb")
    scene.world.later(timedelta(minutes=3))
    scene.world.fuse.renew()
    scene.tell(warning)
    assert scene.asked("InMemoryFleet.ours_among") == 0


def test_an_instance_that_lost_its_claim_is_nobodys(scene: Scene) -> None:
    lost = scene.before[0]
    scene.world.ledger._owners.clear()
    assert scene.tell(scene.event(SPOT, lost)).foreign == 1


def test_an_instance_whose_launch_is_being_settled_comes_again_until_it_is() -> None:
    scene = Scene(web(1))
    scene.launch_unsettled(*web(1, "late"))
    (unsettled,) = [instance for instance in scene.world.running if instance not in scene.before]
    warning = scene.event(SPOT, unsettled)
    with pytest.raises(UnavailableError, match="isn't settled yet"):
        scene.tell(warning)
    assert scene.cooling() == {offering(unsettled)}
    scene.world.later(timedelta(seconds=100))
    scene.plan()  # finishes what its owner left
    scene.deliver(warning)
    scene.plan()
    assert scene.reason(unsettled) == "spot-interruption"
    assert scene.replacements == 2  # the one that is going, and the one for its pod


def test_another_clusters_instance_is_that_clusters(scene: Scene) -> None:
    instance = scene.in_other_cluster("beta")
    assert scene.tell(scene.event(SPOT, instance)).retired == 1
    assert [(hint.cluster, hint.urgent) for hint in scene.world.hints.sent] == [("beta", True)]
    assert [turn.cluster for turn in scene.queue.waiting] == ["beta"]
    assert not [claim for claim in scene.world.claims if claim.retirement]


# ---- when things outside fail ----

CALLS = 8  # more than one event makes


@pytest.mark.parametrize("calls", range(1, CALLS))
@pytest.mark.parametrize(("name", "detail"), [(SPOT, {}), (STATE, {"state": "terminated"})])
def test_killed_after_any_call_one_replacement_comes_and_nothing_is_lost(
    name: str, detail: dict[str, Json], calls: int
) -> None:
    scene = Scene(web(2))
    lost = scene.before[0]
    scene.world.fuse.renew(calls)
    scene.deliver(scene.event(name, lost, "e-1", **detail))
    scene.plan()
    for _ in range(2):
        scene.world.wait_and_provision()
    assert scene.replacements == 1
    retirement = scene.retirement(lost)
    assert retirement is not None
    assert (scene.claim_of(lost).id, retirement.epoch) in {(turn.claim_id, turn.epoch) for turn in scene.queue.waiting}
    assert scene.cooling() == ({offering(lost)} if name == SPOT else set())


def test_an_event_makes_few_calls(scene: Scene) -> None:
    scene.world.fuse.renew()
    scene.tell(scene.event(SPOT, scene.before[0]))
    assert scene.world.fuse.made == [
        "InMemoryLedger.owner",
        "InMemoryLedger.claim",
        "InMemoryLedger.mark_unavailable",
        "InMemoryLedger.start_retirements",
        "InMemoryRetireQueue.send",
        "RecordedHints.send",
    ]


@pytest.mark.parametrize("fails", ["hint", "turn", "cooldown"])
def test_what_cannot_be_done_makes_the_event_come_again_and_keeps_nothing_else_waiting(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    """Of a spot notice's two minutes 40 seconds are gone before its event comes again."""
    broken, method = {
        "hint": (scene.world.hints, "send"),
        "turn": (scene.queue, "send"),
        "cooldown": (scene.world.ledger, "mark_unavailable"),
    }[fails]
    monkeypatch.setattr(broken, method, _time_out)
    with pytest.raises(UnavailableError, match="timed out"):
        scene.tell(scene.event(SPOT, scene.before[0], "e-1"))
    assert scene.reason(scene.before[0]) == "spot-interruption"
    assert len(scene.queue.waiting) == (fails != "turn")
    assert len(scene.world.hints.sent) == (fails != "hint")
    monkeypatch.undo()
    scene.tell(scene.event(SPOT, scene.before[0], "e-1"))
    assert len(scene.queue.waiting) >= 1
    assert len(scene.world.hints.sent) >= 1
    assert scene.cooling() == {offering(scene.before[0])}


def _time_out(*_: object, **__: object) -> None:
    raise UnavailableError("timed out")


def test_a_claim_that_changed_meanwhile_is_read_again(scene: Scene) -> None:
    scene.contend(1)
    assert scene.tell(scene.event(SPOT, scene.before[0])).retired == 1


def test_a_claim_that_changes_each_time_lets_the_message_come_again(scene: Scene) -> None:
    scene.contend(TRIES)
    with pytest.raises(UnavailableError, match="somebody else changed it each time"):
        scene.tell(scene.event(SPOT, scene.before[0]))
    assert scene.tell(scene.event(SPOT, scene.before[0])).retired == 1


def test_of_two_runs_with_one_event_at_the_same_time_one_counts_and_tells_it(scene: Scene) -> None:
    lost = scene.before[0]
    warning, reports = scene.event(SPOT, lost, "e-1"), list[Report]()
    scene.overtake(lambda: reports.append(scene.tell(warning)))
    reports.append(scene.tell(warning))
    assert reports == [Report("handled", retired=1), Report("handled", known=1)]
    assert [reason for _, _, reason in scene.world.observer.interruptions] == ["spot-interruption"]


def test_who_was_overtaken_by_a_run_that_died_wakes_those_it_would_have_woken(scene: Scene) -> None:
    lost = scene.before[0]
    warning, deadline = scene.event(SPOT, lost), scene.world.clock.now() + timedelta(minutes=2)
    scene.overtake(lambda: scene.retire(lost, "spot-interruption", deadline))
    assert scene.tell(warning) == Report("handled", known=1)
    assert scene.world.observer.interruptions == []
    assert [turn.claim_id for turn in scene.queue.waiting] == [scene.claim_of(lost).id]
    assert scene.world.hinted("provision") == 1


def test_what_somebody_retires_for_a_more_pressing_reason_meanwhile_is_left_to_them(scene: Scene) -> None:
    lost = scene.before[0]
    scene.overtake(lambda: scene.retire(lost, "instance-gone"))
    assert scene.tell(scene.event(SPOT, lost)) == Report("handled", known=1)
    assert scene.reason(lost) == "instance-gone"
    assert (scene.world.observer.interruptions, scene.queue.waiting) == ([], [])


def test_a_less_pressing_retirement_that_came_between_is_taken_over_and_told(scene: Scene) -> None:
    lost = scene.before[0]
    scene.overtake(lambda: scene.retire(lost, "node-deleted"))
    assert scene.tell(scene.event(SPOT, lost)) == Report("handled", retired=1)
    assert len(scene.world.observer.interruptions) == 1


# ---- scheduled events (case 27) ----


def scheduled(scene: Scene, *about: Instance | str, **detail: Json) -> Json:
    ids = [each if isinstance(each, str) else each.id for each in about]
    entities: Json = [{"entityValue": each} for each in ids]
    return scene.event("ScheduledEvent", "", "e-1", affectedEntities=entities, **detail)


def test_each_instance_of_a_scheduled_event_retires_a_day_ahead_and_the_rest_is_skipped(scene: Scene) -> None:
    raw = scheduled(scene, scene.before[0], "i-0bbb", scene.before[1], "vol-0abc")
    assert scene.tell(raw) == Report("handled", retired=2, foreign=1)
    for instance in scene.before:
        retirement = scene.retirement(instance)
        assert retirement is not None
        assert retirement.deadline is not None
        assert retirement.deadline - retirement.not_before == timedelta(hours=24)
        assert not retirement.has_begun(scene.world.clock.now())
    assert (scene.world.hints.sent, scene.queue.waiting) == ([], [])
    scene.world.provision()
    assert scene.replacements == 0


def test_the_pool_says_how_long_ahead(scene: Scene) -> None:
    scene.set_pool("nodewright.dev/scheduled-event-lead", "72h")
    scene.tell(scheduled(scene, scene.before[0]))
    retirement = scene.retirement(scene.before[0])
    assert retirement is not None
    assert retirement.deadline is not None
    assert retirement.deadline - retirement.not_before == timedelta(hours=72)


def test_a_lead_that_is_no_duration_is_told_and_a_day_is_taken(scene: Scene) -> None:
    scene.set_pool("nodewright.dev/scheduled-event-lead", "three days")
    assert scene.tell(scheduled(scene, scene.before[0])).retired == 1
    assert "'three days' is no duration; write it like 24h" in scene.world.problems()


def test_a_cluster_that_does_not_answer_takes_the_default(scene: Scene) -> None:
    scene.world.cluster.reachable = False
    assert scene.tell(scheduled(scene, scene.before[0])).retired == 1
    assert "a day ahead is taken" in scene.world.problems()


def test_within_the_lead_it_begins_at_once_and_gracefully(scene: Scene) -> None:
    scene.tell(scheduled(scene, scene.before[0], startTime=None))
    retirement = scene.retirement(scene.before[0])
    assert retirement is not None
    assert retirement.has_begun(scene.world.clock.now())
    assert not retirement.urgent
    assert scene.plan() == 1
    assert scene.replacements == 1


def test_told_again_nothing_is_repeated(scene: Scene) -> None:
    for status in ("upcoming", "open", "ongoing"):
        scene.tell(scheduled(scene, scene.before[0], statusCode=status))
    assert len(scene.world.observer.interruptions) == 1


def test_closed_the_node_serves_on_and_reconcile_cleans_up(scene: Scene) -> None:
    scene.tell(scheduled(scene, scene.before[0]))
    scene.tell(scheduled(scene, *scene.before, statusCode="closed"))
    assert scene.retirement(scene.before[0]) is None
    assert [hint.duty for hint in scene.world.hints.sent] == ["reconcile"]


def test_closed_it_withdraws_no_other_reason(scene: Scene) -> None:
    scene.tell(scene.event(SPOT, scene.before[0]))
    scene.tell(scheduled(scene, scene.before[0], statusCode="closed"))
    assert scene.reason(scene.before[0]) == "spot-interruption"


def test_one_failing_look_up_does_not_spoil_the_rest(scene: Scene) -> None:
    raw = scheduled(scene, *scene.before)
    scene.throttle_owner_of(scene.before[0])
    with pytest.raises(UnavailableError, match="throttled"):
        scene.tell(raw)
    assert [scene.reason(each) for each in scene.before] == ["", "scheduled-event"]
    assert scene.tell(raw) == Report("handled", retired=1, known=1)
