"""Turns of a retirement against a cluster, a table, a fleet and a queue in memory (cases.md 20, 21, 23, 33)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.adapters.memory import Budget
from nodewright.application.errors import NotFoundError, RefusedError, UnavailableError, UnreachableError
from nodewright.application.redriving import OVERDUE_AFTER
from nodewright.application.retirement_actions import HELD_REASON
from nodewright.domain.claims import ClaimState
from nodewright.domain.requirements import Requirements
from nodewright.domain.retirement import DISRUPTED, EXCLUDED, Reason, Step
from nodewright.domain.retiring import FINDING, LEEWAY, NEXT_LOOK, SETTLING
from nodewright.domain.taints import Taint
from nodewright.domain.usage import usage_of
from tests.application.retiring import Yard
from tests.application.world import CLUSTER, connected
from tests.builders import NOW, claim, node
from tests.domain.retirements import HOUR, MINUTE, SECOND, daemon, running, staying


def blocked(*pods: object, **changes: object) -> Yard:
    """A yard where a budget wants every pod of the default namespace."""
    yard = Yard(*pods, **changes)  # type: ignore[arg-type]
    yard.cluster.budgets["pdb"] = Budget("default", "pdb", Requirements(), min_available=100)
    return yard


# ---- the whole way -----------------------------------------------------------------------------


def test_a_node_goes_in_good_order() -> None:
    yard = Yard(running("a"), daemon("b"), running("c", critical=True))
    yard.retire()
    yard.run_for(SECOND)
    assert (yard.is_marked, yard.step, yard.pods) == (True, Step.REPLACE, ["a", "b", "c"])
    yard.run_for(20 * MINUTE)
    assert yard.is_gone
    assert [key.name for key in yard.cluster.evictions] == ["a", "b", "c"]
    assert yard.queue.waiting == []
    assert yard.problems() == ""


def test_nobody_is_asked_to_leave_within_five_seconds_of_the_taint() -> None:
    yard = Yard(running("a"))
    yard.retire()
    yard.run_for(SETTLING - timedelta(milliseconds=1))
    assert yard.cluster.evictions == []
    yard.run_for(SECOND)
    assert len(yard.cluster.evictions) == 1


def test_where_a_pod_was_let_go_the_next_look_comes_soon() -> None:
    yard = Yard(running("a", termination_grace_seconds=2))
    yard.retire()
    yard.run_for(SETTLING + NEXT_LOOK + 2 * SECOND)
    assert yard.fleet.instances["i-n"].state == "terminated"


def test_the_instance_is_ended_only_when_the_last_pod_and_volume_have_left() -> None:
    yard = Yard(running("a"))
    yard.cluster.volumes = {running("a").key: ("pv-1",)}
    yard.cluster.detaching = timedelta(seconds=30)
    yard.retire()
    yard.run_for(SETTLING + MINUTE + 25 * SECOND)
    assert (yard.pods, yard.step) == ([], Step.DETACH)
    assert yard.fleet.instances["i-n"].state == "running"
    yard.run_for(MINUTE)
    assert yard.is_gone


def test_an_instance_that_takes_its_time_is_waited_for_before_its_node_is_forgotten() -> None:
    yard = Yard()
    yard.fleet.terminate = lambda _: None  # type: ignore[method-assign,assignment]
    yard.retire()
    yard.run_for(MINUTE)
    assert (yard.step, "n" in yard.cluster.nodes) == (Step.TERMINATE, True)
    yard.fleet.instances["i-n"] = replace(yard.fleet.instances["i-n"], state="terminated")
    yard.run_for(MINUTE)
    assert yard.is_gone


def test_what_the_claim_counted_is_given_back_at_the_end() -> None:
    yard = Yard()
    before = yard.ledger.usage(CLUSTER)
    yard.retire()
    yard.run_for(4 * SECOND)
    assert yard.ledger.usage(CLUSTER) == before != {}
    yard.run_for(MINUTE)
    assert yard.is_gone
    assert yard.ledger.usage(CLUSTER) == {}


def test_replacements_come_first() -> None:
    yard = Yard(running("a"))
    yard.add(claim("r", instance_id="i-r"))
    yard.retire("expired", replacements=("r",))
    yard.run_for(5 * MINUTE)
    assert (yard.step, yard.cluster.evictions) == (Step.REPLACE, [])
    replacement = yard.ledger.claim(CLUSTER, "r")
    yard.ledger.save_claim(CLUSTER, replace(replacement, state=ClaimState.INITIALIZED))
    yard.run_for(5 * MINUTE)
    assert yard.is_gone


def test_what_is_bought_for_the_pods_of_an_announced_end_comes_first() -> None:
    yard = Yard(running("a"))
    yard.retire("scheduled-event", deadline=NOW + HOUR)
    yard.run_for(10 * SECOND)
    yard.add(claim("r", instance_id="i-r", created=yard.clock.now(), nominated_pods=(running("a").key,)))
    yard.run_for(5 * MINUTE)
    assert (yard.step, yard.cluster.evictions) == (Step.REPLACE, [])
    replacement = yard.ledger.claim(CLUSTER, "r")
    yard.ledger.save_claim(CLUSTER, replace(replacement, state=ClaimState.INITIALIZED))
    yard.run_for(5 * MINUTE)
    assert yard.is_gone


def test_what_was_bought_for_a_pod_of_that_name_before_is_no_replacement() -> None:
    yard = Yard(running("db-0"), nominated_pods=(running("db-0").key,))
    yard.add(claim("r", instance_id="i-r", created=NOW - HOUR, nominated_pods=(running("db-0").key,)))
    yard.retire("scheduled-event", deadline=NOW + HOUR)
    yard.run_for(30 * SECOND)
    assert yard.pods == ["db-0"]
    yard.run_for(5 * MINUTE)
    assert yard.is_gone


def test_a_replacement_for_an_announced_end_that_never_gets_ready_is_waited_for_until_there_is_just_time() -> None:
    yard = Yard(running("a", termination_grace_seconds=60))
    yard.add(claim("r", instance_id="i-r", created=NOW, nominated_pods=(running("a").key,)))
    yard.retire("scheduled-event", deadline=NOW + HOUR)
    yard.run(NOW + HOUR - MINUTE - LEEWAY - SECOND)
    assert yard.cluster.evictions == []
    yard.run(NOW + HOUR - SECOND)
    assert yard.pods == []


# ---- budgets and wishes ------------------------------------------------------------------------


def test_case_20_a_budget_holds_a_pod_until_the_deadline() -> None:
    yard = blocked(running("p"), *(running(f"q-{n}") for n in range(3)))
    yard.cluster.budgets["pdb"] = replace(yard.cluster.budgets["pdb"], selector=Requirements.from_labels({"a": "p"}))
    yard.cluster.add(running("p", labels={"a": "p"}))
    yard.retire("scheduled-event", deadline=NOW + HOUR)
    yard.run(NOW + HOUR - MINUTE - SECOND)
    assert yard.pods == ["p"]
    assert yard.step is Step.DRAIN
    assert not yard.cluster.pods[running("p").key].terminating
    yard.run(NOW + HOUR - MINUTE + SECOND)
    assert yard.cluster.pods[running("p").key].terminating
    yard.run(NOW + HOUR + SECOND)
    assert yard.fleet.instances["i-n"].state == "terminated"
    yard.run_for(MINUTE)
    assert yard.is_gone
    assert len(yard.history) < 40, "many short runs, but ever fewer"


def test_a_pod_that_is_held_is_told_once_why() -> None:
    yard = blocked(running("p"))
    yard.retire()
    yard.run_for(HOUR)
    (event,) = yard.cluster.events
    assert (event.reason, event.count) == (HELD_REASON, 1)
    assert "node n is leaving (node-deleted)" in event.message
    assert "held by budget pdb" in event.message
    assert yard.problems() == "", "waiting for a budget is no problem"


def test_case_20_without_a_deadline_an_expired_node_is_not_even_tainted() -> None:
    yard = blocked(running("p"), running("q"))
    yard.retire("expired", expires=NOW + 10 * MINUTE)
    yard.run_for(9 * MINUTE)
    assert (yard.is_marked, yard.cluster.evictions, yard.step) == (False, [], Step.TAINT)
    yard.run_for(2 * MINUTE)
    assert yard.claim.retirement is None
    (decision,) = yard.ledger.decisions(CLUSTER, 10)
    assert decision.summary == "n stays: expired, but default/p is held by budget pdb"


def test_case_21_without_a_deadline_an_expired_node_stays_schedulable() -> None:
    yard = Yard(staying("p"), running("q"))
    yard.retire("expired", expires=NOW + 10 * MINUTE)
    yard.run_for(11 * MINUTE)
    assert (yard.claim.retirement, yard.is_marked, yard.pods) == (None, False, ["p", "q"])
    assert "default/p forbids it" in yard.told()


def test_case_21_with_a_deadline_the_rest_is_moved_and_the_pod_goes_at_the_last_moment() -> None:
    yard = Yard(staying("p"), running("q"))
    yard.retire("expired", deadline=NOW + 4 * HOUR, expires=NOW + 10 * MINUTE)
    yard.run(NOW + 4 * HOUR - MINUTE - SECOND)
    assert yard.pods == ["p"]
    yard.run(NOW + 4 * HOUR + SECOND)
    assert yard.fleet.instances["i-n"].state == "terminated"


def test_an_interruption_is_tainted_with_few_calls_and_no_look_at_pods() -> None:
    yard = Yard(running("a"))
    yard.retire("spot-interruption", deadline=NOW + 2 * MINUTE)
    yard.fuse.renew()
    yard.turn()
    assert yard.is_marked
    assert yard.fuse.made == [
        "InMemoryLedger.cluster",
        "InMemoryLedger.take_turn",
        "InMemoryCluster.node_of",
        "InMemoryCluster.mark_node",
        "InMemoryLedger.save_claim",
        "InMemoryRetireQueue.send",
    ]


def test_an_interruption_waits_for_a_budget_only_as_long_as_there_is_time_and_for_no_annotation() -> None:
    yard = blocked(staying("p", termination_grace_seconds=30), running("q", termination_grace_seconds=30))
    yard.cluster.budgets["pdb"] = replace(yard.cluster.budgets["pdb"], min_available=1)
    yard.retire("spot-interruption", deadline=NOW + 2 * MINUTE)
    yard.run_for(MINUTE)
    assert yard.pods == ["q"], "the first may go, the second is the last one left"
    yard.run(NOW + 2 * MINUTE + SECOND)
    assert yard.pods == []
    yard.run_for(MINUTE)
    assert yard.is_gone


def test_case_33_a_pod_that_lands_while_the_empty_node_is_tainted_keeps_it() -> None:
    yard = Yard()
    yard.retire("empty")
    yard.run_for(SECOND)
    assert yard.is_marked
    yard.cluster.add(running("late"))
    yard.run_for(MINUTE)
    assert (yard.claim.retirement, yard.is_marked, yard.pods) == (None, False, ["late"])
    assert yard.queue.waiting == []
    assert "default/late is there" in yard.told()


def test_a_label_that_the_pool_itself_gives_is_left_on_the_node() -> None:
    yard = Yard(labels={EXCLUDED: "mine"})
    yard.cluster.add(node("n", labels={EXCLUDED: "mine"}))
    yard.retire("empty")
    yard.run_for(SECOND)
    yard.cluster.add(running("late"))
    yard.run_for(MINUTE)
    assert (yard.node.labels, yard.node.taints) == ({EXCLUDED: "mine"}, ())


# ---- nodes that are not what they were ---------------------------------------------------------


@pytest.mark.parametrize("reason", ["instance-stopped", "instance-gone", "registration-timeout"])
def test_a_dead_node_is_not_drained(reason: Reason) -> None:
    yard = blocked(running("p"), staying("q"))
    yard.retire(reason)
    yard.run_for(MINUTE)
    assert yard.is_gone
    assert (yard.cluster.evictions, yard.pods) == ([], [])


def test_an_instance_that_ended_in_the_middle_of_a_drain_ends_it() -> None:
    yard = blocked(running("p"))
    yard.retire()
    yard.run_for(MINUTE)
    yard.fleet.terminate(("i-n",))
    yard.cluster.add(replace(yard.node, ready=False))
    yard.run_for(6 * MINUTE)
    assert yard.is_gone


def test_a_node_that_never_registered_is_drained_all_the_same_when_it_has_joined() -> None:
    yard = Yard(running("a"), node_name="", state=ClaimState.LAUNCHED)
    yard.cluster.add(node("n"))
    yard.retire("spot-interruption", deadline=NOW + 2 * MINUTE)
    yard.run_for(20 * SECOND)
    assert (yard.is_marked, len(yard.cluster.evictions)) == (True, 1)


def test_an_instance_without_a_node_is_ended_at_once() -> None:
    """users-ask.md 24: an event for an instance that hadn't registered yet."""
    yard = Yard(node_name="", state=ClaimState.LAUNCHED)
    yard.retire("spot-interruption", deadline=NOW + 2 * MINUTE)
    yard.run_for(20 * SECOND)
    assert yard.is_gone


