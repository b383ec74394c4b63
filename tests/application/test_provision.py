"""Pods become nodes: provision against a world in memory, with what goes wrong outside."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.adapters.memory import InMemoryLedger, Mishap
from nodewright.application.errors import ConflictError, NotFoundError, RefusedError, UnavailableError
from nodewright.application.ports import ClusterState, FleetAnswer, FleetError, FleetRequest, LaunchTemplateSpec
from nodewright.application.reservations import LAUNCH_TIMEOUT, encode_request
from nodewright.domain.claims import ClaimState, LaunchRecord, NodeClaim
from nodewright.domain.nodeclasses import SelectorTerm
from nodewright.domain.pods import Pod
from nodewright.domain.pools import NodePool
from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.taints import Toleration
from sandbox.nodes.user_data import read
from tests.application.world import (
    CLUSTER,
    LEASE,
    MINUTE,
    NOW,
    PRICES,
    ZONES,
    KilledError,
    World,
    connected,
    node_class,
)
from tests.builders import node, pod, pods, pool, resources, taint

SPOT = {(name, zone, "spot"): 0 for name in PRICES for zone in ZONES}
ON_DEMAND = {(name, zone, "on-demand"): 0 for name in PRICES for zone in ZONES}
CAPACITY_TYPE = "karpenter.sh/capacity-type"
CPU = "karpenter.k8s.aws/instance-cpu"


#: Of two cores, so a pod of 1500m has a node to itself.
SMALL = pool("default", (CPU, "In", "2"))


def world(*waiting: Pod, of: NodePool | None = None) -> World:
    made = World()
    made.cluster.add(*waiting, of or pool())
    return made


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
    assert decision.summary == "4 pods → 2 × m5.large spot at 0.08 USD/h"
    assert decision.kind == "provision"


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


# ---- capacity that isn't there ----


def test_without_capacity_in_one_zone_the_same_run_buys_in_the_other() -> None:
    here = world(*pods(2, cpu="1500m"))
    here.fleet.room = {("m5.large", "us-east-1a", "spot"): 1, ("c5.large", "us-east-1a", "spot"): 0}
    assert here.provision().launched == 2
    assert {instance.zone for instance in here.running} == set(ZONES)
    here.assert_whole(2)


def test_when_spot_runs_out_the_same_run_buys_on_demand() -> None:
    here = world(*pods(4, cpu="900m"))
    here.fleet.room = dict(SPOT)  # type: ignore[arg-type]
    report = here.provision()
    assert (report.outcome, report.launched) == ("planned", 2)
    assert {instance.capacity_type for instance in here.running} == {"on-demand"}
    here.assert_whole(4)
    assert "spot" in {offering.capacity_type for offering in here.ledger.unavailable_offerings(here.clock.now())}


def test_when_a_pool_runs_out_the_same_run_buys_from_the_next_by_weight() -> None:
    here = world(*pods(4, cpu="900m"))
    here.cluster.add(
        pool("first", (CAPACITY_TYPE, "In", "spot"), weight=10),
        pool("second", (CAPACITY_TYPE, "In", "on-demand"), weight=5),
    )
    del here.cluster.pools["default"]
    here.fleet.room = dict(SPOT)  # type: ignore[arg-type]
    assert here.provision().launched == 2
    assert {claim.pool for claim in here.claims} == {"second"}
    here.assert_whole(4)


def test_of_a_partial_success_what_came_is_kept_and_the_rest_bought_elsewhere() -> None:
    here = world(*pods(6, cpu="1500m"), of=SMALL)
    here.fleet.room = dict.fromkeys(SPOT, 1)  # type: ignore[arg-type]
    assert here.provision().launched == 6
    here.assert_whole(6)
    came = [(claim.instance_type, claim.zone) for claim in here.claims if claim.capacity_type == "spot"]
    assert len(came) == len(set(came)) == 4


def test_offerings_tried_in_vain_do_not_cause_another_plan_when_everything_came() -> None:
    here = world(pod(cpu="1500m"))
    here.fleet.room = {("m5.large", "us-east-1a", "spot"): 0}
    here.provision()
    assert len(here.observer.plans) == 1
    cooling = here.ledger.unavailable_offerings(here.clock.now())
    assert [(o.instance_type, o.zone, o.capacity_type) for o in cooling] == [("m5.large", "us-east-1a", "spot")]


def test_without_any_capacity_the_reason_is_recorded_and_the_run_ends() -> None:
    here = world(*pods(3), of=SMALL)
    here.fleet.room = {**SPOT, **ON_DEMAND}  # type: ignore[dict-item]
    report = here.provision()
    assert (report.outcome, report.launched, report.unschedulable) == ("planned", 0, 3)
    assert here.claims == ()
    assert here.hinted("provision") == 0
    assert "NoCapacity" in here.decided()
    assert {event.pod.name for event in here.cluster.events} == {"p-0", "p-1", "p-2"}
    assert "no capacity" in here.cluster.events[0].message


def test_a_search_for_capacity_that_takes_many_plans_goes_on_with_another_hint() -> None:
    here = world(*pods(3))
    here.fleet.room = {**SPOT, **ON_DEMAND}  # type: ignore[dict-item]
    assert here.provision().outcome == "truncated"
    assert here.hinted("provision") == 1
    here.later(timedelta(seconds=1))
    assert here.provision().unschedulable == 3
    assert here.hinted("provision") == 1


def test_when_capacity_returns_it_is_bought() -> None:
    here = world(pod(), of=SMALL)
    here.fleet.room = {**SPOT, **ON_DEMAND}  # type: ignore[dict-item]
    here.provision()
    here.fleet.room = {}
    here.later(timedelta(minutes=4))
    assert here.provision().launched == 1


class StubbornFleet:
    """Refuses every launch for a reason that no other plan avoids."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.calls = 0

    def launch(self, request: FleetRequest) -> FleetAnswer:
        self.calls += 1
        return FleetAnswer((), (FleetError(self.code, "each time", capacity_type=request.capacity_type),))


