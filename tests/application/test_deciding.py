from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from nodewright.adapters.memory import InMemoryCluster, InMemoryLedger, RecordingObserver
from nodewright.application import deciding
from nodewright.application.errors import UnavailableError
from nodewright.application.launching import Outcome
from nodewright.application.ports import DecisionRecord, FleetError, ManifestWarning
from nodewright.domain.plans import Foresight, Launch, LaunchOffering, Nomination, Plan, Relaxed, Unschedulable
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.snapshot import Snapshot
from tests.application.world import CLUSTER, NOW
from tests.builders import pods

WAITING = pods(200)


def key(number: int) -> PodKey:
    return WAITING[number].key


def launch(*numbers: int) -> Launch:
    offering = LaunchOffering("m5.large", "a", 40_000_000)
    return Launch("default", "spot", (offering,), 40_000_000, Resources(), tuple((key(n),) for n in numbers))


def waiting(*numbers: int, reason: str = "NoPool") -> tuple[Unschedulable, ...]:
    return tuple(Unschedulable(key(n), reason, "there is no node pool; create one") for n in numbers)


@dataclass
class Desk:
    ledger: InMemoryLedger = field(default_factory=InMemoryLedger)
    cluster: InMemoryCluster = field(default_factory=InMemoryCluster)
    observer: RecordingObserver = field(default_factory=RecordingObserver)
    minutes: int = 0

    def record(self, plan: Plan, *outcomes: Outcome, warnings: tuple[ManifestWarning, ...] = ()) -> None:
        """A minute later each time."""
        self.minutes += 1
        taken = NOW + timedelta(minutes=self.minutes)
        snapshot = Snapshot(taken, _pods(plan), (), ())
        decided = deciding.Decided(plan, snapshot, outcomes, warnings)
        deciding.record(decided, CLUSTER, self.ledger, self.cluster, self.observer)

    @property
    def decisions(self) -> tuple[DecisionRecord, ...]:
        return self.ledger.decisions(CLUSTER, 100)


def _pods(plan: Plan) -> tuple[Pod, ...]:
    wanted = {entry.pod for entry in plan.unschedulable}
    return tuple(pod for pod in WAITING if pod.key in wanted)


def test_a_plan_of_nothing_is_not_worth_telling() -> None:
    desk = Desk()
    desk.record(Plan())
    assert desk.decisions == ()


def test_a_decision_holds_plan_outcome_and_warnings() -> None:
    desk = Desk()
    plan = Plan((launch(0, 1),), (Nomination("n", (key(2),)),), waiting(3), cost=80_000_000, bound=70_000_000)
    plan = replace(plan, relaxed=(Relaxed("nodes with zone In [c] (weight 1)", 2, key(0), "too dear"),))
    error = FleetError("InsufficientInstanceCapacity", "no room", "m5.large", "a")
    warning = ManifestWarning("NodePool/x", "spec.limits", "is negative")
    desk.record(plan, Outcome(1, 2, (error,)), Outcome(refused="not allowed"), warnings=(warning,))
    (decision,) = desk.decisions
    assert decision.summary == (
        "2 pods → 2 × m5.large spot at 0.08 USD/h (at least 0.07: gap 12.5 %); 1 pods to nodes that are there; "
        "1 pods wait"
    )
    assert decision.details == {
        "launches": [
            {
                "pool": "default",
                "capacityType": "spot",
                "price": "0.04",
                "instanceTypes": ["m5.large"],
                "zones": ["a"],
                "nodes": 2,
                "pods": ["default/p-0", "default/p-1"],
                "why": [],
            }
        ],
        "nominations": [{"node": "n", "pods": ["default/p-2"]}],
        "unschedulable": [
            {"reason": "NoPool", "message": "there is no node pool; create one", "pods": ["default/p-3"]}
        ],
        "preferences": [
            {
                "preference": "nodes with zone In [c] (weight 1)",
                "pods": 2,
                "example": "default/p-0",
                "reason": "too dear",
            }
        ],
        "errors": ["InsufficientInstanceCapacity: no room"],
        "refused": ["not allowed"],
        "warnings": ["NodePool/x spec.limits: is negative"],
        "cost": "0.08",
        "bound": "0.07",
        "gapPercent": "12.5",
        "truncated": False,
    }


def test_a_summary_counts_nodes_of_a_kind_together() -> None:
    assert deciding.summary(Plan((launch(0, 1), launch(2)), cost=120_000_000)) == (
        "3 pods → 3 × m5.large spot at 0.12 USD/h"
    )


def test_the_same_decision_is_recorded_once() -> None:
    desk = Desk()
    for _ in range(3):
        desk.record(Plan(unschedulable=waiting(0)))
    assert len(desk.decisions) == 1
    assert [event.count for event in desk.cluster.events] == [1]


