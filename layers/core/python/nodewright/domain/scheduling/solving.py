"""One scheduler, used by everything that asks where pods would go."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from nodewright.domain.plans import Plan, Unschedulable
from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling import rooms
from nodewright.domain.scheduling.budget import Budget, Meter, never
from nodewright.domain.scheduling.buying import Purchase, buy
from nodewright.domain.scheduling.reasons import Reason, problem_reason, reason, time_reason
from nodewright.domain.scheduling.shapes import Shape, Waiting, group
from nodewright.domain.snapshot import Snapshot


def solve(snapshot: Snapshot, budget: Budget = Budget(), expired: Callable[[], bool] = never) -> Plan:  # noqa: B008
    """Where every pod of the snapshot goes: rooms that are there first, then new nodes by pool weight.

    Pure: a function of snapshot and budget, byte for byte, in whatever order the snapshot lists things.
    `expired` is the outer guard; a plan it cuts says `truncated`, and what is in it may be launched.
    """
    shapes = group(snapshot.pods)
    waiting = Waiting([shape for shape in shapes if not shape.problems])
    meter = Meter(budget, expired)
    nominations = rooms.place(snapshot.rooms, waiting)
    held = tuple(_held(waiting, snapshot.set_aside))
    waiting.drop({each.pod for each in held})
    purchase = buy(snapshot.pools, snapshot.daemon_sets, waiting, meter)
    helpless = [shape for shape in shapes if shape.problems]
    return Plan(
        launches=purchase.launches,
        nominations=nominations,
        unschedulable=tuple(
            sorted(
                (*_hopeless(helpless), *held, *_left(waiting, purchase, len(snapshot.rooms), cut=meter.stopped)),
                key=lambda each: each.pod,
            )
        ),
        cost=purchase.cost,
        bound=purchase.bound,
        truncated=meter.stopped,
    )


def _hopeless(shapes: Sequence[Shape]) -> Iterator[Unschedulable]:
    for shape in shapes:
        why = problem_reason(shape.problems)
        yield from (Unschedulable(pod, why.word, why.message) for pod in shape.pods)


def _held(waiting: Waiting, set_aside: Mapping[PodKey, str]) -> Iterator[Unschedulable]:
    """Those found no room, and nothing is bought for them now."""
    if not set_aside:
        return
    for number in range(len(waiting.shapes)):
        for pod in waiting.pods(number):
            if pod in set_aside:
                yield Unschedulable(pod, "SetAside", set_aside[pod])


def _left(waiting: Waiting, purchase: Purchase, room_count: int, *, cut: bool) -> Iterator[Unschedulable]:
    for number, shape in enumerate(waiting.shapes):
        pods = waiting.pods(number)
        if pods:
            why = _why(shape, purchase, room_count, cut=cut)
            yield from (Unschedulable(pod, why.word, why.message) for pod in pods)


def _why(shape: Shape, purchase: Purchase, room_count: int, *, cut: bool) -> Reason:
    return time_reason() if cut else reason(shape, purchase.tiers, room_count)
