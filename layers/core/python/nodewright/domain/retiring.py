"""The steps of a node's way out: what is seen now → what is done now, and where the retirement then stands.

Pure: application/retire.py looks, asks `decide`, carries out and stores. Everything here may be asked
again after a run that died half-way, and says the same (architecture §8, karpenter-behaviour §8.9).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.draining import Drain, Forced, drain, is_mirror, longest_grace, must_leave, objections
from nodewright.domain.nodes import Node
from nodewright.domain.pods import Pod
from nodewright.domain.retirement import DEAD, DISRUPTED, Reason, Retirement, Step
from nodewright.domain.retirement_turns import (
    Action,
    Delete,
    DeleteNode,
    Evict,
    Mark,
    Terminate,
    Turn,
    Unmark,
    View,
)

#: Between taint and drain, and then the pods are listed again: what was being bound has arrived by then.
SETTLING: Final = timedelta(seconds=5)
#: Kept free before a deadline beside the longest grace, when replacements are waited for.
LEEWAY: Final = timedelta(seconds=15)
#: Of an announced retirement: how long provision has to look for places for its pods.
PLANNING: Final = timedelta(seconds=30)
#: How long volumes are waited for: Kubernetes' own attach-detach controller gives up after it, too.
DETACHING: Final = timedelta(minutes=6)
#: EC2 forgets and finds again: before this age an instance it doesn't find is not gone (architecture §4 rule 6).
#: Counted from the claim's reservation, after which its launch may take five of these minutes.
FINDING: Final = timedelta(minutes=10)

SHORTEST_PAUSE: Final = timedelta(seconds=10)
LONGEST_PAUSE: Final = timedelta(minutes=5)
URGENT_PAUSE: Final = timedelta(seconds=2)
#: Something moved, or will within seconds.
NEXT_LOOK: Final = timedelta(seconds=5)
#: SQS delays no message longer.
LONGEST_DELAY: Final = timedelta(minutes=15)

#: No pod may come to the node any more, or it would never be empty.
_MARKED: Final = frozenset({Step.REPLACE, Step.DRAIN, Step.DETACH})
_GOING: Final = frozenset({"stopping", "stopped", "shutting-down", "terminated"})


def begin(
    claim: NodeClaim,
    reason: Reason,
    now: datetime,
    *,
    not_before: datetime | None = None,
    deadline: datetime | None = None,
    expires: datetime | None = None,
    replacements: tuple[str, ...] = (),
) -> NodeClaim | None:
    """The claim with its retirement, to be stored by `start_retirements`; None when one as pressing is under way.

    A more pressing one takes over where the other stands: nothing is done twice, and the earlier deadline counts.
    """
    known = claim.retirement
    begins = not_before or now
    fresh = Retirement(
        epoch=claim.version + 1,  # grows with every write, so no two retirements of a claim share one
        reason=reason,
        started=now,
        not_before=begins,
        next_at=begins,
        deadline=deadline,
        expires=expires,
        replacements=replacements,
    )
    if known is not None:
        if not known.withdrawable or _pressure(fresh) <= _pressure(known):
            return None
        fresh = replace(
            fresh,
            started=known.started,
            step=known.step,
            step_since=known.step_since,
            deadline=min(filter(None, (deadline, known.deadline)), default=None),
            replacements=(*known.replacements, *(each for each in replacements if each not in known.replacements)),
        )
    return replace(claim, retirement=fresh)


def needs_cluster(retirement: Retirement, now: datetime) -> bool:
    """Whether its API server is to be asked: for a node that is dead or past its deadline nothing there matters."""
    if retirement.step is Step.FORGET:
        return True
    return retirement.withdrawable and now >= retirement.not_before and not _is_over(retirement, now)


def asks_leave(retirement: Retirement) -> bool:
    """Whether it happens only while no pod minds: chosen by us, and without a deadline that would end the matter."""
    return retirement.voluntary and retirement.deadline is None


def decide(view: View, now: datetime) -> Turn:
    """The next step."""
    retirement = view.retirement
    if now < retirement.not_before:
        return Turn(replace(retirement, next_at=min(retirement.not_before, now + LONGEST_DELAY)), note="not before")
    if retirement.withdrawable and (_is_over(retirement, now) or view.node is None or view.instance in _GOING):
        return _on(view, Step.TERMINATE, now)
    if retirement.step in _MARKED and not _is_marked(view.node):
        return _mark_again(retirement, now)
    return _STEPS[retirement.step](view, now)


def hold(retirement: Retirement, now: datetime) -> Retirement:
    """Nothing came of this turn: the same again after a while, which grows from turn to turn."""
    return _wait(retirement, now, _pause(retirement))


def _taint(view: View, now: datetime) -> Turn:
    if asks_leave(view.retirement):
        refusal = _refusal(view, now)
        if refusal:
            return refusal
    marked = replace(view.retirement, step=Step.REPLACE, step_since=now, next_at=now + SETTLING, attempts=0)
    return Turn(marked, (Mark(),))


def _replace(view: View, now: datetime) -> Turn:
    retirement = view.retirement
    settled = _since(retirement) + SETTLING
    if now < settled:
        return Turn(replace(retirement, next_at=settled), note="pods are listed again")
    lost = [each for each in retirement.replacements if each not in view.replacements]
    if lost and retirement.voluntary:
        return _withdraw(f"replacement {', '.join(lost)} didn't come")
    coming = [each for each, state in view.replacements.items() if state is not ClaimState.INITIALIZED]
    drain_by = _drain_by(view, now)
    if (coming or _is_being_planned(view, now)) and (drain_by is None or now < drain_by):
        return _await_replacements(view, coming, drain_by, now)
    if asks_leave(retirement):
        refusal = _refusal(view, now)
        if refusal:
            return refusal
    return _on(view, Step.DRAIN, now)


def _drain(view: View, now: datetime) -> Turn:
    retirement = view.retirement
    todo = drain(view.pods, now, retirement.deadline, urgent=retirement.urgent)
    if not todo.remaining:
        return _on(view, Step.DETACH, now)
    if asks_leave(retirement) and _has_expired(retirement, now) and not any(p.terminating for p in todo.remaining):
        minded = objections(todo.remaining, view.budgets, now)
        if minded:
            return _withdraw(minded[0])
    moved = _wait(replace(retirement, attempts=0), now, URGENT_PAUSE if retirement.urgent else NEXT_LOOK)
    return Turn(
        _no_later_than(hold(retirement, now), now, todo.next_force),
        _drain_actions(todo),
        note=_drain_note(todo),
        moved=_no_later_than(replace(moved, attempts=0), now, todo.next_force),
    )


def _detach(view: View, now: datetime) -> Turn:
    if not view.volumes or now >= _since(view.retirement) + DETACHING:
        return _on(view, Step.TERMINATE, now)
    pause = URGENT_PAUSE if view.retirement.urgent else NEXT_LOOK
    return Turn(_wait(view.retirement, now, pause), note=f"attached: {', '.join(view.volumes)}")


def _terminate(view: View, now: datetime) -> Turn:
    never_was = not view.claim.instance_id
    lost = view.instance is None and now >= view.claim.created + FINDING
    if never_was or lost or view.instance == "terminated":
        return _on(view, Step.FORGET, now)
    waiting = _wait(view.retirement, now, NEXT_LOOK * (1 << min(view.retirement.attempts, 3)))
    if view.instance == "shutting-down":
        return Turn(waiting, note="the instance is shutting down")
    return Turn(waiting, (Terminate(),))


def _forget(view: View, now: datetime) -> Turn:
    """Its pods are deleted as the dead they are: else Kubernetes lets them be for minutes (a StatefulSet, for ever)."""
    left = (pod for pod in view.pods if not pod.is_daemon and not is_mirror(pod))
    bodies = tuple(Delete(pod, 0) for pod in left)
    return Turn(hold(view.retirement, now), (*bodies, *((DeleteNode(),) if view.node else ())), gone=True)


_STEPS: Final[Mapping[Step, Callable[[View, datetime], Turn]]] = {
    Step.TAINT: _taint,
    Step.REPLACE: _replace,
    Step.DRAIN: _drain,
    Step.DETACH: _detach,
    Step.TERMINATE: _terminate,
    Step.FORGET: _forget,
}


def _is_marked(node: Node | None) -> bool:
    return node is not None and any((t.key, t.effect) == (DISRUPTED.key, DISRUPTED.effect) for t in node.taints)


def _mark_again(retirement: Retirement, now: datetime) -> Turn:
    """Somebody took it off: by hand, or withdrawing what this retirement took over."""
    pause = URGENT_PAUSE if retirement.urgent else SETTLING
    return Turn(replace(retirement, next_at=now + pause), (Mark(),), note="its taint was taken off")


def _refusal(view: View, now: datetime) -> Turn | None:
    """Of a voluntary retirement that hasn't begun to drain: withdrawn, or waiting for leave."""
    retirement = view.retirement
    if retirement.reason == "empty":
        came = [pod for pod in view.pods if must_leave(pod, now) and not pod.is_daemon]
        if came:
            return _withdraw(f"{came[0].key} is there: the node is not empty")
    minded = objections(view.pods, view.budgets, now)
    if _has_expired(retirement, now):
        return _withdraw(minded[0] if minded else "it waited for too long")
    if minded:
        return Turn(_no_later_than(hold(retirement, now), now, retirement.expires), note=minded[0])
    return None