def test_another_node_of_the_same_name_is_left_alone() -> None:
    """users-ask.md 60: identity is the instance."""
    yard = Yard()
    yard.cluster.add(node("n", provider_id="aws:///a/i-other", uid="other"))
    yard.retire()
    yard.run_for(MINUTE)
    assert yard.fleet.instances["i-n"].state == "terminated"
    assert yard.node.taints == ()
    assert yard.ledger.claims(CLUSTER) == ()


def test_a_claim_whose_launch_brought_nothing_is_forgotten() -> None:
    yard = Yard(instance_id="", node_name="", state=ClaimState.RESERVED)
    yard.retire("launch-timeout")
    yard.run_for(SECOND)
    assert yard.ledger.claims(CLUSTER) == ()


def test_an_instance_that_ec2_doesnt_know_is_not_forgotten_before_five_minutes() -> None:
    yard = Yard()
    yard.fleet.instances.clear()
    yard.retire("instance-gone")
    yard.run(NOW + FINDING - SECOND)
    assert yard.step is Step.TERMINATE
    yard.run_for(MINUTE)
    assert yard.ledger.claims(CLUSTER) == ()


# ---- turns -------------------------------------------------------------------------------------


def test_a_scheduled_one_waits_for_its_time() -> None:
    yard = Yard(running("a"))
    yard.retire("scheduled-event", not_before=NOW + 2 * HOUR)
    yard.queue.send(CLUSTER, "c", yard.retirement.epoch, timedelta())
    yard.run(NOW + 2 * HOUR - SECOND)
    assert yard.is_marked is False
    yard.redrive()
    yard.run_for(2 * SECOND)
    assert yard.redrive() == 0
    yard.run_for(OVERDUE_AFTER)
    assert yard.redrive() == 1
    yard.run_for(HOUR)
    assert yard.is_gone