def test_an_answer_that_another_plan_would_meet_again_ends_the_run() -> None:
    here = world(pod())
    stubborn = StubbornFleet("InvalidLaunchTemplateName.NotFoundException")
    here.fleet.launch = stubborn.launch  # type: ignore[method-assign]
    assert here.provision().launched == 0
    assert stubborn.calls == 2
    assert here.hinted("provision") == 0
    assert here.claims == ()


def test_a_hiccup_inside_an_answer_is_tried_again_soon() -> None:
    here = world(pod())
    here.fleet.launch = StubbornFleet("InternalError").launch  # type: ignore[method-assign]
    here.provision()
    assert here.hinted("provision") == 1
    assert here.claims == ()


# ---- throttles and refusals ----


def test_a_throttled_launch_is_asked_again_with_the_same_request() -> None:
    here = world(*pods(4, cpu="900m"))
    here.fleet.mishaps = [Mishap.THROTTLED, Mishap.ANSWER_LOST]
    assert here.provision().launched == 2
    assert len(here.fleet.calls) == 3
    assert len(set(map(repr, here.fleet.calls))) == 1
    here.assert_whole(4)


def test_a_launch_throttled_for_long_is_handed_back_and_finished_by_the_next_run() -> None:
    here = world(*pods(4, cpu="900m"))
    here.fleet.mishaps = [Mishap.THROTTLED] * 4
    assert here.provision().launched == 0
    assert here.hinted("provision") == 1
    assert "the next run finishes it" in here.problems()
    here.provision()  # at once: nobody works on it any more
    assert len({call.launch_id for call in here.fleet.calls}) == 1
    here.assert_whole(4)


def test_a_launch_whose_answer_is_lost_every_time_is_not_bought_twice() -> None:
    here = world(*pods(4, cpu="900m"))
    here.fleet.mishaps = [Mishap.ANSWER_LOST] * 4
    here.provision()
    assert len(here.running) == 2
    here.provision()
    assert len(here.running) == 2
    here.assert_whole(4)


