"""Pods under simple rules packed by shape: the rules hold, and the price is that of the best small plans."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodewright.domain.host_ports import HostPort
from nodewright.domain.nodes import HOSTNAME_LABEL, ZONE_LABEL
from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod
from nodewright.domain.scheduling import AT_ONCE, Budget, solve
from nodewright.domain.scheduling.budget import Meter, never
from nodewright.domain.scheduling.entangled import tangle
from nodewright.domain.scheduling.grouped import Planner, grouped
from nodewright.domain.scheduling.joint import JointPlan
from nodewright.domain.scheduling.retracting import kept
from nodewright.domain.scheduling.shapes import Waiting, group
from nodewright.domain.scheduling.solving import proposed
from nodewright.domain.scheduling.verifying import unkept
from nodewright.domain.snapshot import Room, Snapshot
from tests.builders import USD, instance_type, offering, options, pod, pods, pool, room, snapshot, spread, term
from tests.oracle import check

APP = {"app": "w"}
LARGE = instance_type("x.l", cpu="7910m", memory="15Gi", on_demand=4.0, spot=1.6)
TYPES = (
    instance_type("x.s"),
    instance_type("x.m", cpu="3920m", memory="7Gi", on_demand=2.0, spot=0.8),
    LARGE,
)


def world(*waiting: Pod, rooms: Iterable[Room] = (), bystanders: tuple[Room, ...] = ()) -> Snapshot:
    return snapshot(waiting, rooms=rooms, pools=(options(pool(), TYPES),), bystanders=bystanders)


def _nobody(part: Snapshot) -> Plan:
    raise AssertionError(part.pods)


def plan_of(here: Snapshot, budget: Budget = AT_ONCE, careful: Planner | None = None) -> Plan | None:
    """None where nothing is simple."""
    sorted_out = tangle(here, here.pods)
    if not sorted_out.kinds:
        return None
    free = group(sorted_out.free)
    meter = Meter(budget, never)
    scene = JointPlan(here, sorted_out, Waiting(free), meter).scene
    return grouped(here, scene, free, meter, careful or (lambda part: proposed(part, budget, never)))


def must(here: Snapshot, budget: Budget = AT_ONCE, careful: Planner | None = None) -> Plan:
    plan = plan_of(here, budget, careful)
    assert plan is not None
    return plan


def zones(plan: Plan, of: str) -> Counter[str]:
    """Pods by zone, of those whose name begins so."""
    found: Counter[str] = Counter()
    for launch in plan.launches:
        for node in launch.nodes:
            many = sum(key.name.startswith(of) for key in node)
            if many:
                (zone,) = launch.zones
                found[zone] += many
    return found


def on_nodes(plan: Plan, of: str) -> list[int]:
    counts = [sum(key.name.startswith(of) for key in node) for launch in plan.launches for node in launch.nodes]
    return sorted(count for count in counts if count)


class TestDomains:
    def test_pods_under_their_own_spread_go_evenly_to_all_zones(self) -> None:
        here = world(*pods(10, "w", labels=APP, spreads=(spread(),)))

        assert sorted(zones(must(here), "w").values()) == [3, 3, 4]

    def test_two_sizes_under_one_spread_are_counted_together(self) -> None:
        small = pods(5, "small", labels=APP, spreads=(spread(),), cpu="100m")
        large = pods(4, "large", labels=APP, spreads=(spread(),), cpu="1500m")

        assert sorted(zones(must(world(*small, *large)), "").values()) == [3, 3, 3]

    def test_pods_that_are_there_count(self) -> None:
        there = room("n", labels={ZONE_LABEL: "a"}, pods=pods(3, "old", labels=APP))
        here = world(*pods(3, "w", labels=APP, spreads=(spread(),)), bystanders=(there,))

        assert set(zones(must(here), "w")) <= {"b", "c"}

    def test_a_group_that_has_to_be_together_goes_where_it_costs_least(self) -> None:
        prices = {"a": 1.0, "b": 0.7, "c": 0.9}
        sold = [offering(zone, price=price) for zone, price in prices.items()]
        here = snapshot(
            pods(4, "w", labels=APP, affinity=(term(labels=APP),)),
            pools=(options(pool(), [instance_type(offerings=sold)]),),
        )

        assert set(zones(must(here), "w")) == {"b"}

    def test_and_where_one_of_them_is_already(self) -> None:
        there = room("n", labels={ZONE_LABEL: "c"}, pods=pods(1, "old", labels=APP))
        here = world(*pods(4, "w", labels=APP, affinity=(term(labels=APP),)), bystanders=(there,))

        assert set(zones(must(here), "w")) == {"c"}

    def test_where_a_spread_counts_others_its_own_have_a_zone_for_themselves(self) -> None:
        own = pods(4, "own", labels={"app": "own"}, spreads=(spread(labels=APP),))
        mine = pods(3, "mine", labels=APP, spreads=(spread(labels=APP),))
        others = pods(9, "others", labels=APP)
        plan = must(world(*own, *mine, *others))
        (home,) = zones(plan, "own")

        assert set(zones(plan, "mine")) == {home}
        assert home not in zones(plan, "others")
        assert min(zones(plan, "others").values()) >= 2

    def test_where_too_few_others_would_never_wait_the_careful_path_decides(self) -> None:
        mine = pods(5, "mine", labels=APP, spreads=(spread(labels=APP),))

        assert plan_of(world(*mine, pod("other", labels=APP))) is None

    def test_zone_anti_affinity_is_not_simple(self) -> None:
        assert plan_of(world(*pods(2, "w", labels=APP, anti_affinity=(term(labels=APP),)))) is None


class TestHosts:
    def test_pods_that_repel_each_other_share_their_nodes_with_others(self) -> None:
        alone = pods(4, "alone", labels=APP, anti_affinity=(term(HOSTNAME_LABEL, APP),), cpu="900m", memory="64Mi")
        fillers = pods(4, "filler", cpu="900m", memory="64Mi")
        plan = must(world(*alone, *fillers))

        assert on_nodes(plan, "alone") == [1, 1, 1, 1]
        assert plan.cost == round(4 * 0.4 * USD)

    def test_a_spread_over_hosts_lets_max_skew_of_its_pods_on_a_node(self) -> None:
        rules = (spread(HOSTNAME_LABEL, APP, max_skew=2),)
        plan = must(world(*pods(6, "w", labels=APP, spreads=rules, cpu="100m", memory="64Mi")))

        assert on_nodes(plan, "w") == [2, 2, 2]

    def test_pods_that_mind_only_others_labels_are_seated_apart_from_them(self) -> None:
        rules = (spread(HOSTNAME_LABEL, APP),)
        choosy = pods(6, "choosy", spreads=rules, cpu="400m", memory="64Mi")
        minded = pods(6, "minded", labels=APP, cpu="400m", memory="64Mi")
        plan = must(world(*choosy, *minded))

        assert unkept(world(*choosy, *minded), plan) == {}
        assert not plan.unschedulable

    def test_wanted_at_once_those_who_find_no_seat_have_nodes_of_their_own(self) -> None:
        """Nobody looks for room among all the others, which is what takes time."""
        minding = pod("minding", labels=APP, spreads=(spread(HOSTNAME_LABEL, {"app": "x"}),), cpu="1500m")
        here = world(minding, *pods(3, labels={"app": "x"}, cpu="1500m"))
        quick, whole = must(here, careful=_nobody), must(here, Budget())

        assert not quick.unschedulable
        assert not unkept(here, quick)
        assert len([node for launch in quick.launches for node in launch.nodes]) == 2
        assert whole.cost <= quick.cost

    def test_no_made_up_resource_is_left_in_a_launch(self) -> None:
        plan = must(world(*pods(3, "w", labels=APP, anti_affinity=(term(HOSTNAME_LABEL, APP),))))

        assert {name for launch in plan.launches for name in launch.requests} == {"cpu", "memory", "pods"}

    def test_how_many_a_node_may_hold_is_part_of_the_bound(self) -> None:
        plan = must(world(*pods(5, "w", labels=APP, anti_affinity=(term(HOSTNAME_LABEL, APP),), cpu="10m")))

        assert plan.bound == plan.cost == round(5 * 0.4 * USD)


def cheapest(groups: Sequence[tuple[int, int]], per_node: Sequence[bool]) -> float:
    """By trying all: `groups` of (pods, millicores), some of which repel their own kind; types as in TYPES, spot."""
    sizes = {0: 0.0, 1930: 0.4, 3920: 0.8, 7910: 1.6}

    def price(load: int) -> float:
        return next((cost for room_, cost in sorted(sizes.items()) if load <= room_), float("inf"))

    known: dict[tuple[int, ...], float] = {}

    def best(left: tuple[int, ...]) -> float:
        if not any(left):
            return 0.0
        if left not in known:
            first = next(at for at, many in enumerate(left) if many)
            choices = [range(min(many, 1 if per_node[at] else many) + 1) for at, many in enumerate(left)]
            known[left] = min(
                price(sum(n * groups[at][1] for at, n in enumerate(content)))
                + best(tuple(many - n for many, n in zip(left, content, strict=True)))
                for content in itertools.product(*choices)
                if content[first]
            )
        return known[left]

    return best(tuple(many for many, _ in groups))


@settings(deadline=None, max_examples=25)
@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.sampled_from((300, 900, 1400, 2500)), st.booleans()), min_size=1, max_size=3
    )
)
def test_small_plans_with_pods_that_repel_each_other_cost_the_least_there_is(
    drawn: list[tuple[int, int, bool]],
) -> None:
    waiting: list[Pod] = []
    for number, (many, cpu, apart) in enumerate(drawn):
        labels = {"app": f"g{number}"}
        rules = (term(HOSTNAME_LABEL, labels),) if apart else ()
        waiting += pods(many, f"g{number}", labels=labels, anti_affinity=rules, cpu=f"{cpu}m", memory="16Mi")
    here = world(*waiting)

    least = cheapest([(many, cpu) for many, cpu, _ in drawn], [apart for _, _, apart in drawn])
    assert solve(here).cost == pytest.approx(least * USD)


@st.composite
def deployments(draw: st.DrawFn) -> tuple[Pod, ...]:
    """Pods of several workloads with simple rules, some of which select each other's."""
    waiting: list[Pod] = []
    for number in range(draw(st.integers(1, 6))):
        labels = {"app": draw(st.sampled_from("uvw"))}
        asked = {"app": draw(st.sampled_from("uvw"))}
        several: tuple[dict[str, object], ...] = (
            {},
            {"spreads": (spread(labels=asked),)},
            {"spreads": (spread(labels=labels, max_skew=2),)},
            {"spreads": (spread(HOSTNAME_LABEL, asked),)},
            {"spreads": (spread(labels=labels), spread(HOSTNAME_LABEL, labels))},
            {"affinity": (term(labels=labels),)},
            {"anti_affinity": (term(HOSTNAME_LABEL, labels),)},
            {"anti_affinity": (term(HOSTNAME_LABEL, asked),)},
        )
        rules = draw(st.sampled_from(several))
        size = draw(st.sampled_from(("100m", "700m", "1500m")))
        waiting += pods(draw(st.integers(1, 7)), f"d{number}", labels=labels, cpu=size, memory="64Mi", **rules)
    return tuple(waiting)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(deployments())
