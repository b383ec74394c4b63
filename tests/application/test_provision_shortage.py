"""Provision when EC2 has no capacity, is throttled or refuses."""

from datetime import timedelta

from nodewright.adapters.memory import InMemoryLedger, Mishap
from nodewright.application.errors import RefusedError, UnavailableError
from nodewright.application.ports import FleetAnswer, FleetError, FleetRequest, LaunchTemplateSpec
from tests.application.provisioning import ON_DEMAND, SMALL, SPOT, world
from tests.application.world import CLUSTER, ZONES, World, node_class
from tests.builders import pod, pods, pool

# ---- capacity that isn't there ----


def test_without_capacity_in_one_zone_the_same_run_buys_in_the_other() -> None:
    here = world(*pods(2, cpu="1500m"))
    here.fleet.room = {("m5.large", "us-east-1a", "spot"): 1, ("c5.large", "us-east-1a", "spot"): 0}
    assert here.provision().launched == 2
    assert {instance.zone for instance in here.running} == set(ZONES)
    here.assert_whole(2)


def test_when_spot_runs_out_the_same_run_buys_on_demand() -> None:
    here = world(*pods(4, cpu="900m"))
    here.fleet.room = dict(SPOT)
    report = here.provision()
    assert (report.outcome, report.launched) == ("planned", 2)
    assert {instance.capacity_type for instance in here.running} == {"on-demand"}
    here.assert_whole(4)
    assert "spot" in {offering.capacity_type for offering in here.ledger.unavailable_offerings(here.clock.now())}


def test_when_a_pool_runs_out_the_same_run_buys_from_the_next_by_weight() -> None:
    here = world(*pods(4, cpu="900m"))
    here.cluster.add(
        pool("first", ("karpenter.sh/capacity-type", "In", "spot"), weight=10),
        pool("second", ("karpenter.sh/capacity-type", "In", "on-demand"), weight=5),
    )
    del here.cluster.pools["default"]
    here.fleet.room = dict(SPOT)
    assert here.provision().launched == 2
    assert {claim.pool for claim in here.claims} == {"second"}
    here.assert_whole(4)


def test_of_a_partial_success_what_came_is_kept_and_the_rest_bought_elsewhere() -> None:
    here = world(*pods(6, cpu="1500m"), of=SMALL)
    here.fleet.room = dict.fromkeys(SPOT, 1)
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
    here.fleet.room = {**SPOT, **ON_DEMAND}
    report = here.provision()
    assert (report.outcome, report.launched, report.unschedulable) == ("planned", 0, 3)
    assert here.claims == ()
    assert here.hinted("provision") == 0
    assert "NoCapacity" in here.decided()
    assert {event.pod.name for event in here.cluster.events} == {"p-0", "p-1", "p-2"}
    assert "no capacity" in here.cluster.events[0].message


def test_a_search_for_capacity_that_takes_many_plans_goes_on_with_another_hint() -> None:
    here = world(*pods(3))
    here.fleet.room = {**SPOT, **ON_DEMAND}
    assert here.provision().outcome == "truncated"
    assert here.hinted("provision") == 1
    here.later(timedelta(seconds=1))
    assert here.provision().unschedulable == 3
    assert here.hinted("provision") == 1


def test_when_capacity_returns_it_is_bought() -> None:
    here = world(pod(), of=SMALL)
    here.fleet.room = {**SPOT, **ON_DEMAND}
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

    def settle_launch(self, *args: object, **kwargs: object) -> bool:
        if self.throttled:
            raise UnavailableError("the table is throttled")
        return super().settle_launch(*args, **kwargs)  # type: ignore[arg-type]


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