def test_one_throttled_launch_does_not_keep_others_from_being_bought() -> None:
    here = world(pod("small", cpu="1500m"), pod("large", cpu="7"))
    here.fleet.mishaps = [Mishap.THROTTLED] * 4
    assert here.provision().launched == 1
    assert here.provision().outcome == "planned"
    here.assert_whole(2)


class RefusingLedger(InMemoryLedger):
    """Throttled when it should store what a launch brought."""

    throttled = True

    def settle_launch(self, *args: object, **kwargs: object) -> None:
        if self.throttled:
            raise UnavailableError("the table is throttled")
        super().settle_launch(*args, **kwargs)  # type: ignore[arg-type]


def test_when_what_came_cannot_be_stored_another_run_stores_it() -> None:
    here = World(ledger=RefusingLedger())
    here.cluster.add(*pods(4, cpu="900m"))
    here.provision()
    assert len(here.running) == 2
    assert here.hinted("provision") == 1
    assert isinstance(here.ledger, RefusingLedger)
    here.ledger.throttled = False
    here.wait_and_provision()
    assert len(here.running) == 2
    here.assert_whole(4)


def test_a_refused_launch_gives_its_claims_up_and_the_reason_is_recorded() -> None:
    here = world(pod())

    def refuse(request: FleetRequest) -> FleetAnswer:
        raise RefusedError(f"{request.launch_id}: UnauthorizedOperation: not allowed to ec2:CreateFleet")

    here.fleet.launch = refuse  # type: ignore[method-assign]
    assert here.provision().launched == 0
    assert here.claims == ()
    assert here.ledger.launches(CLUSTER) == ()
    assert "UnauthorizedOperation" in here.decided()
    assert here.hinted("provision") == 0


def test_a_class_whose_template_is_refused_keeps_no_other_from_launching() -> None:
    here = world(pod("a", selector={"team": "a"}), pod("b", selector={"team": "b"}))
    here.cluster.add(
        pool("pool-a", labels={"team": "a"}, node_class="long"),
        pool("pool-b", labels={"team": "b"}),
        node_class("long", user_data="#" * 20_000),
    )
    assert here.provision().launched == 1
    assert [claim.pool for claim in here.claims] == ["pool-b"]
    assert "EC2NodeClass/long" in here.decided()
    assert "shorten spec.userData" in here.decided()


def test_a_throttled_template_is_tried_again_by_another_hint() -> None:
    here = world(pod())
    original = here.fleet.ensure_template

    def throttled(spec: LaunchTemplateSpec) -> str:
        raise UnavailableError(f"template for {spec.image_id}: RequestLimitExceeded")

    here.fleet.ensure_template = throttled  # type: ignore[method-assign]
    here.provision()
    assert (here.claims, here.hinted("provision")) == ((), 1)
    here.fleet.ensure_template = original  # type: ignore[method-assign]
    here.provision()
    here.assert_whole(1)


# ---- killed ----


CALLS = 25  # more than a run that buys two launches makes


@pytest.mark.parametrize("calls", range(1, CALLS))
def test_killed_after_any_call_the_next_run_finishes_and_buys_nothing_twice(calls: int) -> None:
    waiting = (*pods(4, cpu="900m"), pod("large", cpu="6"))
    undisturbed, killed = world(*waiting), world(*waiting)
    undisturbed.provision()
    assert len(undisturbed.fuse.made) < CALLS
    killed.fuse.renew(calls)
    with suppress(KilledError):
        killed.provision()
    killed.wait_and_provision()
    killed.assert_whole(5)
    assert len(killed.running) == len(undisturbed.running)
    requests = {call.launch_id: call for call in killed.fleet.calls}
    assert all(call == requests[call.launch_id] for call in killed.fleet.calls)