def test_a_scheduled_one_that_no_message_can_wait_for_begins_within_seventy_seconds_of_its_time() -> None:
    """Whenever in its minute reconcile looks."""
    for second in range(1, 60, 7):
        yard = Yard(running("a"))
        yard.retire("scheduled-event", not_before=NOW + 2 * HOUR + second * SECOND)
        yard.queue.waiting.clear()
        yard.run_with_reconcile(minutes=120)
        assert yard.is_marked is False
        yard.run_with_reconcile(minutes=3)
        tainted, _ = yard.history[0]
        assert timedelta() <= tainted - (NOW + 2 * HOUR + second * SECOND) <= MINUTE + OVERDUE_AFTER


def test_case_23_of_many_messages_one_gets_the_turn() -> None:
    yard = Yard(running("a"))
    yard.retire()
    for _ in range(5):
        yard.queue.send(CLUSTER, "c", yard.retirement.epoch, timedelta())
    yard.run_for(timedelta())
    assert sorted(outcome for _, outcome in yard.history) == [*["dropped"] * 5, "waits"]
    assert len(yard.queue.waiting) == 1


def test_messages_of_another_retirement_a_withdrawn_one_or_one_that_ended_are_dropped() -> None:
    yard = Yard(running("a"))
    yard.retire()
    epoch = yard.retirement.epoch
    assert yard.turn(epoch + 1) == yard.turn(epoch - 1) == "dropped"
    yard.run_for(10 * MINUTE)
    assert yard.is_gone
    assert yard.turn(epoch) == "dropped"
    other = Yard()
    other.retire("empty")
    epoch = other.retirement.epoch
    other.ledger.save_claim(CLUSTER, replace(other.claim, retirement=None))
    assert other.turn(epoch) == "dropped"
    assert other.is_marked is False


