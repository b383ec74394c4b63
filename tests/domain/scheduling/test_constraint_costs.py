"""What a rule costs is the difference between two plans of the planner's own."""

from dataclasses import replace

import pytest

from nodewright.domain.host_ports import HostPort
from nodewright.domain.nodes import CAPACITY_TYPE_LABEL, HOSTNAME_LABEL, ZONE_LABEL
from nodewright.domain.pods import Owner, Pod
from nodewright.domain.requirements import Requirement
from nodewright.domain.scheduling import solve
from nodewright.domain.scheduling.constraint_costs import ConstraintCost, ConstraintCosts, constraint_costs
from nodewright.domain.snapshot import Snapshot
from nodewright.domain.topology import Preferences, PreferredNodes, Weighted
from tests.builders import USD, options, pod, pods, pool, requirements, room, snapshot, spread, term

W = {"app": "w"}
WEB = Owner("ReplicaSet", "web", "uid-web")
ON_DEMAND = options(pool("default", (CAPACITY_TYPE_LABEL, "In", "on-demand")))


def costs(world: Snapshot, most: int = 20) -> ConstraintCosts:
    return constraint_costs(world, solve(world), most=most)


def web(count: int = 3, /, **rules: object) -> tuple[Pod, ...]:
    return pods(count, "web", labels=W, owner=WEB, **rules)


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ({"spreads": (spread(),)}, "zone spread"),
        ({"spreads": (spread(HOSTNAME_LABEL),)}, "hostname spread"),
        ({"spreads": (spread("rack"),)}, None),
        ({"anti_affinity": (term(HOSTNAME_LABEL),)}, "hostname anti-affinity"),
        ({"anti_affinity": (term(),)}, "zone anti-affinity"),
        ({"host_ports": (HostPort(80),)}, "host ports"),
    ],
)
def test_one_node_each_costs_what_the_other_two_cost(rules: dict[str, object], told: str | None) -> None:
    """All three fit on one x.s for 1 USD."""
    if told is None:
        rack = options(pool("default", (CAPACITY_TYPE_LABEL, "In", "on-demand"), ("rack", "In", "1", "2", "3")))
        world, told = snapshot(web(3, **{"cpu": "300m", **rules}), pools=[rack]), "rack spread"
    else:
        world = snapshot(web(3, **{"cpu": "300m", **rules}), pools=[ON_DEMAND])
    assert costs(world).costs == (ConstraintCost("ReplicaSet default/web", told, 3, 2 * USD, 0),)


def test_each_label_that_nodes_must_have_is_a_rule_of_its_own() -> None:
    wanted = web(1, cpu=1, selector={CAPACITY_TYPE_LABEL: "on-demand", ZONE_LABEL: "b"})
    told = costs(snapshot(wanted))
    assert told.costs == (
        ConstraintCost(
            "ReplicaSet default/web", "only nodes with karpenter.sh/capacity-type In [on-demand]", 1, USD * 6 // 10, 0
        ),
        ConstraintCost("ReplicaSet default/web", "only nodes with topology.kubernetes.io/zone In [b]", 1, 0, 0),
    )


def test_a_rule_that_keeps_pods_waiting_counts_them_and_what_their_node_would_cost() -> None:
    stuck = pod("stuck", cpu=1, affinity=(term(labels={"app": "nobody"}),))
    assert costs(snapshot([stuck], pools=[ON_DEMAND])).costs == (
        ConstraintCost("Pod default/stuck", "zone affinity", 1, -USD, 1),
    )


def test_anti_affinity_of_bound_replicas_goes_with_that_of_the_waiting_ones() -> None:
    there = replace(web(2, cpu="100m", anti_affinity=(term(HOSTNAME_LABEL),))[1], node_name="n")
    waits = web(1, cpu="100m", anti_affinity=(term(HOSTNAME_LABEL),))
    near = room("n", labels={HOSTNAME_LABEL: "n"}, pods=(there,))
    (only,) = costs(snapshot(waits, rooms=[near], pools=[ON_DEMAND])).costs
    assert only.cost == USD


def test_volumes_and_preferences_are_rules_too() -> None:
    dear = options(pool("default", (CAPACITY_TYPE_LABEL, "In", "on-demand"), (ZONE_LABEL, "In", "a", "b")))
    soft = Preferences(nodes=(PreferredNodes(1, requirements((ZONE_LABEL, "In", "b"))),))
    wanted = web(1, cpu=1, volume_nodes=(requirements((ZONE_LABEL, "In", "a")),), preferences=soft)
    told = {each.rule: each.cost for each in costs(snapshot(wanted, pools=[dear])).costs}
    assert told == {"where its volumes are": 0, "preferences": 0}
    near = Preferences(affinity=(Weighted(1, term()),))
    assert [each.rule for each in costs(snapshot(web(1, preferences=near))).costs] == ["preferences"]
    assert [each.rule for each in costs(snapshot(web(1, spreads=(spread(hard=False),)))).costs] == ["preferences"]


def test_min_values_of_a_pool_are_a_rule() -> None:
    choosy = options(
        pool(
            "default",
            (CAPACITY_TYPE_LABEL, "In", "on-demand"),
            Requirement.of("node.kubernetes.io/instance-type", "Exists", min_values=9),
        )
    )
    assert costs(snapshot([pod(cpu=1)], pools=[choosy])).costs == (
        ConstraintCost("NodePool/default", "minValues 9 of node.kubernetes.io/instance-type", 0, -USD, 1),
    )


def test_the_largest_workloads_are_tried_and_the_rest_is_counted() -> None:
    small = pods(2, "small", cpu="100m", labels=W, spreads=(spread(),), owner=Owner("ReplicaSet", "small", "s"))
    large = pods(2, "large", cpu=1, labels=W, spreads=(spread(),), owner=Owner("ReplicaSet", "large", "l"))
    told = costs(snapshot((*small, *large)), most=1)
    assert [each.subject for each in told.costs] == ["ReplicaSet default/large"]
    assert told.skipped == 1


def test_a_pod_that_no_node_helps_is_asked_nothing() -> None:
    assert costs(snapshot(web(1, spreads=(spread(),), problems=("spec.x is not supported",)))).costs == ()


def test_pods_without_an_owner_belong_together_by_their_labels() -> None:
    alone = pods(3, "p", cpu="300m", labels=W, anti_affinity=(term(),))
    assert costs(snapshot(alone, pools=[ON_DEMAND])).costs == (
        ConstraintCost("Pods default/app=w", "zone anti-affinity", 3, 2 * USD, 0),
    )