@pytest.mark.parametrize("calls", range(1, CALLS))
def test_killed_again_while_finishing_nothing_is_bought_twice(calls: int) -> None:
    here = world(*pods(4, cpu="900m"), pod("large", cpu="6"))
    killed_at(here, "InMemoryFleet.launch")
    here.later(LEASE)
    here.fuse.renew(calls)
    with suppress(KilledError):
        here.provision()
    here.wait_and_provision()
    here.assert_whole(5)
    assert len(here.running) == 2


def test_killed_between_reservation_and_launch_the_same_request_is_sent_later() -> None:
    here = world(*pods(4, cpu="900m"))
    killed_at(here, "InMemoryLedger.reserve")
    (record,) = here.ledger.launches(CLUSTER)
    assert (here.fleet.calls, len(here.claims)) == ([], 2)
    here.wait_and_provision()
    assert [encode_request(call) for call in here.fleet.calls] == [record.request]
    here.assert_whole(4)


def test_killed_before_what_came_is_stored_the_same_request_finds_it() -> None:
    here = world(*pods(4, cpu="900m"))
    killed_at(here, "InMemoryFleet.launch")
    assert {claim.state for claim in here.claims} == {ClaimState.RESERVED}
    here.wait_and_provision()
    assert here.fleet.calls[0] == here.fleet.calls[1]
    assert len(here.running) == 2
    here.assert_whole(4)


def test_nobody_touches_a_launch_while_its_owner_may_live() -> None:
    here = world(*pods(4, cpu="900m"))
    killed_at(here, "InMemoryLedger.reserve")
    here.fuse.renew()
    here.later(LEASE - timedelta(seconds=1))
    here.provision()
    assert here.fleet.calls == []
    assert {claim.state for claim in here.claims} == {ClaimState.RESERVED}


def test_past_its_deadline_a_launch_is_given_up_and_its_pods_planned_anew_in_the_same_run() -> None:
    here = world(*pods(4, cpu="900m"))
    killed_at(here, "InMemoryLedger.reserve")
    given_up = {claim.id for claim in here.claims}
    here.fuse.renew()
    here.later(LAUNCH_TIMEOUT + timedelta(seconds=1))
    assert here.provision().launched == 2
    assert not given_up & {claim.id for claim in here.claims}
    here.assert_whole(4)


def test_past_its_deadline_what_a_launch_did_buy_is_kept() -> None:
    here = world(*pods(4, cpu="900m"))
    killed_at(here, "InMemoryFleet.launch")
    here.fuse.renew()
    here.later(LAUNCH_TIMEOUT + timedelta(seconds=1))
    here.provision()
    assert len(here.fleet.calls) == 1
    assert len(here.running) == 2
    here.assert_whole(4)


def test_an_instance_that_died_before_its_launch_was_finished_is_bought_anew() -> None:
    here = world(*pods(4, cpu="900m"))
    killed_at(here, "InMemoryFleet.launch")
    here.fleet.terminate([here.running[0].id])
    here.wait_and_provision()
    assert len(here.fleet.instances) == 3
    here.assert_whole(4)


def test_what_a_finished_launch_lacked_cools_down_and_is_bought_elsewhere_in_the_same_run() -> None:
    here = world(*pods(4, cpu="900m"), of=SMALL)
    killed_at(here, "InMemoryLedger.reserve")
    here.fleet.room = dict(SPOT)  # type: ignore[arg-type]
    here.wait_and_provision()
    assert {instance.capacity_type for instance in here.running} == {"on-demand"}
    assert len(here.observer.plans) == 2  # the killed run's, and one that knew of what cools down
    here.assert_whole(4)


def test_a_finished_launch_that_is_refused_is_planned_anew_in_the_same_run() -> None:
    here = world(*pods(4, cpu="900m"))
    killed_at(here, "InMemoryLedger.reserve")
    here.fleet.templates.clear()  # so EC2 refuses the old request
    here.wait_and_provision()
    assert "no launch template" in here.problems()
    here.assert_whole(4)