def _await_replacements(view: View, coming: list[str], drain_by: datetime | None, now: datetime) -> Turn:
    retirement = view.retirement
    if retirement.voluntary and _has_expired(retirement, now) and retirement.deadline is None:
        return _withdraw(f"replacement {', '.join(coming)} wasn't ready in time")
    waiting = _wait(retirement, now, URGENT_PAUSE if retirement.urgent else SHORTEST_PAUSE)
    note = f"replacement {', '.join(coming)} is on its way" if coming else "places for its pods are looked for"
    return Turn(_no_later_than(waiting, now, drain_by), note=note)


def _is_being_planned(view: View, now: datetime) -> bool:
    """Whether a node may still be bought for its pods; where they found room elsewhere none ever is."""
    retirement = view.retirement
    moving = any(must_leave(pod, now) and not pod.is_daemon for pod in view.pods)
    return moving and retirement.announced and not view.replacements and now < _since(retirement) + PLANNING


def _drain_by(view: View, now: datetime) -> datetime | None:
    """When a drain must begin to be through by the deadline."""
    deadline = view.retirement.deadline
    return deadline - longest_grace(view.pods, now) - LEEWAY if deadline else None


def _drain_actions(todo: Drain) -> tuple[Action, ...]:
    return (*(Delete(*_plain(forced)) for forced in todo.force), *(Evict(pod) for pod in todo.evict))


