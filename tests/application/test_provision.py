"""Pods become nodes: provision against a world in memory, the way it should go."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.adapters.memory import InMemoryLedger
from nodewright.application.errors import ConflictError, NotFoundError, UnavailableError
from nodewright.application.ports import ClusterState, FleetAnswer, FleetRequest
from nodewright.application.remembering import about_pool
from nodewright.domain.claims import LaunchRecord, NodeClaim
from nodewright.domain.limits import Limits
from nodewright.domain.usage import NO_LIMITS
from tests.application.provisioning import SMALL, SPOT, world
from tests.application.world import CLUSTER, MINUTE, NOW, PRICES, World, connected
from tests.builders import pod, pods

# ---- the way it should go ----


def test_a_cluster_without_nodes_gets_its_first() -> None:
    here = world(*pods(4, cpu="900m"))
    report = here.provision()
    assert (report.outcome, report.launched, report.unschedulable) == ("planned", 2, 0)
    here.assert_whole(4)
    assert [claim.instance_type for claim in here.claims] == ["m5.large", "m5.large"]
    assert {claim.price for claim in here.claims} == {PRICES["m5.large"][1]}


def test_without_waiting_pods_nothing_is_bought_nor_told() -> None:
    here = World()
    assert here.provision().outcome == "nothing-pending"
    assert (here.fleet.calls, here.ledger.decisions(CLUSTER, 10)) == ([], ())


def test_instances_carry_the_tags_by_which_they_are_found_again() -> None:
    here = world(pod())
    here.provision()
    (instance,) = here.fleet.ours(CLUSTER)
    assert instance.tags["karpenter.sh/nodepool"] == "default"
    assert instance.tags["karpenter.k8s.aws/ec2nodeclass"] == "default"
    assert instance.tags["kubernetes.io/cluster/prod"] == "owned"
    assert here.ledger.owner(instance.id) == (CLUSTER, here.claims[0].id)


def test_pods_bought_for_are_not_bought_for_again() -> None:
    here = world(*pods(4, cpu="900m"))
    here.provision()
    here.provision()
    here.join(ready=False)
    here.provision()
    here.assert_whole(4)
    assert len(here.fleet.calls) == 1


def test_a_pod_that_comes_later_uses_room_that_is_coming() -> None:
    here = world(pod("first", cpu="500m"))
    here.provision()
    here.cluster.add(pod("second", cpu="500m"))
    assert here.provision().launched == 0
    assert here.decided().startswith("2 pods to nodes that are there")


def test_a_decision_says_what_was_bought_and_why() -> None:
    here = world(*pods(4, cpu="900m"))
    here.provision()
    (decision,) = here.ledger.decisions(CLUSTER, 10)
    assert decision.summary == "4 pods → 2 × m5.large spot at 0.08 USD/h (at least 0.08: gap 0.0 %)"
    assert "m5.large at 0.04: the cheapest of 4 types that hold its pods" in str(decision.details["launches"])
    assert decision.kind == "provision"


def test_a_decision_keeps_what_really_came_and_its_price() -> None:
    """Planned on the cheapest; EC2 takes from the list what it has most of, and the claim has the price of that."""
    here = world(*pods(2, cpu="1500m"))
    plain = here.fleet.launch

    def launch(request: FleetRequest) -> FleetAnswer:
        answer = plain(request)
        first, *others = answer.instances
        return FleetAnswer((replace(first, instance_type="c5.large"), *others), answer.errors)

    here.fleet.launch = launch  # type: ignore[method-assign]
    here.provision()
    (decision,) = here.ledger.decisions(CLUSTER, 10)
    bought = {(each.instance_type, each.price) for each in here.claims}
    assert bought == {("m5.large", PRICES["m5.large"][1]), ("c5.large", PRICES["c5.large"][1])}
    told = [{**each, "zone": ""} for each in decision.details["bought"]]  # type: ignore[attr-defined]
    kind = {"pool": "default", "zone": "", "capacityType": "spot", "nodes": 1}
    assert told == [
        {**kind, "instanceType": "c5.large", "price": "0.045"},
        {**kind, "instanceType": "m5.large", "price": "0.04"},
    ]
    assert (decision.details["cost"], decision.details["boughtCost"]) == ("0.08", "0.085")
    (memory,) = [each.told for each in about_pool([decision], "default") if "c5.large," in each.told]
    assert memory.startswith("came as 1 × c5.large, spot, in us-east-1")


# ---- hints ----


def test_a_hint_delivered_twice_buys_once() -> None:
    here = world(*pods(4, cpu="900m"))
    sent = here.clock.now() + timedelta(milliseconds=200)
    here.clock.advance_to(sent)
    assert here.provision(sent).outcome == "planned"
    assert here.provision(sent).outcome == "stale-hint"
    assert len(here.fleet.calls) == 1


def test_a_hint_that_waited_behind_a_run_of_its_own_second_is_not_lost() -> None:
    here = World()
    sent = here.clock.now() + timedelta(milliseconds=100)
    here.clock.advance_to(sent + timedelta(milliseconds=300))
    here.provision()  # urgent, so it doesn't wait for the second to end
    here.cluster.add(pod(created=here.clock.now()))  # its own hint was merged into the one above
    assert here.provision(sent).launched == 1


def test_a_burst_is_planned_once() -> None:
    here = world(pod("early"))
    here.clock.advance_to(NOW + timedelta(milliseconds=100))
    late = pod("late", created=NOW + timedelta(milliseconds=800))
    original = here.clock.sleep

    def sleep(duration: timedelta) -> None:
        original(duration)
        here.cluster.add(late)

    here.clock.sleep = sleep  # type: ignore[method-assign]
    here.provision(here.clock.now())
    assert len(here.fleet.calls) == 1
    here.assert_whole(2)


def test_a_paused_cluster_is_left_alone() -> None:
    here = world(pod())
    here.ledger.put_cluster(connected(paused=True))
    assert here.provision().outcome == "paused"
    assert here.fuse.made == ["InMemoryLedger.cluster"]


def test_a_cluster_that_is_not_connected_is_named() -> None:
    here = world(pod())
    here.ledger.remove_cluster(CLUSTER)
    with pytest.raises(NotFoundError, match="nodewright connect prod"):
        here.provision()


@pytest.mark.parametrize("hinted", [True, False])
def test_a_cluster_that_does_not_answer_is_marked_and_skipped(hinted: bool) -> None:
    here = world(pod())
    here.cluster.reachable = False
    with pytest.raises(UnavailableError):
        here.provision(here.clock.now() if hinted else None)
    assert here.provision().outcome == "unreachable"
    here.cluster.reachable = True
    here.later(MINUTE)
    assert here.provision().launched == 1


def test_a_cluster_that_answers_too_busy_is_not_left_alone() -> None:
    here = world(pod())
    original = here.cluster.read

    def busy() -> ClusterState:
        raise UnavailableError("429 TooManyRequests")

    here.cluster.read = busy  # type: ignore[method-assign]
    with pytest.raises(UnavailableError):
        here.provision()
    here.cluster.read = original  # type: ignore[method-assign]
    assert here.provision().launched == 1


def test_before_the_first_refresh_the_missing_catalogue_is_named() -> None:
    here = world(pod())
    here.ledger = InMemoryLedger()
    here.ledger.put_cluster(connected())
    with pytest.raises(NotFoundError, match="catalogue lacks types, offerings: run the refresh function"):
        here.provision()


# ---- other planners ----


class ContestedLedger(InMemoryLedger):
    """Another planner is first, so many times."""

    conflicts = 0

    def reserve(
        self,
        cluster: str,
        epoch: int,
        launch: LaunchRecord,
        claims: Sequence[NodeClaim],
        limits: Mapping[str, Limits] = NO_LIMITS,
    ) -> None:
        if self.conflicts:
            self.conflicts -= 1
            raise ConflictError("another planner was first")
        super().reserve(cluster, epoch, launch, claims, limits)


def contested(conflicts: int) -> World:
    ledger = ContestedLedger()
    here = World(ledger=ledger)
    here.cluster.add(*pods(4, cpu="900m"))
    ledger.conflicts = conflicts
    return here


def test_when_another_planner_was_first_it_plans_again() -> None:
    here = contested(3)
    assert here.provision().launched == 2
    assert len(here.observer.plans) == 4
    here.assert_whole(4)


def test_when_others_are_first_each_time_another_hint_is_worth_it() -> None:
    here = contested(4)
    with pytest.raises(UnavailableError, match="other planners"):
        here.provision()
    assert (here.claims, here.fleet.calls) == ((), [])


# ---- time ----


def test_a_run_that_is_late_leaves_the_rest_to_another() -> None:
    here = world(*pods(2, cpu="1500m"), of=SMALL)
    original = here.fleet.launch

    def slow(request: FleetRequest) -> FleetAnswer:
        here.later(timedelta(seconds=75))
        return original(request)

    here.fleet.launch = slow  # type: ignore[method-assign]
    here.fleet.room = dict(SPOT)
    assert here.provision().outcome == "truncated"
    assert here.hinted("provision") == 1
    assert here.provision().launched == 2
    here.assert_whole(2)