def killed_at(here: World, what: str) -> None:
    """Provision, killed right after its first call of this."""
    probe = world(*here.cluster.pods.values(), of=here.cluster.pools["default"])
    probe.provision()
    here.fuse.renew(probe.fuse.made.index(what) + 1)
    with pytest.raises(KilledError, match=what):
        here.provision()


# ---- what can't be launched ----


def test_a_pool_without_its_class_is_warned_of_while_others_launch() -> None:
    here = world(pod())
    here.cluster.add(pool("broken", node_class="absent", weight=10))
    assert here.provision().launched == 1
    told = here.decided()
    assert "NodePool/broken spec.template.spec.nodeClassRef.name: no EC2NodeClass 'absent'" in told
    assert "name one there is (default)" in told


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"subnet_terms": (SelectorTerm(id="subnet-x"),)}, "spec.subnetSelectorTerms: matches no subnet"),
        ({"security_group_terms": (SelectorTerm(id="sg-x"),)}, "spec.securityGroupSelectorTerms: matches no security"),
        ({"ami_terms": (SelectorTerm(id="ami-x"),)}, "spec.amiSelectorTerms: finds no image for Kubernetes 1.37"),
        ({"ami_family": "AL2"}, "spec.amiFamily: image family AL2 is not launched yet; use AL2023 or Bottlerocket"),
        ({"role": "unknown"}, "IAM has no role unknown: make it, or change spec.role"),
        ({"subnet_terms": (SelectorTerm(),)}, "says nothing to look for"),
    ],
)
def test_a_class_that_cannot_launch_is_warned_of_while_others_launch(changes: dict[str, object], told: str) -> None:
    here = world(pod())
    here.cluster.add(pool("broken", node_class="bad", weight=10), node_class("bad", **changes))
    assert here.provision().launched == 1
    assert [claim.pool for claim in here.claims] == ["default"]
    assert "EC2NodeClass/bad spec" in here.decided()
    assert told in here.decided()


def test_pods_that_only_a_broken_pool_could_host_are_told_of_it() -> None:
    here = world(pod())
    here.cluster.add(node_class(subnet_terms=(SelectorTerm(id="subnet-x"),)))
    report = here.provision()
    assert (report.launched, report.unschedulable) == (0, 1)
    assert "pool default" in here.cluster.events[0].message


def test_an_impossible_requirement_is_told_and_nothing_is_bought() -> None:
    here = world(pod(selector={"kubernetes.io/arch": "sparc"}), pod("fine"))
    report = here.provision()
    assert (report.launched, report.unschedulable) == (1, 1)
    (event,) = here.cluster.events
    assert (event.pod.name, event.reason) == ("p", "FailedScheduling")
    assert "kubernetes.io/arch" in event.message


def test_the_same_reasons_are_recorded_and_told_once() -> None:
    here = world(pod(cpu="500"))
    for _ in range(3):
        here.provision()
        here.later(MINUTE)
    assert len(here.ledger.decisions(CLUSTER, 10)) == 1
    assert here.cluster.events[0].count == 1


def test_a_changed_reason_is_recorded_again() -> None:
    here = world(pod(cpu="500"))
    here.provision()
    here.cluster.add(pool("another"))
    here.later(MINUTE)
    here.provision()
    assert len(here.ledger.decisions(CLUSTER, 10)) == 2


def test_a_purchase_is_recorded_each_time_though_it_looks_the_same() -> None:
    here = world(pod(cpu="1500m"))
    here.provision()
    here.fleet.terminate([here.running[0].id])
    here.ledger.save_claim(CLUSTER, replace(here.claims[0], state=ClaimState.GONE))
    here.later(MINUTE)
    here.provision()
    assert len(here.ledger.decisions(CLUSTER, 10)) == 2


def test_limits_are_kept_and_what_stays_waiting_is_told() -> None:
    here = world(*pods(6, cpu="1500m"))
    here.cluster.add(pool(limits=resources(cpu="4")))
    report = here.provision()
    assert (report.launched, report.unschedulable) == (2, 4)
    here.provision()
    assert len(here.running) == 2
    assert "LimitReached" in here.decided()