def test_a_message_that_comes_early_is_dropped() -> None:
    yard = Yard(running("a"))
    yard.retire()
    assert yard.turn() == "waits"
    assert yard.turn() == "dropped"
    assert len(yard.queue.waiting) == 2, "the first message, and the one for the next turn"


def test_what_another_did_to_the_claim_meanwhile_is_kept_and_the_retirement_goes_on() -> None:
    yard = Yard(running("a"))
    yard.retire()
    original = yard.cluster.mark_node

    def registered_meanwhile(name: str, taint: Taint, labels: Mapping[str, str]) -> None:
        original(name, taint, labels)
        yard.ledger.save_claim(CLUSTER, replace(yard.claim, image_id="ami-new"))

    yard.cluster.mark_node = registered_meanwhile  # type: ignore[method-assign]
    assert yard.turn() == "waits"
    assert (yard.claim.image_id, yard.step) == ("ami-new", Step.REPLACE)


def test_a_retirement_that_was_withdrawn_meanwhile_ends_there() -> None:
    yard = Yard(running("a"))
    yard.retire()
    original = yard.cluster.mark_node

    def withdrawn_meanwhile(name: str, taint: Taint, labels: Mapping[str, str]) -> None:
        original(name, taint, labels)
        yard.ledger.save_claim(CLUSTER, replace(yard.claim, retirement=None))

    yard.cluster.mark_node = withdrawn_meanwhile  # type: ignore[method-assign]
    assert yard.turn() == "dropped"
    assert yard.claim.retirement is None


