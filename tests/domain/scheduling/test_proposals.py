"""What is bought anew beside nodes that are there."""

from dataclasses import replace

from nodewright.domain.nodes import HOSTNAME_LABEL
from nodewright.domain.plans import Plan, Unschedulable
from nodewright.domain.scheduling import Budget, solve
from nodewright.domain.scheduling.budget import Meter, never
from nodewright.domain.scheduling.proposals import better_plan
from nodewright.domain.scheduling.solving import proposed
from nodewright.domain.snapshot import Snapshot
from tests.builders import instance_type, options, pod, pods, room, snapshot, spread, term

TYPES = (instance_type("x.s"), instance_type("x.l", cpu="7910m", memory="15Gi", on_demand=4.0, spot=1.6))
APP = {"app": "w"}


def _as_is(plan: Plan) -> Plan:
    return plan


def _dear(plan: Plan) -> Plan:
    return replace(plan, cost=10 * plan.cost)


def test_a_pod_that_found_no_place_looks_again_at_the_nodes_bought_anew() -> None:
    late = pod("late", cpu="100m")
    here = snapshot(
        (*pods(9, "w", cpu="500m", labels=APP, spreads=(spread(labels=APP),)), late),
        rooms=(room("full", cpu=0),),
        pools=(options(types=TYPES),),
    )

    def careless(part: Snapshot) -> Plan:
        """Forgets one at first."""
        if part.pods != here.pods:
            return proposed(part, Budget(), never)
        others = tuple(each for each in here.pods if each != late)
        plan = _dear(proposed(replace(here, pods=others), Budget(), never))
        return replace(plan, unschedulable=(Unschedulable(late.key, "Forgotten", ""),))

    plan = better_plan(here, careless, _as_is, lambda: Meter(Budget(), never))

    assert not plan.unschedulable
    assert sorted(key for launch in plan.launches for node in launch.nodes for key in node) == sorted(
        each.key for each in here.pods
    )


def test_nothing_is_bought_for_a_pod_set_aside_beside_pods_packed_by_shape() -> None:
    aside = pod("aside", cpu="100m")
    spread_out = pods(9, "w", cpu="500m", labels=APP, spreads=(spread(labels=APP),))
    here = replace(
        snapshot((*spread_out, aside), pools=(options(types=TYPES),)), set_aside={aside.key: "its node comes back"}
    )

    plan = solve(here)

    assert [(each.pod, each.reason) for each in plan.unschedulable] == [(aside.key, "SetAside")]
    assert sum(len(node) for launch in plan.launches for node in launch.nodes) == 9


def test_what_one_by_one_spreads_better_is_packed_again_where_it_is() -> None:
    """50 pods, two a node, zones uneven by up to two: 25 nodes of the cheapest kind, not 26, nor one of a dearer."""
    types = (
        instance_type("x.s", cpu="940m", memory="1500Mi", pod_slots=8, on_demand=0.051, spot=None),
        instance_type("x.m", cpu="940m", memory="3500Mi", pod_slots=12, on_demand=0.067, spot=None),
    )
    apart = (spread(labels=APP, max_skew=2), spread(HOSTNAME_LABEL, labels=APP, max_skew=2))
    groups = [
        pods(5, name, cpu=cpu, memory=memory, labels={"app": name}, affinity=(term(labels={"app": name}),))
        for name, cpu, memory in (("d", "50m", "64Mi"), ("e", "100m", "256Mi"))
    ]
    small = (*pods(5, "s", cpu="10m", memory="128Mi"), *pods(20, "m", cpu="50m", memory="64Mi"))
    web = pods(50, "w", cpu="50m", memory="128Mi", labels=APP, spreads=apart)

    plan = solve(snapshot((*web, *groups[0], *groups[1], *small), pools=(options(types=types),)))

    assert not plan.unschedulable
    assert plan.cost == plan.bound == 25 * types[0].offerings[0].price
