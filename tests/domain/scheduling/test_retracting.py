"""Plans without the pods that may not come to their nodes."""

from dataclasses import replace

from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod
from nodewright.domain.scheduling import solve
from nodewright.domain.scheduling.retracting import kept
from nodewright.domain.snapshot import Snapshot
from tests.builders import instance_type, options, pods, snapshot, term

WEB = {"app": "web"}
ONE = [instance_type("x.s", cpu="2", spot=None, on_demand=1.0)]


def world(*more: Pod) -> Snapshot:
    apart = pods(2, "web", cpu="1500m", labels=WEB, anti_affinity=(term(labels=WEB),))
    return snapshot([*apart, *more], pools=[options(types=ONE)])


def together(world: Snapshot) -> Plan:
    """The right plan, but for both of them in one zone."""
    plan = solve(world)
    first = plan.launches[0].offerings[0]
    return replace(plan, launches=tuple(replace(each, offerings=(first,)) for each in plan.launches))


def test_who_may_not_come_is_taken_out_and_told_what_keeps_him_out() -> None:
    here = world()
    plan = kept(here, together(here))
    assert plan.launches == ()
    assert {each.reason for each in plan.unschedulable} == {"WaitsForOthers"}
    assert all("pod anti-affinity over topology.kubernetes.io/zone" in each.message for each in plan.unschedulable)
    assert (plan.cost, plan.bound) == (0, 0)


def test_others_keep_their_nodes() -> None:
    here = world(*pods(2, "db", cpu="1500m"))
    plan = kept(here, together(here))
    assert {pod.name for launch in plan.launches for node in launch.nodes for pod in node} == {"db-0", "db-1"}
    assert plan.cost == solve(replace(here, pods=here.pods[2:])).cost


def test_what_was_proven_of_more_pods_is_not_said_of_fewer() -> None:
    small = pods(2, "db", cpu="400m")
    here = world(*small)
    before = together(here)
    plan = kept(here, before)
    assert plan.cost == before.cost
    assert plan.bound == solve(replace(here, pods=small)).cost < plan.cost