def test_a_more_pressing_reason_takes_the_chain_over() -> None:
    yard = Yard(running("a", termination_grace_seconds=600))
    yard.retire("rebalance")
    yard.run_for(MINUTE)
    yard.retire("spot-interruption", deadline=yard.clock.now() + 2 * MINUTE)
    yard.run_for(3 * MINUTE)
    assert yard.is_gone
    assert [key.name for key in yard.cluster.evictions] == ["a"]


def test_a_taint_that_was_taken_off_is_put_back_before_anybody_leaves() -> None:
    yard = blocked(running("a"))
    yard.retire()
    yard.run_for(MINUTE)
    yard.cluster.unmark_node("n", DISRUPTED, (EXCLUDED,))
    asked = len(yard.cluster.evictions)
    yard.run_for(2 * MINUTE)
    assert yard.is_marked
    assert len(yard.cluster.evictions) > asked


# ---- what goes wrong outside -------------------------------------------------------------------


def failing(error: Exception) -> Callable[..., object]:
    def fail(*_: object, **__: object) -> object:
        raise error

    return fail


def test_a_node_that_cannot_be_tainted_is_not_drained() -> None:
    """users-ask.md 21: taint failed, drain went on, message deleted."""
    yard = Yard(running("a"))
    yard.cluster.mark_node = failing(RefusedError("nodes is forbidden"))  # type: ignore[method-assign,assignment]
    yard.retire()
    yard.run_for(HOUR)
    assert (yard.step, yard.cluster.evictions) == (Step.TAINT, [])
    assert "n, taint: nodes is forbidden; again" in yard.problems()
    assert len(yard.queue.waiting) == 1
    del yard.cluster.mark_node
    yard.run_for(HOUR)
    assert yard.is_gone


def test_a_cluster_that_doesnt_answer_is_left_alone_for_a_minute_and_asked_again() -> None:
    yard = Yard(running("a"))
    yard.cluster.reachable = False
    yard.retire()
    yard.run_for(30 * SECOND)
    assert yard.ledger.cluster(CLUSTER).unreachable(yard.clock.now())
    yard.cluster.reachable = True
    yard.run_for(10 * MINUTE)
    assert yard.is_gone


def test_an_interruption_asks_a_cluster_that_doesnt_answer_all_the_same() -> None:
    yard = Yard(running("a", termination_grace_seconds=10))
    yard.ledger.mark_unreachable(CLUSTER, NOW + MINUTE)
    yard.retire("spot-interruption", deadline=NOW + 2 * MINUTE)
    yard.run_for(30 * SECOND)
    assert yard.pods == []


def test_a_deadline_is_kept_though_the_cluster_never_answers() -> None:
    yard = Yard(running("a"))
    yard.cluster.reachable = False
    yard.retire("scheduled-event", deadline=NOW + 10 * MINUTE)
    yard.run(NOW + 10 * MINUTE + SECOND)
    assert yard.fleet.instances["i-n"].state == "terminated"
    yard.run_for(MINUTE)
    assert yard.step is Step.FORGET
    yard.cluster.reachable = True
    yard.run_for(6 * MINUTE)
    assert yard.is_gone


