"""A shape that kube-scheduler never binds costs what the ladder allows, and no more (architecture §4, rule 7)."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.adapters.memory import InMemoryLedger
from nodewright.adapters.memory.kube_scheduler import KubeScheduler, Scheduled
from nodewright.application.errors import ConflictError, OutsideError, UnavailableError
from nodewright.domain.nodes import Node
from nodewright.domain.pods import Owner, Pod, PodKey
from nodewright.domain.retiring import begin
from nodewright.domain.set_aside import ShapeAside, shape_key
from tests.application.disrupting import DAY, HOUR, MINUTE, Scene, small, web
from tests.application.world import CLUSTER

SAYS = "0/1 nodes are available: 1 Insufficient memory."
#: From a node's purchase until it is judged: it joins, is seen, has a minute, is seen again. Between two looks are a
#: minute and the second of its hint that provision waits for.
JUDGED = 3 * (MINUTE + timedelta(seconds=1))


class Refusing(KubeScheduler):
    """Binds no pod whose name begins so, for a reason no plan knows of."""

    refused = "stuck"

    def schedule(self, nodes: Iterable[Node], pods: Iterable[Pod]) -> Scheduled:
        done = super().schedule(nodes, [each for each in pods if not each.key.name.startswith(self.refused)])
        return Scheduled(done.bound, done.failed)


class Stuck(Scene):
    """A pod that runs, and others that no node is good enough for."""

    def __init__(self, *waiting: Pod) -> None:
        super().__init__(*web(), of=small())
        self.scheduler = self.refusing = Refusing()
        self.before = set(self.world.fleet.instances)
        self.add(*(waiting or stuck()))

    def add(self, *waiting: Pod) -> None:
        self.replicas += len(waiting)
        self.world.cluster.add(*(replace(each, created=self.world.clock.now()) for each in waiting))
        self.world.provision()

    def settle(self) -> None:
        """Kubelets start what was bound."""
        super().settle()
        pods = tuple(self.world.cluster.pods.values())
        self.world.cluster.add(
            *(replace(p, started=self.world.clock.now()) for p in pods if p.node_name and not p.started)
        )

    @property
    def moments(self) -> list[timedelta]:
        """When nodes were bought, since the first."""
        made = sorted(i.launched for i in self.bought if i.id not in self.before and i.launched is not None)
        return [each - made[0] for each in made]

    @property
    def pauses(self) -> list[timedelta]:
        return [later - earlier for earlier, later in zip(self.moments, self.moments[1:], strict=False)]

    @property
    def brakes(self) -> list[str]:
        return [message for _, brake, message in self.world.observer.brakes if brake == "set-aside"]


def stuck(count: int = 1, name: str = "stuck", owner: str = "rs", **changes: object) -> tuple[Pod, ...]:
    of = Owner("ReplicaSet", owner, owner)
    return web(count, name, owner=of, unschedulable=True, unschedulable_message=SAYS, **changes)


def failing(here: Stuck) -> ShapeAside:
    (shape,) = here.world.ledger.shapes_aside(CLUSTER)
    return shape


def events(here: Stuck) -> list[str]:
    return [event.message for event in here.world.cluster.events if event.message.startswith("SetAside: ")]


def test_two_nodes_are_bought_then_none_for_5_10_20_40_and_ever_60_minutes_and_no_more_in_a_day() -> None:
    here = Stuck()
    here.live(DAY)
    ladder = [5, 10, 20, 40] + [60] * 50
    assert here.pauses[1:] == sorted(here.pauses[1:])
    for pause, minutes in zip(here.pauses[1:], ladder, strict=False):
        assert timedelta(minutes=minutes) <= pause <= timedelta(minutes=minutes) + JUDGED
    assert len(here.moments) == 27
    assert [each.node_name for each in here.world.claims] == [here.node_of("web-0")]


def test_nobody_is_stopped_before_a_second_node_was_bought_in_vain() -> None:
    here = Stuck()
    here.live(5 * MINUTE)
    assert (failing(here).failures, here.brakes, events(here)) == (1, [], [])


def test_who_is_set_aside_is_told_at_once_and_so_is_whoever_watches() -> None:
    here = Stuck()
    here.live(10 * MINUTE)
    (told,) = events(here)
    assert told.startswith("SetAside: 2 nodes were bought in vain")
    assert told.endswith(f"kube-scheduler says: {SAYS}")
    assert here.brakes == [f"default/stuck-0: {told.removeprefix('SetAside: ')}"]


def test_a_pause_is_a_decision_with_its_reason() -> None:
    here = Stuck()
    here.live(25 * MINUTE)
    assert "'reason': 'SetAside', 'message': '3 nodes were bought in vain" in here.world.decided()
    assert "'pods': ['default/stuck-0']" in here.world.decided()


def test_a_binding_begins_anew() -> None:
    here = Stuck()
    here.live(30 * MINUTE)
    assert len(here.moments) == 4
    here.refusing.refused = "nobody"
    here.live(30 * MINUTE)
    assert here.node_of("stuck-0")
    here.refusing.refused = "stuck-1"
    bought = len(here.moments)
    here.add(*stuck(2)[1:])
    here.live(8 * MINUTE)
    assert len(here.moments) == bought + 2, "two in vain again, before the first pause"
    assert failing(here).failures == 1


def test_a_shape_of_which_one_is_bound_is_bought_for_though_it_was_set_aside() -> None:
    here = Stuck()
    here.live(30 * MINUTE)
    assert failing(here).is_aside(here.world.clock.now())
    here.refusing.refused = "stuck-0"
    (late,) = stuck(2)[1:]
    here.replicas += 1
    here.world.cluster.add(replace(late, node_name=here.node_of("web-0"), started=here.world.clock.now()))
    bought = len(here.moments)
    here.live(5 * MINUTE)
    assert len(here.moments) == bought + 1, "as soon as the last one is gone"


def test_others_are_bought_for_while_a_shape_is_set_aside() -> None:
    here = Stuck()
    here.live(30 * MINUTE)
    bought = len(here.moments)
    here.add(*web(2, "fine"))
    assert len(here.moments) == bought + 2


def test_a_pod_that_is_set_aside_takes_room_that_is_there() -> None:
    here = Stuck()
    here.live(30 * MINUTE)
    here.empty("web-0")
    plan = here.world.provision()
    assert (plan.launched, plan.unschedulable) == (0, 0)


def test_nodes_bought_at_once_for_many_pods_are_one_failure() -> None:
    here = Stuck(*stuck(4))
    here.live(5 * MINUTE)
    assert (failing(here).failures, failing(here).nodes, len(here.moments)) == (1, 4, 4)
    here.live(4 * MINUTE)
    assert (failing(here).failures, failing(here).nodes, len(events(here))) == (2, 8, 4)


def test_pods_of_another_owner_are_another_shape() -> None:
    here = Stuck()
    here.live(30 * MINUTE)
    bought = len(here.moments)
    here.add(*stuck(1, "stuck-other", "other"))
    assert len(here.moments) == bought + 1


def test_pods_that_run_on_a_node_that_is_taken_are_bought_for_whatever_became_of_others_like_them() -> None:
    here = Stuck(*web(1, "stuck"))
    here.live(40 * MINUTE)
    assert failing(here).is_aside(here.world.clock.now())
    taken = begin(here.claim_of(here.node_of("web-0")), "spot-interruption", here.world.clock.now())
    assert taken is not None
    here.world.ledger.save_claim(CLUSTER, taken)
    report = here.world.provision()
    assert (report.launched, report.unschedulable) == (1, 1)
    assert here.world.claims[-1].nominated_pods == (PodKey("default", "web-0"),)


def test_a_replacement_is_bought_for_the_pods_of_its_node_and_none_that_is_set_aside() -> None:
    here = Scene(*web(), of=small(expire_after=DAY))
    here.world.later(25 * HOUR)
    here.world.reconcile()
    now = here.world.clock.now()
    (waiting,) = stuck(cpu="100m")
    here.world.cluster.add(replace(waiting, created=now))
    aside = ShapeAside(shape_key(waiting), failures=3, nodes=3, changed=now, until=now + 10 * MINUTE)
    here.world.ledger.save_shape_aside(CLUSTER, aside)
    assert here.disrupt().launched == 1
    assert [claim.nominated_pods for claim in here.world.claims] == [(PodKey("default", "web-0"),)] * 2


def test_a_table_that_does_not_answer_keeps_nothing_else_from_being_done(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Stuck()
    _break(monkeypatch, UnavailableError("throttled"))
    here.live(10 * MINUTE, disrupts=False)
    assert "throttled; the next run tries again" in here.world.problems()
    monkeypatch.undo()
    here.live(MINUTE, disrupts=False)
    assert failing(here).failures == 1


def test_of_two_runs_that_count_the_same_one_tells_it(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Stuck()
    here.live(7 * MINUTE)
    _break(monkeypatch, ConflictError("another run was first"))
    here.live(3 * MINUTE)
    assert (here.brakes, events(here), here.world.problems()) == ([], [], "")


def test_nothing_is_read_where_every_pod_is_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Scene(*web(), of=small())
    monkeypatch.setattr(InMemoryLedger, "shapes_aside", None)
    here.live(2 * HOUR)


def _break(monkeypatch: pytest.MonkeyPatch, error: OutsideError) -> None:
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(InMemoryLedger, "save_shape_aside", refuse)
