"""Every step of a node’s way out: what makes it wait, go back or hurry (architecture §8; cases.md 20, 21, 23, 33)."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import get_args

import pytest

from nodewright.domain.claims import ClaimState
from nodewright.domain.pods import Pod
from nodewright.domain.retirement import DEAD, VOLUNTARY, Reason, Retirement, Step
from nodewright.domain.retirement_turns import Delete, DeleteNode, Evict, Mark, Terminate, Turn, Unmark, View
from nodewright.domain.retiring import (
    DETACHING,
    FINDING,
    LEEWAY,
    LONGEST_DELAY,
    LONGEST_PAUSE,
    NEXT_LOOK,
    PLANNING,
    SETTLING,
    SHORTEST_PAUSE,
    URGENT_PAUSE,
    begin,
    decide,
    hold,
    needs_cluster,
)
from tests.builders import node
from tests.domain.retirements import (
    HOUR,
    MINUTE,
    SECOND,
    TEN,
    budget,
    daemon,
    leaving,
    marked,
    retirement,
    retiring,
    running,
    staying,
    view,
)

ELEVEN = TEN + HOUR
FORCED: tuple[Reason, ...] = tuple(r for r in get_args(Reason) if r not in VOLUNTARY and r not in DEAD)
ON_ITS_WAY = {"r-1": ClaimState.LAUNCHED}
READY = {"r-1": ClaimState.INITIALIZED}


def goes_on(turn: Turn, step: Step, now: datetime) -> bool:
    """To this step, at once, with nothing done."""
    after = turn.retirement
    return after is not None and (after.step, after.next_at, turn.actions) == (step, now, ())


def stays(turn: Turn, step: Step) -> Retirement:
    assert turn.retirement is not None
    assert turn.retirement.step is step
    return turn.retirement


def is_withdrawn(turn: Turn) -> bool:
    return turn.retirement is None and turn.actions == (Unmark(),)


# ---- begin -------------------------------------------------------------------------------------


def test_a_retirement_begins_now_or_when_it_may() -> None:
    begun = begin(retiring(version=7), "spot-interruption", TEN, deadline=TEN + 2 * MINUTE)
    assert begun is not None
    assert begun.retirement is not None
    assert begun.retirement.step is Step.TAINT
    assert (begun.retirement.epoch, begun.retirement.next_at) == (8, TEN)
    later = begin(retiring(), "scheduled-event", TEN, not_before=ELEVEN)
    assert later is not None
    assert later.retirement is not None
    assert later.retirement.not_before == later.retirement.next_at == ELEVEN


def test_no_two_retirements_of_a_claim_share_an_epoch_though_one_was_withdrawn() -> None:
    first = begin(retiring(version=3), "empty", TEN)
    assert first is not None
    withdrawn = replace(first, retirement=None, version=first.version + 2)
    second = begin(withdrawn, "empty", ELEVEN)
    assert second is not None
    assert first.retirement is not None
    assert second.retirement is not None
    assert second.retirement.epoch > first.retirement.epoch


def test_a_second_notice_changes_nothing() -> None:
    """cases.md 23."""
    known = retiring(retirement=retirement("spot-interruption", deadline=TEN + 2 * MINUTE))
    assert begin(known, "spot-interruption", TEN, deadline=TEN + 2 * MINUTE) is None
    assert begin(known, "spot-interruption", TEN, deadline=TEN + 3 * MINUTE) is None
    assert begin(known, "rebalance", TEN) is None
    assert begin(known, "expired", TEN) is None


@pytest.mark.parametrize("step", [Step.TERMINATE, Step.FORGET])
def test_nothing_takes_over_what_has_no_way_back(step: Step) -> None:
    known = retiring(retirement=retirement("expired", step=step))
    assert begin(known, "instance-gone", TEN) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("empty", "node-deleted"),
        ("expired", "spot-interruption"),
        ("rebalance", "spot-interruption"),
        ("spot-interruption", "instance-stopped"),
        ("node-deleted", "instance-gone"),
    ],
)
def test_a_more_pressing_one_goes_on_where_the_other_stood(before: Reason, after: Reason) -> None:
    known = retirement(before, step=Step.DRAIN, deadline=ELEVEN, replacements=("r-1",), attempts=4)
    begun = begin(retiring(retirement=known, version=9), after, TEN + MINUTE, deadline=ELEVEN + HOUR)
    assert begun is not None
    assert begun.retirement is not None
    assert (begun.retirement.reason, begun.retirement.step, begun.retirement.epoch) == (after, Step.DRAIN, 10)
    assert (begun.retirement.deadline, begun.retirement.replacements) == (ELEVEN, ("r-1",))
    assert (begun.retirement.attempts, begun.retirement.next_at) == (0, TEN + MINUTE)


def test_an_earlier_deadline_for_the_same_reason_presses_more() -> None:
    known = retiring(retirement=retirement("scheduled-event", deadline=ELEVEN))
    begun = begin(known, "scheduled-event", TEN, deadline=ELEVEN - MINUTE)
    assert begun is not None
    assert begun.retirement is not None
    assert begun.retirement.deadline == ELEVEN - MINUTE


# ---- before anything is done -------------------------------------------------------------------


def test_nothing_is_done_before_it_may_begin_and_no_message_waits_longer_than_sqs_allows() -> None:
    waiting = retirement("scheduled-event", Step.TAINT, not_before=ELEVEN)
    turn = decide(view(waiting, running()), TEN)
    assert (turn.actions, stays(turn, Step.TAINT).next_at) == ((), TEN + LONGEST_DELAY)
    assert stays(decide(view(waiting), ELEVEN - SECOND), Step.TAINT).next_at == ELEVEN
    assert decide(view(waiting), ELEVEN).actions == (Mark(),)


@pytest.mark.parametrize("reason", sorted(DEAD))
@pytest.mark.parametrize("step", [Step.TAINT, Step.REPLACE, Step.DRAIN, Step.DETACH])
def test_where_nothing_runs_nobody_is_asked_to_leave(reason: Reason, step: Step) -> None:
    of = retirement(reason, step)
    assert goes_on(decide(View(retiring(), of), TEN), Step.TERMINATE, TEN)
    assert not needs_cluster(of, TEN)


@pytest.mark.parametrize("step", [Step.TAINT, Step.REPLACE, Step.DRAIN, Step.DETACH])
def test_a_deadline_ends_every_step_and_needs_no_cluster(step: Step) -> None:
    of = retirement(step=step, deadline=ELEVEN)
    assert goes_on(decide(View(retiring(), of), ELEVEN), Step.TERMINATE, ELEVEN)
    assert needs_cluster(of, ELEVEN - SECOND)
    assert not needs_cluster(of, ELEVEN)


@pytest.mark.parametrize("state", ["stopping", "stopped", "shutting-down", "terminated"])
def test_a_node_whose_instance_went_meanwhile_is_not_drained(state: str) -> None:
    there = view(retirement(), running(), node=marked(ready=False), instance=state)
    assert goes_on(decide(there, TEN), Step.TERMINATE, TEN)


def test_a_node_that_is_not_ready_is_drained_while_its_instance_runs() -> None:
    there = view(retirement(), running("a"), node=marked(ready=False), instance="running")
    assert decide(there, TEN).actions == (Evict(running("a")),)


def test_without_a_node_there_is_nothing_to_drain() -> None:
    assert goes_on(decide(view(retirement(step=Step.TAINT), node=None), TEN), Step.TERMINATE, TEN)


# ---- taint -------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", FORCED)
def test_a_forced_one_taints_at_once_whatever_pods_say(reason: Reason) -> None:
    turn = decide(view(retirement(reason, Step.TAINT), staying(), budgets=(budget(),)), TEN)
    assert turn.actions == (Mark(),)
    after = stays(turn, Step.REPLACE)
    assert (after.step_since, after.next_at) == (TEN, TEN + SETTLING)


@pytest.mark.parametrize("blocked", [(staying("a"), ()), (running("a"), (budget(),))], ids=["annotation", "budget"])
def test_an_expired_node_is_not_even_tainted_while_a_pod_minds(blocked: tuple[Pod, tuple[object, ...]]) -> None:
    """cases.md 20 and 21, without a deadline."""
    pod, budgets = blocked
    of = retirement("expired", Step.TAINT, expires=TEN + 20 * MINUTE)
    turn = decide(view(of, pod, running("b"), budgets=budgets), TEN)
    assert turn.actions == ()
    assert stays(turn, Step.TAINT).next_at == TEN + SHORTEST_PAUSE
    assert "default/a" in turn.note
    turn = decide(view(of, pod, budgets=budgets), TEN + 20 * MINUTE)
    assert is_withdrawn(turn)
    assert "default/a" in turn.note


def test_an_expired_node_with_a_deadline_is_tainted_though_a_pod_minds() -> None:
    """cases.md 21, with terminationGracePeriod 4h: the drain begins now."""
    of = retirement("expired", Step.TAINT, deadline=TEN + 4 * HOUR)
    assert decide(view(of, staying(), budgets=(budget(),)), TEN).actions == (Mark(),)


def test_an_expired_node_where_nobody_minds_is_tainted() -> None:
    assert decide(view(retirement("expired", Step.TAINT), running(), budgets=(budget(1),)), TEN).actions == (Mark(),)


def test_a_node_that_is_no_longer_empty_stays() -> None:
    """cases.md 33."""
    assert is_withdrawn(decide(view(retirement("empty", Step.TAINT), running(), daemon()), TEN))
    assert decide(view(retirement("empty", Step.TAINT), daemon()), TEN).actions == (Mark(),)


def test_a_voluntary_one_that_comes_too_late_is_withdrawn() -> None:
    assert is_withdrawn(decide(view(retirement("empty", Step.TAINT, expires=TEN)), TEN))


# ---- replace -----------------------------------------------------------------------------------


def tainted(reason: Reason = "node-deleted", **overrides: object) -> Retirement:
    """At ten."""
    return retirement(reason, Step.REPLACE, **overrides)


def test_a_drain_begins_five_seconds_after_the_taint_not_before() -> None:
    assert stays(decide(view(tainted()), TEN + 2 * SECOND), Step.REPLACE).next_at == TEN + SETTLING
    assert goes_on(decide(view(tainted(), running()), TEN + SETTLING), Step.DRAIN, TEN + SETTLING)


def test_a_pod_that_was_being_bound_when_the_node_was_tainted_saves_it() -> None:
    """cases.md 33: taint, list again, untaint when one bound."""
    turn = decide(view(tainted("empty"), running("late")), TEN + SETTLING)
    assert is_withdrawn(turn)
    assert "default/late" in turn.note


def test_replacements_are_waited_for() -> None:
    of = tainted(replacements=("r-1",))
    turn = decide(view(of, running(), replacements=ON_ITS_WAY), TEN + SETTLING)
    assert stays(turn, Step.REPLACE).next_at == TEN + SETTLING + SHORTEST_PAUSE
    assert goes_on(decide(view(of, running(), replacements=READY), TEN + MINUTE), Step.DRAIN, TEN + MINUTE)


def test_replacements_are_waited_for_as_long_as_the_deadline_allows() -> None:
    of = tainted("spot-interruption", deadline=TEN + 2 * MINUTE, replacements=("r-1",))
    pods = (running(termination_grace_seconds=30),)
    last = TEN + 2 * MINUTE - timedelta(seconds=30) - LEEWAY
    turn = decide(view(of, *pods, replacements=ON_ITS_WAY), TEN + SETTLING)
    assert stays(turn, Step.REPLACE).next_at == TEN + SETTLING + URGENT_PAUSE
    assert stays(decide(view(of, *pods, replacements=ON_ITS_WAY), last - SECOND), Step.REPLACE).next_at == last
    assert goes_on(decide(view(of, *pods, replacements=ON_ITS_WAY), last), Step.DRAIN, last)


def test_a_pod_with_a_long_grace_leaves_no_time_for_replacements() -> None:
    of = tainted("spot-interruption", deadline=TEN + 2 * MINUTE, replacements=("r-1",))
    slow = running(termination_grace_seconds=110)
    assert goes_on(decide(view(of, slow, replacements=ON_ITS_WAY), TEN + SETTLING), Step.DRAIN, TEN + SETTLING)


def test_an_announced_one_gives_provision_half_a_minute_to_find_places_for_its_pods() -> None:
    there = view(retirement("scheduled-event", Step.REPLACE, deadline=ELEVEN), running())
    turn = decide(there, TEN + SETTLING)
    assert stays(turn, Step.REPLACE).next_at == TEN + SETTLING + SHORTEST_PAUSE
    assert turn.note == "places for its pods are looked for"
    assert goes_on(decide(there, TEN + PLANNING), Step.DRAIN, TEN + PLANNING)


def test_what_was_bought_for_them_meanwhile_is_waited_for() -> None:
    of = retirement("scheduled-event", Step.REPLACE, deadline=ELEVEN)
    stays(decide(view(of, running(), replacements=ON_ITS_WAY), TEN + 10 * MINUTE), Step.REPLACE)
    assert goes_on(decide(view(of, running(), replacements=READY), TEN + SETTLING), Step.DRAIN, TEN + SETTLING)


@pytest.mark.parametrize("pods", [(), (daemon(),)], ids=["empty", "daemons"])
def test_an_announced_one_waits_for_nothing_where_nobody_needs_a_place(pods: tuple[Pod, ...]) -> None:
    of = retirement("scheduled-event", Step.REPLACE, deadline=ELEVEN)
    assert goes_on(decide(view(of, *pods), TEN + SETTLING), Step.DRAIN, TEN + SETTLING)


def test_an_announced_one_whose_deadline_is_near_waits_for_no_plan() -> None:
    of = retirement("scheduled-event", Step.REPLACE, deadline=TEN + MINUTE + LEEWAY)
    assert goes_on(decide(view(of, running()), TEN + SETTLING), Step.DRAIN, TEN + SETTLING)


def test_a_replacement_that_never_comes_saves_a_node_that_could_wait() -> None:
    """karpenter-behaviour §8.6."""
    turn = decide(view(tainted("expired", replacements=("r-1",)), running()), TEN + MINUTE)
    assert is_withdrawn(turn)
    assert "r-1" in turn.note


def test_a_forced_one_goes_on_without_a_replacement_that_never_comes() -> None:
    of = tainted("rebalance", replacements=("r-1",))
    assert goes_on(decide(view(of, running()), TEN + MINUTE), Step.DRAIN, TEN + MINUTE)


def test_a_replacement_that_is_late_saves_a_node_that_could_wait() -> None:
    of = tainted("expired", replacements=("r-1",), expires=TEN + 10 * MINUTE)
    stays(decide(view(of, replacements=ON_ITS_WAY), TEN + 9 * MINUTE), Step.REPLACE)
    assert is_withdrawn(decide(view(of, replacements=ON_ITS_WAY), TEN + 10 * MINUTE))


def test_a_budget_that_closed_meanwhile_holds_a_voluntary_one_before_its_drain() -> None:
    of = tainted("expired", expires=TEN + 10 * MINUTE)
    turn = decide(view(of, running("a"), budgets=(budget(),)), TEN + MINUTE)
    assert (stays(turn, Step.REPLACE).attempts, turn.actions) == (1, ())
    assert is_withdrawn(decide(view(of, running("a"), budgets=(budget(),)), TEN + 10 * MINUTE))


# ---- drain -------------------------------------------------------------------------------------


def test_an_empty_node_is_drained() -> None:
    assert goes_on(decide(view(retirement()), TEN), Step.DETACH, TEN)


def test_granted_evictions_are_looked_after_soon_refused_ones_ever_later() -> None:
    """cases.md 20: every 10 to 20 seconds at first; 429 is later, not an error."""
    attempts = [retirement(attempts=n) for n in range(8)]
    pauses = [stays(decide(view(each, running()), TEN), Step.DRAIN).next_at - TEN for each in attempts]
    assert pauses[:5] == [SHORTEST_PAUSE * 2**n for n in range(5)]
    assert pauses[5:] == [LONGEST_PAUSE] * 3
    granted = decide(view(attempts[7], running()), TEN).moved
    assert granted is not None
    assert (granted.next_at, granted.attempts, granted.step) == (TEN + NEXT_LOOK, 0, Step.DRAIN)


def test_an_interruption_looks_every_two_seconds_however_long_nothing_moves() -> None:
    of = retirement("spot-interruption", deadline=ELEVEN, attempts=50)
    assert stays(decide(view(of, running()), TEN), Step.DRAIN).next_at == TEN + URGENT_PAUSE


def test_case_20() -> None:
    """Drain from 10:00 under a grace of an hour; one pod is held: deleted at 10:59, the instance ended at 11:00."""
    of, held = retirement(deadline=ELEVEN), running("held")
    now, forced = TEN, None
    for _ in range(100):
        turn = decide(view(of, held), now)
        after = turn.retirement
        assert after is not None
        if after.step is Step.TERMINATE:
            break
        if Delete(held, 60) in turn.actions:
            forced = now
            held = leaving("held", until=now + MINUTE)
        of, now = after, after.next_at
    assert (forced, now) == (ELEVEN - MINUTE, ELEVEN)


def test_case_21_with_a_deadline() -> None:
    of = retirement("expired", deadline=TEN + 4 * HOUR, expires=TEN + MINUTE)
    turn = decide(view(of, staying("a"), running("b")), TEN + HOUR)
    assert turn.actions == (Evict(running("b")),)
    forced = decide(view(of, staying("a")), TEN + 4 * HOUR - MINUTE)
    assert forced.actions == (Delete(staying("a"), 60),)


def test_without_a_deadline_a_forced_drain_waits_for_ever() -> None:
    turn = decide(view(retirement(expires=TEN), staying("a")), TEN + 1000 * HOUR)
    stays(turn, Step.DRAIN)
    assert "default/a forbids it" in turn.note


def test_a_voluntary_drain_that_is_blocked_past_its_time_is_withdrawn() -> None:
    of = retirement("expired", expires=TEN + MINUTE)
    blocked = view(of, running("a"), budgets=(budget(),))
    stays(decide(blocked, TEN), Step.DRAIN)
    assert is_withdrawn(decide(blocked, TEN + MINUTE))


def test_a_voluntary_drain_that_moves_goes_on_past_its_time() -> None:
    of = retirement("expired", expires=TEN + MINUTE)
    stays(decide(view(of, running("a"), budgets=(budget(1),)), TEN + MINUTE), Step.DRAIN)
    last = leaving("a", until=TEN + 2 * MINUTE)
    stays(decide(view(of, last, budgets=(budget(),)), TEN + MINUTE), Step.DRAIN)


@pytest.mark.parametrize("step", [Step.REPLACE, Step.DRAIN, Step.DETACH])
def test_a_node_whose_taint_was_taken_off_is_marked_again_before_anything_else(step: Step) -> None:
    turn = decide(view(retirement(step=step), running(), node=node("n")), TEN + MINUTE)
    assert turn.actions == (Mark(),)
    assert stays(turn, step).next_at == TEN + MINUTE + SETTLING


# ---- detach, terminate, forget -----------------------------------------------------------------


def test_volumes_are_waited_for_but_not_for_ever() -> None:
    of = retirement(step=Step.DETACH)
    attached = view(of, volumes=("pv-1",))
    assert stays(decide(attached, TEN), Step.DETACH).next_at == TEN + NEXT_LOOK
    assert "pv-1" in decide(attached, TEN).note
    assert goes_on(decide(attached, TEN + DETACHING), Step.TERMINATE, TEN + DETACHING)
    assert goes_on(decide(view(of), TEN), Step.TERMINATE, TEN)


def test_an_instance_is_ended_until_ec2_says_so() -> None:
    of = retirement(step=Step.TERMINATE)
    for state in ("pending", "running", "stopping", "stopped"):
        turn = decide(view(of, instance=state), TEN)
        assert turn.actions == (Terminate(),)
        assert stays(turn, Step.TERMINATE).next_at == TEN + NEXT_LOOK
    assert decide(view(of, instance="shutting-down"), TEN).actions == ()
    assert goes_on(decide(view(of, instance="terminated"), TEN), Step.FORGET, TEN)


def test_an_instance_that_ec2_doesnt_find_is_not_gone_before_five_minutes() -> None:
    """Architecture §4, rule 6."""
    young = view(retirement(step=Step.TERMINATE), claim=retiring(created=TEN))
    assert decide(young, TEN + FINDING - SECOND).actions == (Terminate(),)
    assert goes_on(decide(young, TEN + FINDING), Step.FORGET, TEN + FINDING)


def test_a_claim_that_never_had_an_instance_is_forgotten_at_once() -> None:
    of = view(retirement("launch-timeout", Step.TERMINATE), claim=retiring(instance_id="", created=TEN))
    assert goes_on(decide(of, TEN), Step.FORGET, TEN)


def test_waiting_for_the_end_of_an_instance_slows_down() -> None:
    pauses = [
        stays(decide(view(retirement(step=Step.TERMINATE, attempts=n), instance="shutting-down"), TEN), Step.TERMINATE)
        for n in (0, 1, 50)
    ]
    assert [each.next_at - TEN for each in pauses] == [NEXT_LOOK, 2 * NEXT_LOOK, 8 * NEXT_LOOK]


def test_what_is_left_on_a_dead_node_is_buried_with_it() -> None:
    left = running("a")
    turn = decide(view(retirement(step=Step.FORGET), left, daemon()), TEN)
    assert (turn.actions, turn.gone) == ((Delete(left, 0), DeleteNode()), True)
    assert decide(view(retirement(step=Step.FORGET), node=None), TEN).actions == ()


def test_the_cluster_is_needed_to_forget_and_not_to_terminate() -> None:
    assert needs_cluster(retirement(step=Step.FORGET, deadline=TEN), ELEVEN)
    assert not needs_cluster(retirement(step=Step.TERMINATE), ELEVEN)


# ---- laws --------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", get_args(Reason))
@pytest.mark.parametrize("step", list(Step))
def test_no_turn_goes_back_or_stands_still(reason: Reason, step: Step) -> None:
    for pods in ((), (running(), staying("s"), daemon())):
        for instance in (None, "running", "terminated"):
            turn = decide(view(retirement(reason, step), *pods, instance=instance), ELEVEN)
            if turn.retirement is not None and not turn.gone:
                order = list(Step)
                assert order.index(turn.retirement.step) >= order.index(step)
                assert turn.retirement.step is not step or turn.retirement.next_at > ELEVEN
            assert turn.retirement is not None or (reason in VOLUNTARY and step not in {Step.TERMINATE, Step.FORGET})


def test_a_turn_that_failed_is_taken_again_ever_later() -> None:
    of = retirement(attempts=2)
    assert hold(of, TEN) == replace(of, next_at=TEN + 4 * SHORTEST_PAUSE, attempts=3)
    assert hold(replace(of, deadline=TEN + SECOND), TEN).next_at == TEN + SECOND