@pytest.mark.parametrize(
    "changed",
    [
        Plan(unschedulable=waiting(0, 1)),
        Plan(unschedulable=waiting(0, reason="NoCapacity")),
        Plan(unschedulable=waiting(0), truncated=True),
    ],
)
def test_a_changed_decision_is_recorded(changed: Plan) -> None:
    desk = Desk()
    desk.record(Plan(unschedulable=waiting(0)))
    desk.record(changed)
    assert len(desk.decisions) == 2


def test_a_changed_warning_is_recorded() -> None:
    desk = Desk()
    desk.record(Plan(), warnings=(ManifestWarning("NodePool/x", "spec.a", "one"),))
    desk.record(Plan(), warnings=(ManifestWarning("NodePool/x", "spec.a", "two"),))
    assert len(desk.decisions) == 2


def test_each_purchase_is_recorded_even_if_it_looks_like_the_last() -> None:
    desk = Desk()
    desk.record(Plan((launch(0),)), Outcome(1, 1))
    desk.record(Plan((launch(0),)), Outcome(1, 1))
    assert len(desk.decisions) == 2


def test_the_names_of_many_pods_are_cut_and_the_rest_counted() -> None:
    desk = Desk()
    desk.record(Plan(unschedulable=waiting(*range(100))))
    (decision,) = desk.decisions
    told = str(decision.details["unschedulable"])
    assert "default/p-19" in told
    assert "default/p-20" not in told
    assert "… and 80 more" in told


def test_pods_that_wait_hear_why() -> None:
    desk = Desk()
    desk.record(Plan(unschedulable=waiting(0)))
    (event,) = desk.cluster.events
    assert (event.pod, event.uid, event.reason) == (key(0), "uid-p-0", "FailedScheduling")
    assert event.message == "NoPool: there is no node pool; create one"


def test_of_many_pods_some_of_each_reason_hear_it() -> None:
    desk = Desk()
    desk.record(Plan(unschedulable=(*waiting(*range(100)), *waiting(150, reason="NoCapacity"))))
    assert len(desk.cluster.events) == deciding.EVENTS_PER_REASON + 1
    assert key(150) in {event.pod for event in desk.cluster.events}


def test_one_run_tells_no_more_than_so_many_pods() -> None:
    desk = Desk()
    desk.record(Plan(unschedulable=tuple(w for n in range(200) for w in waiting(n, reason=f"Reason{n}"))))
    assert len(desk.cluster.events) == deciding.EVENTS_PER_RUN


class DownLedger(InMemoryLedger):
    def record_decision(self, cluster: str, decision: DecisionRecord) -> None:
        raise UnavailableError(f"{cluster}: {decision.id} can't be stored")


def test_a_story_that_cannot_be_written_fails_no_run() -> None:
    desk = Desk(ledger=DownLedger())
    desk.record(Plan(unschedulable=waiting(0)))
    assert "can't be stored" in desk.observer.problems[0][2]


def test_a_cluster_that_takes_no_events_fails_no_run() -> None:
    desk = Desk()
    desk.cluster.reachable = False
    desk.record(Plan(unschedulable=waiting(0)))
    assert len(desk.decisions) == 1
    assert desk.observer.problems[0][1] == "decision"


def test_pods_that_are_not_there_are_told_in_numbers_and_to_nobody() -> None:
    desk = Desk()
    left = (Unschedulable(PodKey("default", "web-expected-9"), "LimitReached", "its limit is reached"),)
    expected = Foresight((Nomination("n", (PodKey("default", "web-expected-0"),)),), 2, 80_000_000, left)
    bought = replace(launch(0, 1), nodes=((key(0),), ()), expected=((), (PodKey("default", "web-expected-1"),)))
    desk.record(Plan((bought,), cost=80_000_000, expected=expected))
    (decision,) = desk.decisions
    assert decision.summary == "1 pods, 2 expected → 2 × m5.large spot at 0.08 USD/h"
    assert decision.details["expected"] == {
        "pods": 4,
        "onNodes": [{"node": "n", "pods": 1}],
        "bought": 2,
        "cost": "0.08",
        "unschedulable": [
            {"reason": "LimitReached", "message": "its limit is reached", "pods": ["default/web-expected-9"]}
        ],
    }
    assert decision.details["launches"][0]["expected"] == ["default/web-expected-1"]  # type: ignore[index]
    assert "headroom" not in decision.details
    assert desk.cluster.events == []


def test_headroom_that_has_its_room_is_not_worth_telling_and_headroom_that_lacks_it_is() -> None:
    desk = Desk()
    unit = PodKey("nodewright.dev", "default-headroom-0")
    desk.record(Plan(headroom=Foresight((Nomination("n", (unit,)),))))
    assert not desk.decisions
    desk.record(Plan(headroom=Foresight(left=(Unschedulable(unit, "LimitReached", "its limit is reached"),))))
    (decision,) = desk.decisions
    assert (decision.summary, "LimitReached" in str(decision.details["headroom"])) == ("nothing to do", True)