@pytest.mark.parametrize("error", [UnavailableError("throttled"), NotFoundError("gone"), UnreachableError("silent")])
def test_what_fails_for_a_while_is_done_later_and_the_chain_never_breaks(error: Exception) -> None:
    yard = Yard(running("a"))
    yard.fleet.terminate = failing(error)  # type: ignore[method-assign,assignment]
    yard.retire()
    yard.run_for(HOUR)
    assert yard.step is Step.TERMINATE
    del yard.fleet.terminate
    yard.run_for(HOUR)
    assert yard.is_gone


def test_a_throttle_of_the_table_or_the_queue_is_no_acknowledgement() -> None:
    """Architecture §4, rule 5: the message comes again."""
    for port, call in (("ledger", "take_turn"), ("ledger", "save_claim"), ("queue", "send")):
        yard = Yard(running("a"))
        yard.retire()
        setattr(getattr(yard, port), call, failing(UnavailableError("throttled")))
        yard.run_for(SECOND)
        delattr(getattr(yard, port), call)
        assert (yard.failed, yard.history) == (1, [])
        yard.run_for(20 * MINUTE)
        assert yard.is_gone, call


def test_a_cluster_that_was_disconnected_is_not_found() -> None:
    yard = Yard()
    yard.retire()
    yard.ledger.remove_cluster(connected().name)
    with pytest.raises(NotFoundError, match="nodewright connect prod"):
        yard.turn()


# ---- killed ------------------------------------------------------------------------------------


def test_killed_after_any_call_the_node_goes_all_the_same_and_nothing_is_left() -> None:
    """The matrix: every run is killed after its first, second, … call, once; the queue brings the message back."""
    calls = 0
    while True:
        calls += 1
        yard = Yard(running("a"), daemon("b"), running("c", critical=True))
        yard.add(claim("r", instance_id="i-r", state=ClaimState.INITIALIZED))
        yard.cluster.volumes = {running("a").key: ("pv-1",)}
        yard.cluster.detaching = timedelta(seconds=7)
        yard.retire("expired", replacements=("r",), deadline=NOW + HOUR)
        yard.fuse.renew(calls)
        yard.run_with_reconcile(minutes=20)
        assert yard.is_gone, yard.fuse.made
        assert [key.name for key in dict.fromkeys(yard.cluster.evictions)] == ["a", "b", "c"]
        assert [each.id for each in yard.ledger.claims(CLUSTER)] == ["r"]
        assert yard.ledger.usage(CLUSTER) == usage_of(yard.ledger.claims(CLUSTER))
        if yard.fuse.calls is not None:
            break
    assert calls > 40


def test_killed_after_any_call_a_retirement_that_is_withdrawn_leaves_no_taint() -> None:
    calls = 0
    while True:
        calls += 1
        yard = Yard()
        yard.retire("empty")
        yard.fuse.renew(calls)
        yard.run_for(2 * SECOND)
        yard.cluster.add(running("late"))
        yard.run_with_reconcile(minutes=5)
        assert (yard.claim.retirement, yard.is_marked, yard.pods) == (None, False, ["late"])
        if yard.fuse.calls is not None:
            break
    assert calls > 8


def test_a_chain_whose_every_message_was_lost_is_sent_on_by_reconcile() -> None:
    yard = Yard(running("a"))
    yard.retire()
    for _ in range(40):
        yard.queue.waiting.clear()
        yard.clock.sleep(MINUTE)
        if not yard.ledger.claims(CLUSTER):
            break
        yard.redrive()
        yard.run_for(timedelta())
    assert yard.is_gone


def test_a_node_we_chose_to_end_gives_its_budget_back_so_disrupt_looks_at_once() -> None:
    yard = Yard()
    yard.retire("empty")
    yard.run_for(10 * MINUTE)
    assert yard.is_gone
    assert [hint.duty for hint in yard.disrupt_hints.sent] == ["disrupt"]


def test_a_node_that_was_taken_from_us_wakes_no_disruption() -> None:
    yard = Yard()
    yard.retire("spot-interruption", deadline=NOW + 2 * MINUTE)
    yard.run_for(10 * MINUTE)
    assert yard.is_gone
    assert yard.disrupt_hints.sent == []