def test_all_rules_are_kept_in_any_order_of_binding_and_nothing_is_dearer_than_pod_by_pod(
    waiting: tuple[Pod, ...],
) -> None:
    here = world(*waiting)
    careful, found = kept(here, proposed(here, Budget(), never)), solve(here)

    assert not list(check(here, found))
    assert (len(found.unschedulable), found.cost) <= (len(careful.unschedulable), careful.cost)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(deployments())
def test_nor_where_there_are_nodes(waiting: tuple[Pod, ...]) -> None:
    labels = [{ZONE_LABEL: zone, HOSTNAME_LABEL: f"n-{zone}"} for zone in "ab"]
    rooms = (room("n-a", cpu=3, labels=labels[0]), room("n-b", cpu=2, labels=labels[1]))
    here = world(*waiting, rooms=rooms)
    careful, found = kept(here, proposed(here, Budget(), never)), solve(here)

    assert not list(check(here, found))
    assert (len(found.unschedulable), found.cost) <= (len(careful.unschedulable), careful.cost)


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(deployments(), st.integers(0, 1000))
def test_the_order_of_the_pods_does_not_matter(waiting: tuple[Pod, ...], seed: int) -> None:
    shuffled = Random(seed).sample(waiting, len(waiting))

    assert plan_of(world(*waiting)) == plan_of(world(*shuffled))


