"""SQS queues with a Lambda function behind them, in virtual time."""

from collections.abc import Callable, Iterable
from datetime import timedelta

from nodewright.adapters.memory.queues import PROMPT, FifoQueue, Message, QueuedHints, QueuedTurns, StandardQueue
from nodewright.adapters.memory.timeline import Timeline
from tests.builders import NOW

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
VISIBILITY = 100 * SECOND


class Function:
    """Writes down what it gets; fails as often as it is told."""

    def __init__(self, timeline: Timeline, *, takes: timedelta = timedelta(), failures: int = 0) -> None:
        self.timeline, self.takes, self.failures = timeline, takes, failures
        self.got: list[tuple[str, str]] = []

    def __call__(self, message: Message) -> bool:
        self.got.append((message.body, f"{self.timeline.now() - NOW - PROMPT}"))
        self.timeline.sleep(self.takes)
        self.failures -= 1
        return self.failures < 0


def fifo(function: Function, lateness: Callable[[Message], Iterable[timedelta]] | None = None) -> FifoQueue:
    queue = FifoQueue(function.timeline, function, VISIBILITY)
    queue.lateness = lateness or queue.lateness
    return queue


def test_a_deduplication_id_is_swallowed_for_five_minutes() -> None:
    function = Function(Timeline(NOW))
    queue = fifo(function)
    queue.send("prod", "one", "first")
    function.timeline.sleep(4 * MINUTE)
    queue.send("prod", "one", "second")
    queue.send("test", "one", "another group's")
    function.timeline.sleep(MINUTE)
    queue.send("prod", "one", "third")
    function.timeline.sleep(MINUTE)
    assert [body for body, _ in function.got] == ["first", "another group's", "third"]


def test_a_group_waits_until_its_first_message_is_done() -> None:
    function = Function(Timeline(NOW), takes=10 * SECOND)
    queue = fifo(function)
    queue.send("prod", "1", "first")
    queue.send("prod", "2", "second")
    function.timeline.sleep(MINUTE)
    assert function.got == [("first", "0:00:00"), ("second", "0:00:10")]
    assert queue.is_empty


def test_another_group_does_not_wait() -> None:
    function = Function(Timeline(NOW), takes=10 * SECOND)
    queue = fifo(function)
    queue.send("prod", "1", "first")
    queue.send("test", "1", "second")
    function.timeline.sleep(MINUTE)
    assert function.got == [("first", "0:00:00"), ("second", "0:00:00")]


def test_what_failed_comes_again_after_its_visibility_timeout_and_holds_its_group_until_then() -> None:
    function = Function(Timeline(NOW), failures=1)
    queue = fifo(function)
    queue.send("prod", "1", "first")
    queue.send("prod", "2", "second")
    function.timeline.sleep(3 * MINUTE)
    assert function.got == [("first", "0:00:00"), ("first", "0:01:40"), ("second", "0:01:40")]


def test_what_is_older_than_its_retention_comes_no_more() -> None:
    function = Function(Timeline(NOW), failures=100)
    queue = fifo(function)
    queue.send("prod", "1", "first")
    function.timeline.sleep(20 * MINUTE)
    assert len(function.got) == 3, "at 0, 100 and 200 seconds"
    assert queue.is_empty


def test_a_message_can_get_lost_doubled_and_late() -> None:
    function = Function(Timeline(NOW))
    fates = {"lost": (), "doubled": (SECOND, 3 * SECOND), "late": (2 * SECOND,)}
    queue = fifo(function, lambda message: fates[message.body])
    for body in fates:
        queue.send("prod", body, body)
    function.timeline.sleep(MINUTE)
    assert function.got == [("doubled", "0:00:01"), ("late", "0:00:02"), ("doubled", "0:00:03")]


def test_a_standard_queue_delays_and_brings_back_until_the_dead_letters() -> None:
    function = Function(Timeline(NOW), failures=2)
    queue = StandardQueue(function.timeline, function, VISIBILITY, receives=2)
    queue.send("prod", "bad", delay=5 * SECOND)
    function.timeline.sleep(MINUTE)
    assert queue.under_way == 1
    function.timeline.sleep(5 * MINUTE)
    assert function.got == [("bad", "0:00:05"), ("bad", "0:01:45")]
    assert [message.body for message in queue.dead_letters] == ["bad"]
    assert queue.under_way == 0


def test_a_standard_queue_lets_nobody_wait_for_another() -> None:
    function = Function(Timeline(NOW), takes=10 * SECOND)
    queue = StandardQueue(function.timeline, function, VISIBILITY, receives=5)
    queue.send("prod", "first")
    queue.send("prod", "second")
    function.timeline.sleep(MINUTE)
    assert function.got == [("first", "0:00:00"), ("second", "0:00:00")]


def test_hints_of_one_second_are_one_message_and_urgent_ones_say_so() -> None:
    function = Function(Timeline(NOW))
    hints = QueuedHints({"provision": fifo(function)})
    hints.send("prod", "provision", NOW)
    hints.send("prod", "provision", NOW + timedelta(milliseconds=900))
    hints.send("prod", "provision", NOW, dedup="event", urgent=True)
    hints.send("prod", "provision", NOW + SECOND)
    function.timeline.sleep(MINUTE)
    plain = '{"cluster": "prod"}'
    assert [body for body, _ in function.got] == [plain, '{"cluster": "prod", "urgent": true}', plain]


def test_turns_come_after_their_delay_in_whole_seconds() -> None:
    function = Function(Timeline(NOW))
    turns = QueuedTurns(StandardQueue(function.timeline, function, VISIBILITY, receives=5))
    turns.send("prod", "claim-1", 3, timedelta(milliseconds=1200))
    function.timeline.sleep(MINUTE)
    assert function.got == [('{"cluster": "prod", "claim": "claim-1", "epoch": 3}', "0:00:02")]