def test_what_is_reserved_counts_against_limits() -> None:
    here = world(*pods(2, cpu="1500m"))
    here.cluster.add(pool(limits=resources(cpu="4")))
    killed_at(here, "InMemoryLedger.reserve")
    here.fuse.renew()
    here.cluster.add(*pods(4, "q", cpu="1500m"))
    assert here.provision().launched == 0


def test_a_pod_nominated_by_somebody_else_is_left_alone_while_that_node_is_there() -> None:
    here = world(pod(nominated_node_name="elsewhere"))
    here.cluster.add(node("elsewhere", cpu="100m"))
    assert here.provision().launched == 0
    del here.cluster.nodes["elsewhere"]
    assert here.provision().launched == 1


# ---- other planners ----


class ContestedLedger(InMemoryLedger):
    """Another planner is first, so many times."""

    conflicts = 0

    def reserve(self, cluster: str, epoch: int, launch: LaunchRecord, claims: Sequence[NodeClaim]) -> None:
        if self.conflicts:
            self.conflicts -= 1
            raise ConflictError("another planner was first")
        super().reserve(cluster, epoch, launch, claims)


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
    here.fleet.room = dict(SPOT)  # type: ignore[arg-type]
    assert here.provision().outcome == "truncated"
    assert here.hinted("provision") == 1
    assert here.provision().launched == 2
    here.assert_whole(2)


# ---- labels and taints ----


def test_pods_that_read_a_type_label_get_it_from_user_data_and_other_values_another_template() -> None:
    wish = Requirements([Requirement.of(CPU, "In", ("2", "4"))])
    here = world(pod(cpu="1500m", terms=[wish]))
    here.cluster.add(pool("default", ("karpenter.k8s.aws/instance-family", "In", "m5")))
    here.fleet.room = {("m5.large", zone, "spot"): 0 for zone in ZONES}
    here.provision()
    for template in here.fleet.calls[0].templates:
        sizes = {override.instance_type for override in template.overrides}
        (size,) = sizes
        labels = read(here.fleet.templates[template.template_name].user_data, "al2023").labels
        assert labels[CPU] == {"m5.large": "2", "m5.xlarge": "4"}[size]


def test_a_label_that_kubelet_may_not_set_holds_pods_off_until_it_is_there() -> None:
    here = world(pod(selector={"example.kubernetes.io/disk": "fast"}))
    here.cluster.add(pool(labels={"example.kubernetes.io/disk": "fast"}))
    here.provision()
    (born,) = here.join()
    assert taint("karpenter.sh/unregistered", effect="NoExecute") in born.taints
    assert "example.kubernetes.io/disk" not in born.labels
    here.reconcile()
    (registered,) = here.cluster.nodes.values()
    assert registered.taints == ()
    assert registered.labels["example.kubernetes.io/disk"] == "fast"


def test_a_node_is_born_with_the_pools_labels_and_taints() -> None:
    dedicated, warming = taint("dedicated", "web"), taint("warming", effect="NoExecute")
    here = world(pod(tolerates=(Toleration("dedicated", "Exists"),)))
    here.cluster.add(pool(labels={"team": "web"}, taints=(dedicated,), startup_taints=(warming,)))
    here.provision()
    (born,) = here.join()
    assert born.taints == (dedicated, warming)
    assert born.labels["team"] == "web"
    assert born.labels["karpenter.sh/nodepool"] == "default"
    assert born.labels["karpenter.sh/capacity-type"] == "spot"


def test_a_label_its_pods_chose_is_on_the_node() -> None:
    here = world(pod("a", cpu="1500m", selector={"team": "a"}), pod("b", cpu="1500m", selector={"team": "b"}))
    here.cluster.add(pool("default", ("team", "In", "a", "b")))
    here.provision()
    born = {node.labels["team"]: node for node in here.join()}
    for claim in here.claims:
        (planned,) = claim.nominated_pods
        assert born[planned.name].instance_id == claim.instance_id
