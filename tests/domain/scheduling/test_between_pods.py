"""Rules between pods: the reference cases 5, 6 and 7, and what goes with them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from nodewright.domain.catalogue import InstanceType
from nodewright.domain.nodes import CAPACITY_TYPE_LABEL, HOSTNAME_LABEL, ZONE_LABEL
from nodewright.domain.plans import Plan
from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling import solve
from nodewright.domain.snapshot import Room
from tests import builders
from tests.builders import instance_type, offering, options, pod, pods, requirements, room, snapshot, spread, term

APP = {"app": "w"}
ARM = {"kubernetes.io/arch": "arm64"}
TWO_ZONES = builders.pool("main", (ZONE_LABEL, "In", "a", "b"))


def full(name: str, zone: str | None, *bound: Mapping[str, str], **overrides: object) -> Room:
    """A node without room, with pods of these labels."""
    there = tuple(pod(f"{name}-{number}", labels=labels, node_name=name) for number, labels in enumerate(bound))
    labels = {HOSTNAME_LABEL: name, **({} if zone is None else {ZONE_LABEL: zone})}
    return replace(room(name, cpu=0, labels=labels, pods=there), **overrides)  # type: ignore[arg-type]


def by_zone(plan: Plan) -> Counter[str]:
    """Pods on new nodes; every launch is to one zone."""
    found: Counter[str] = Counter()
    for launch in plan.launches:
        (zone,) = launch.zones
        found[zone] += sum(map(len, launch.nodes))
    return found


def together(plan: Plan) -> set[frozenset[str]]:
    """Names of the pods of each new node."""
    return {frozenset(key.name for key in node) for launch in plan.launches for node in launch.nodes}


def reasons(plan: Plan) -> dict[str, str]:
    return {each.pod.name: each.reason for each in plan.unschedulable}


class TestSpread:
    def test_replicas_are_apportioned_evenly_to_zones(self) -> None:
        plan = solve(snapshot(pods(7, labels=APP, spreads=(spread(),))))

        assert sorted(by_zone(plan).values()) == [2, 2, 3]
        assert plan.unschedulable == ()

    def test_a_third_pod_goes_to_either_of_two_domains_when_two_are_enough(self) -> None:
        waiting = pods(1, labels=APP, spreads=(spread(min_domains=2),))

        plan = solve(snapshot(waiting, rooms=[full("n", "a", APP), full("o", "b", APP)], pools=[options(TWO_ZONES)]))

        assert sum(by_zone(plan).values()) == 1

    def test_it_stays_pending_when_three_domains_are_needed_and_two_reachable(self) -> None:
        waiting = pods(1, labels=APP, spreads=(spread(min_domains=3),))

        plan = solve(snapshot(waiting, rooms=[full("n", "a", APP), full("o", "b", APP)], pools=[options(TWO_ZONES)]))

        assert plan.launches == ()
        assert plan.unschedulable[0].reason == "TopologySpread"
        assert "needs 3 zones, 2 reachable" in plan.unschedulable[0].message

    def test_zones_that_no_offering_is_in_are_no_domains_nor_are_nodes_without_the_label(self) -> None:
        stray = options(builders.pool("stray", (ZONE_LABEL, "In", "z")))
        waiting = pods(4, labels=APP, spreads=(spread(),))

        plan = solve(snapshot(waiting, rooms=[full("n", None)], pools=[options(TWO_ZONES), stray]))

        assert by_zone(plan) == {"a": 2, "b": 2}

    def test_zones_that_the_pod_rules_out_itself_count_only_with_affinity_policy_ignore(self) -> None:
        def plan(*, honors: bool) -> Plan:
            in_two = [requirements((ZONE_LABEL, "In", "a", "b"))]
            waiting = pods(4, labels=APP, spreads=(spread(honors_affinity=honors),), terms=in_two)
            return solve(snapshot(waiting, rooms=[full("old", "c")]))

        assert by_zone(plan(honors=True)) == {"a": 2, "b": 2}
        assert by_zone(plan(honors=False)) == {"a": 1, "b": 1}
        assert set(reasons(plan(honors=False)).values()) == {"TopologySpread"}

    def test_zones_of_tainted_nodes_count_only_with_taints_policy_ignore(self) -> None:
        def plan(*, honors: bool) -> Plan:
            waiting = pods(4, labels=APP, spreads=(spread(honors_taints=honors),))
            tainted = full("old", "c", taints=(builders.taint("dedicated"),))
            return solve(snapshot(waiting, rooms=[tainted], pools=[options(TWO_ZONES)]))

        assert by_zone(plan(honors=True)) == {"a": 2, "b": 2}
        assert by_zone(plan(honors=False)) == {"a": 1, "b": 1}

    def test_only_pods_of_the_new_revision_count(self) -> None:
        old, new = {"app": "api", "pod-template-hash": "old"}, {"app": "api", "pod-template-hash": "new"}
        rooms = [full("n", "a", old, old), full("o", "b", old, new), full("p", "c", new)]

        plan = solve(snapshot(pods(1, labels=new, spreads=(spread(labels=new),)), rooms=rooms))

        assert by_zone(plan) == {"a": 1}

    def test_pods_that_are_being_deleted_and_those_on_nodes_that_take_none_are_counted_as_kubernetes_does(self) -> None:
        leaving = full("n", "a", APP)
        leaving = replace(leaving, pods=tuple(replace(each, terminating=True) for each in leaving.pods))
        cordoned = full("o", "b", APP)

        plan = solve(
            snapshot(
                pods(1, labels=APP, spreads=(spread(),)),
                rooms=[leaving],
                bystanders=(cordoned,),
                pools=[options(TWO_ZONES)],
            )
        )

        assert by_zone(plan) == {"a": 1}

    def test_a_spread_over_hosts_caps_each_node(self) -> None:
        plan = solve(snapshot(pods(5, cpu="100m", labels=APP, spreads=(spread(HOSTNAME_LABEL, max_skew=2),))))

        assert sorted(map(len, together(plan))) == [1, 2, 2]

    def test_a_spread_over_capacity_types_buys_both(self) -> None:
        plan = solve(snapshot(pods(4, labels=APP, spreads=(spread(CAPACITY_TYPE_LABEL),))))

        assert {launch.capacity_type for launch in plan.launches} == {"spot", "on-demand"}
        assert plan.unschedulable == ()

    def test_a_spread_over_a_label_that_the_pool_leaves_open_chooses_its_values(self) -> None:
        teams = options(builders.pool("teams", ("team", "In", "red", "blue")))

        plan = solve(snapshot(pods(4, labels=APP, spreads=(spread("team"),)), pools=[teams]))

        assert sorted((each.labels["team"], sum(map(len, each.nodes))) for each in plan.launches) == [
            ("blue", 2),
            ("red", 2),
        ]

    def test_a_spread_over_pools_uses_each(self) -> None:
        two = [options(builders.pool("one")), options(builders.pool("two"))]

        plan = solve(snapshot(pods(4, labels=APP, spreads=(spread("karpenter.sh/nodepool"),)), pools=two))

        assert {launch.pool: sum(map(len, launch.nodes)) for launch in plan.launches} == {"one": 2, "two": 2}

    def test_a_key_that_nobody_has_is_a_reason_and_others_are_planned(self) -> None:
        plan = solve(snapshot((pod("odd", labels=APP, spreads=(spread("no/such"),)), pod("fine"))))

        assert reasons(plan) == {"odd": "TopologySpread"}
        assert together(plan) == {frozenset({"fine"})}

    def test_pods_that_a_spread_counts_but_doesnt_bind_leave_its_own_room(self) -> None:
        own = pods(3, "own", labels={"app": "x"}, spreads=(spread(),))
        counted = pods(4, "counted", labels=APP)

        plan = solve(snapshot((*own, *counted)))

        assert plan.unschedulable == ()

    def test_volumes_narrow_nodes_but_not_the_domains_of_a_spread(self) -> None:
        bound_volume = (requirements((ZONE_LABEL, "In", "b")),)
        waiting = pods(3, labels=APP, spreads=(spread(),), volume_nodes=bound_volume)

        plan = solve(snapshot(waiting, rooms=[full("n", "a"), full("o", "c")]))

        assert by_zone(plan) == {"b": 1}
        assert set(reasons(plan).values()) == {"TopologySpread"}

    def test_a_domain_that_other_pods_open_counts_where_it_is_not_filtered_out(self) -> None:
        dedicated = options(
            builders.pool("dedicated", (ZONE_LABEL, "In", "c"), taints=(builders.taint("dedicated"),), weight=10)
        )
        guest = pod("guest", selector={ZONE_LABEL: "c"}, tolerates=builders.EXISTS)
        waiting = pods(4, labels=APP, spreads=(spread(),))

        plan = solve(snapshot((*waiting, guest), pools=[options(TWO_ZONES), dedicated]))

        assert by_zone(plan) == {"a": 1, "b": 1, "c": 1}

    def test_a_zone_with_nothing_but_types_kept_back_is_opened_by_a_pod_that_evens_it_out(self) -> None:
        sold = [instance_type("x.m", offerings=[offering(zone) for zone in "bc"])]
        kept_back = instance_type("arm.m", labels=ARM, offerings=[offering(zone, price=0.5) for zone in "abc"])
        waiting = pods(6, labels=APP, spreads=(spread(labels=APP),))

        plan = solve(snapshot(waiting, rooms=[full("n", "old", APP)], pools=[options(types=[*sold, kept_back])]))

        assert by_zone(plan) == {"a": 2, "b": 2, "c": 2}


class TestNominated:
    def test_pods_stay_where_they_were_planned_whatever_the_order_in_which_their_rooms_are_looked_at(self) -> None:
        waiting = pods(6, labels=APP, spreads=(spread(),))
        keys = [each.key for each in waiting]
        coming = [
            room(f"n-{zone}", labels={ZONE_LABEL: zone}, nominated=tuple(keys[number::3]), initialized=False)
            for number, zone in enumerate("abc")
        ]

        plan = solve(snapshot(waiting, rooms=[room("idle", cpu=8, labels={ZONE_LABEL: "a"}), *coming]))

        assert {each.node: set(each.pods) for each in plan.nominations} == {
            each.name: set(each.nominated) for each in coming
        }


class TestAffinity:
    def test_a_group_goes_to_the_zone_where_one_of_it_is(self) -> None:
        plan = solve(snapshot(pods(3, labels=APP, affinity=(term(),)), rooms=[full("n", "b", APP)]))

        assert by_zone(plan) == {"b": 3}

    def test_a_new_group_goes_to_one_zone_together(self) -> None:
        plan = solve(snapshot(pods(9, labels=APP, affinity=(term(),))))

        assert sorted(by_zone(plan).values()) == [9]

    def test_a_new_group_goes_where_all_of_it_fits(self) -> None:
        zonal = [options(builders.pool("main"), [_small("x.s", "a", 0.1), _small("x.b", "b", 1.0, cpu="8")])]
        waiting = (*pods(1, "large", cpu="4", labels=APP, affinity=(term(),)), *pods(3, labels=APP, affinity=(term(),)))

        plan = solve(snapshot(waiting, pools=zonal))

        assert by_zone(plan) == {"b": 4}

    def test_a_group_on_one_host_gets_a_node_that_holds_it(self) -> None:
        plan = solve(snapshot(pods(6, labels=APP, affinity=(term(HOSTNAME_LABEL),)), rooms=[room("n", cpu="1")]))

        assert len(together(plan)) == 1
        assert plan.nominations == ()

    def test_a_chain_is_planned_in_one_go_whatever_the_order_of_names(self) -> None:
        chain = [
            pod("a", labels={"app": "a"}, affinity=(term(labels={"app": "b"}),)),
            pod("b", labels={"app": "b"}, affinity=(term(labels={"app": "c"}),)),
            pod("c", labels={"app": "c"}),
        ]

        plan = solve(snapshot(chain))

        assert plan.unschedulable == ()
        assert len(by_zone(plan)) == 1

    def test_affinities_in_a_circle_are_a_reason_and_others_are_planned(self) -> None:
        circle = [
            pod("a", labels={"app": "a"}, affinity=(term(labels={"app": "b"}),)),
            pod("b", labels={"app": "b"}, affinity=(term(labels={"app": "a"}),)),
        ]

        plan = solve(snapshot((*circle, pod("fine"))))

        assert reasons(plan) == {"a": "PodAffinity", "b": "PodAffinity"}
        assert together(plan) == {frozenset({"fine"})}

    def test_a_selector_that_matches_nothing_is_a_reason_that_says_what_it_selects(self) -> None:
        plan = solve(snapshot((pod("a", affinity=(term(labels={"app": "nobody"}),)),)))

        assert plan.unschedulable[0].reason == "PodAffinity"
        assert "app In [nobody] in namespace default" in plan.unschedulable[0].message

    def test_pods_that_are_where_it_cant_go_are_told_with_where_they_are(self) -> None:
        plan = solve(snapshot((pod("a", affinity=(term(),)),), rooms=[full("n", "z", APP)]))

        assert "are in topology.kubernetes.io/zone z, where it can't go" in plan.unschedulable[0].message


class TestAntiAffinity:
    def test_pods_that_repel_each_other_get_a_node_each_and_others_fill_these(self) -> None:
        alone = pods(3, "alone", labels=APP, anti_affinity=(term(HOSTNAME_LABEL),))

        plan = solve(snapshot((*alone, *pods(3, "plain"))))

        assert sorted(len([name for name in node if name.startswith("alone")]) for node in together(plan)) == [1, 1, 1]
        assert plan.cost == round(1.2 * builders.USD)

    def test_one_pod_a_zone(self) -> None:
        plan = solve(snapshot(pods(4, labels=APP, anti_affinity=(term(),))))

        assert sorted(by_zone(plan).values()) == [1, 1, 1]
        assert list(reasons(plan).values()) == ["PodAntiAffinity"]

    def test_bound_pods_keep_others_away_also_from_nodes_that_take_none(self) -> None:
        guard = pod("guard", anti_affinity=(term(),), node_name="n")
        cordoned = room("n", cpu=0, labels={ZONE_LABEL: "a"}, pods=(guard,))

        plan = solve(snapshot(pods(1, labels=APP), bystanders=(cordoned,), pools=[options(TWO_ZONES)]))

        assert by_zone(plan) == {"b": 1}

    def test_pending_pods_keep_others_away_too(self) -> None:
        guard = pod("guard", cpu="1", anti_affinity=(term(HOSTNAME_LABEL),))

        plan = solve(snapshot((guard, *pods(2, labels=APP, cpu="100m"))))

        assert together(plan) == {frozenset({"guard"}), frozenset({"p-0", "p-1"})}

    def test_a_daemon_sets_pods_repel_and_are_repelled(self) -> None:
        agent = replace(builders.daemon_set(), labels=APP)
        agent = replace(agent, key=PodKey("default", "agent"))

        plan = solve(snapshot(pods(1, anti_affinity=(term(HOSTNAME_LABEL),)), daemon_sets=[agent]))

        assert plan.launches == ()


def _small(name: str, zone: str, price: float, cpu: str = "2") -> InstanceType:
    return builders.instance_type(name, cpu=cpu, memory="16Gi", offerings=[builders.offering(zone, "on-demand", price)])