def _plain(forced: Forced) -> tuple[Pod, int]:
    return forced.pod, forced.grace_seconds


def _drain_note(todo: Drain) -> str:
    held = f"; {todo.held[0].key} forbids it by annotation" if todo.held else ""
    return f"{len(todo.remaining)} pods remain{held}"


def _withdraw(why: str) -> Turn:
    return Turn(None, (Unmark(),), note=why)


def _on(view: View, step: Step, now: datetime) -> Turn:
    """To another step, at once."""
    return Turn(replace(view.retirement, step=step, step_since=now, next_at=now, attempts=0))


def _wait(retirement: Retirement, now: datetime, pause: timedelta) -> Retirement:
    waiting = replace(retirement, next_at=now + pause, attempts=retirement.attempts + 1)
    return _no_later_than(waiting, now, retirement.deadline)


def _no_later_than(retirement: Retirement, now: datetime, moment: datetime | None) -> Retirement:
    """Its next turn comes when something is due, if that is yet to come."""
    if moment is None or not now < moment < retirement.next_at:
        return retirement
    return replace(retirement, next_at=moment)


def _pause(retirement: Retirement) -> timedelta:
    if retirement.urgent:
        return URGENT_PAUSE
    # The shift is cut too: a drain may go on for weeks.
    return min(SHORTEST_PAUSE * (1 << min(retirement.attempts, 5)), LONGEST_PAUSE)


def _is_over(retirement: Retirement, now: datetime) -> bool:
    """Whether the instance is to be ended whatever runs there."""
    return retirement.reason in DEAD or (retirement.deadline is not None and now >= retirement.deadline)


def _has_expired(retirement: Retirement, now: datetime) -> bool:
    return retirement.expires is not None and now >= retirement.expires


def _since(retirement: Retirement) -> datetime:
    return retirement.step_since or retirement.started


def _pressure(retirement: Retirement) -> tuple[int, float]:
    """Dead, urgent, forced, voluntary; among equals the earlier deadline presses more."""
    rank = 3 if retirement.reason in DEAD else 2 if retirement.urgent else 0 if retirement.voluntary else 1
    deadline = retirement.deadline
    return rank, -deadline.timestamp() if deadline else float("-inf")