def mixed(count: int) -> Iterable[Pod]:
    """Karpenter's benchmark, small."""
    fifth = count // 5
    for number in range(fifth):
        label, other = {"l": "abcdefg"[number % 7]}, {"l": "abcdefg"[number * 3 % 7]}
        cpu = ("100m", "500m", "1500m")[number % 3]
        yield pod(f"plain-{number}", labels=label, cpu=cpu)
        yield pod(f"zones-{number}", labels=label, spreads=(spread(labels=other),), cpu=cpu)
        yield pod(f"hosts-{number}", labels=label, spreads=(spread(HOSTNAME_LABEL, other),), cpu=cpu)
        yield pod(f"near-{number}", labels={"n": label["l"]}, affinity=(term(labels={"n": label["l"]}),), cpu=cpu)
        yield pod(f"apart-{number}", labels=APP, anti_affinity=(term(HOSTNAME_LABEL, APP),), cpu=cpu)


def test_a_large_mix_costs_less_than_pod_by_pod_and_leaves_nobody_out() -> None:
    here = world(*mixed(350))
    plan = solve(here)
    by_node: defaultdict[int, int] = defaultdict(int)
    for launch in plan.launches:
        for node in launch.nodes:
            by_node[sum(key.name.startswith("apart") for key in node)] += 1

    assert not plan.unschedulable
    assert max(by_node) == 1
    assert plan.cost < proposed(here, Budget(), never).cost
    assert not list(check(here, plan))


def test_a_plan_that_could_wait_is_no_dearer_than_one_made_at_once_where_the_best_packing_seats_fewer() -> None:
    types = [
        instance_type("x.s", on_demand=1.0, spot=None),
        instance_type("x.m", cpu="3920m", memory="7Gi", on_demand=2.0, spot=None),
        instance_type("x.l", cpu="7910m", memory="15Gi", on_demand=3.9, spot=None),
    ]
    lone = pod("lone", cpu="100m", spreads=(spread(HOSTNAME_LABEL, {"app": "together"}, max_skew=2),))
    together = {"app": "together"}
    group = pods(9, "t", cpu="900m", labels=together, affinity=(term(labels=together),))
    here = snapshot((lone, *group, *pods(9, "free", cpu="100m")), pools=(options(types=types),))

    assert must(here, Budget()).cost <= must(here, AT_ONCE).cost


def test_nodes_for_whoever_is_planned_last_may_come_in_any_zone() -> None:
    port = pod("port", cpu="7", host_ports=(HostPort(80),))

    plan = must(world(*pods(9, "w", cpu="1500m", labels=APP, spreads=(spread(),)), port))

    assert [launch.zones for launch in plan.launches for node in launch.nodes if port.key in node] == [("a", "b", "c")]
