"""The judge is judged: a right plan passes, and with one thing broken it says which."""

from dataclasses import replace

import pytest

from nodewright.domain.host_ports import HostPort
from nodewright.domain.limits import NODES, PRICE, Limits
from nodewright.domain.plans import Launch, Plan
from nodewright.domain.pods import Attachment, Pod
from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.snapshot import Snapshot
from nodewright.domain.taints import Toleration
from tests.builders import (
    EXISTS,
    USD,
    catalogue,
    daemon_set,
    instance_type,
    offering,
    options,
    pod,
    pods,
    pool,
    requirements,
    resources,
    snapshot,
    taint,
)
from tests.oracle import check
from tests.oracles.plans import ZONE, launch, node, plan

FAMILY = "karpenter.k8s.aws/instance-family"
EBS = "ebs.csi.aws.com"


def faults(world: Snapshot, of: Plan) -> str:
    """All in one line, or a plain word for none."""
    return "; ".join(check(world, of)) or "fine"


class TestAccounts:
    def test_a_right_plan_is_fine(self) -> None:
        two = pods(2)
        world = snapshot(two)
        assert faults(world, plan(world, launch(world, two))) == "fine"

    def test_a_pod_without_an_answer(self) -> None:
        world = snapshot(pods(1))
        assert "default/p-0 has no answer" in faults(world, Plan())

    def test_a_pod_with_two(self) -> None:
        one = pod()
        world = snapshot([one], rooms=[node("n")])
        assert "default/p has 2 answers" in faults(world, plan(world, launch(world, [one]), rooms={"n": [one]}))

    def test_a_pod_that_nobody_asked_for(self) -> None:
        one = pod()
        world = snapshot([one])
        made = plan(world, launch(world, [one, pod("stranger")]))
        assert "default/stranger isn't among the pods that wait" in faults(world, made)

    def test_a_cost_that_is_not_the_sum(self) -> None:
        one = pod()
        world = snapshot([one])
        made = plan(world, launch(world, [one]))
        assert "the plan says 1" in faults(world, replace(made, cost=1))
        assert "bound" in faults(world, replace(made, bound=made.cost + 1))

    def test_a_node_that_takes_no_pods(self) -> None:
        one = pod()
        world = replace(snapshot([one]), bystanders=(node("cordoned"),))
        assert "cordoned isn't a node that takes pods" in faults(world, plan(world, rooms={"cordoned": [one]}))

    def test_the_less_important_of_two_alike_is_bought_for(self) -> None:
        more, less = pod("more", priority=1), pod("less")
        world = snapshot([more, less])
        assert "default/more of priority 1 is left" in faults(world, plan(world, launch(world, [less])))
        assert faults(world, plan(world, launch(world, [more]))) == "fine"

    def test_nothing_is_bought_for_who_is_set_aside_or_has_problems(self) -> None:
        aside, odd = pod("aside"), pod("odd", problems=("resourceClaims: remove them",))
        world = replace(snapshot([aside, odd], rooms=[node("n")]), set_aside={aside.key: "in vain"})
        made = plan(world, launch(world, [aside]), launch(world, [odd]))
        assert "default/aside is set aside" in faults(world, made)
        assert "default/odd has problems" in faults(world, made)
        assert faults(world, plan(world, rooms={"n": [aside, odd]})) == "fine"


class TestLaunches:
    one = pod()
    world = snapshot([one])

    def judged(self, made: Launch) -> str:
        return faults(self.world, plan(self.world, made))

    def test_an_offering_that_is_not_sold(self) -> None:
        made = launch(self.world, [self.one], types=["x.l"])
        elsewhere = replace(made, offerings=tuple(replace(each, zone="c") for each in made.offerings))
        assert self.judged(made) == "fine"
        assert "x.l isn't sold on-demand in c" in self.judged(elsewhere)

    def test_an_offering_that_is_not_available(self) -> None:
        world = snapshot([self.one], pools=[options(types=[instance_type(offerings=[offering(available=False)])])])
        assert "x.s isn't sold on-demand in a" in faults(world, plan(world, launch(world, [self.one])))

    def test_a_price_that_is_not_the_cheapest(self) -> None:
        made = launch(self.world, [self.one], types=["x.s", "x.m"])
        assert self.judged(made) == "fine"
        assert "for offerings of" in self.judged(replace(made, price=2 * USD))
        assert "for offerings of" in self.judged(replace(made, offerings=made.offerings[::-1]))

    def test_an_offering_of_another_capacity_type(self) -> None:
        made = launch(self.world, [self.one], capacity_type="spot")
        assert "isn't sold on-demand" in self.judged(replace(made, capacity_type="on-demand"))

    def test_a_type_of_nobody(self) -> None:
        made = launch(self.world, [self.one])
        other = replace(made, offerings=(replace(made.offerings[0], instance_type="y.s"),))
        assert "y.s isn't among the pool's types" in self.judged(other)

    def test_requests_that_are_not_those_of_its_pods(self) -> None:
        made = launch(self.world, [self.one])
        assert "a node of pods that ask for" in self.judged(replace(made, requests=resources(cpu=1)))

    def test_a_pool_that_is_not_there_or_being_deleted(self) -> None:
        assert "no such pool" in self.judged(replace(launch(self.world, [self.one]), pool="other"))
        world = snapshot([self.one], pools=[options(pool(terminating=True))])
        assert "being deleted" in faults(world, plan(world, launch(world, [self.one])))

    def test_an_offering_that_the_pool_does_not_want(self) -> None:
        world = snapshot([self.one], pools=[options(pool("default", (ZONE, "In", "b")))])
        assert faults(world, plan(world, launch(world, [self.one], zones=["b"]))) == "fine"
        assert "breaks the pool's requirement" in faults(
            world, plan(world, launch(world, [self.one], zones=["a", "b"]))
        )

    def test_a_listed_type_that_is_too_small(self) -> None:
        big = pod(cpu="3")
        world = snapshot([big])
        assert faults(world, plan(world, launch(world, [big], types=["x.m", "x.l"]))) == "fine"
        assert "as x.s in a: launch-0-node-0 has" in faults(
            world, plan(world, launch(world, [big], types=["x.s", "x.m"]))
        )

    def test_a_label_that_is_read_is_in_the_user_data(self) -> None:
        picky = pod(terms=[requirements((FAMILY, "Exists"), ("size", "In", "big"))])
        types = [instance_type("x.s", labels={"size": "big"}), instance_type("y.s", labels={"size": "big"})]
        world = snapshot([picky], pools=[options(types=types)])
        made = launch(world, [picky], types=["x.s", "y.s"])
        assert "differ in karpenter.k8s.aws/instance-family" in faults(world, plan(world, made))
        assert faults(world, plan(world, replace(made, selected_labels=(FAMILY,)))) == "fine"


class TestLimits:
    def judged(self, remaining: Limits, types: list[str], nodes: int = 1) -> str:
        some = pods(nodes)
        world = snapshot(some, pools=[options(remaining=remaining)])
        return faults(world, plan(world, launch(world, *[[each] for each in some], types=types)))

    def test_the_largest_listed_type_counts(self) -> None:
        assert self.judged(Limits({"cpu": 4_000}), ["x.s", "x.m"]) == "fine"
        assert "pool default: up to 8000 cpu, 4000 remain" in self.judged(Limits({"cpu": 4_000}), ["x.s", "x.l"])

    def test_every_node_counts(self) -> None:
        assert self.judged(Limits({NODES: 2}), ["x.s"], nodes=2) == "fine"
        assert "up to 3 nodes" in self.judged(Limits({NODES: 2}), ["x.s"], nodes=3)

    def test_money_counts(self) -> None:
        assert self.judged(Limits({PRICE: USD}), ["x.s"]) == "fine"
        assert "remain" in self.judged(Limits({PRICE: USD}), ["x.s", "x.m"])

    def test_an_overdrawn_resource_that_is_not_taken_stops_nobody(self) -> None:
        assert self.judged(Limits({"nvidia.com/gpu": -1}), ["x.s"]) == "fine"
        assert "remain" in self.judged(Limits({"cpu": -1}), ["x.s"])


class TestMinValues:
    """cases.md 16."""

    types = tuple(instance_type(f"{name[0]}.{name[1]}", on_demand=price, spot=None) for name, price in [
        ("a1", 1.0), ("a2", 1.1), ("b1", 1.2), ("b2", 1.3), ("c1", 2.0)])  # fmt: skip

    def judged(self, types: list[str], **settings: str) -> str:
        wanted = Requirement.of(FAMILY, "Exists", (), 3)
        one = pod()
        world = snapshot([one], pools=[options(pool("default", wanted, settings=settings), self.types)])
        return faults(world, plan(world, launch(world, [one], types=types)))

    def test_a_list_cut_to_the_cheapest_has_too_few(self) -> None:
        assert self.judged(["a.1", "a.2", "b.1", "c.1"]) == "fine"
        assert "2 of 3 values" in self.judged(["a.1", "a.2", "b.1", "b.2"])

    def test_best_effort_takes_what_there_is(self) -> None:
        assert self.judged(["a.1", "b.1"], **{"nodewright.dev/min-values-policy": "BestEffort"}) == "fine"


class TestDaemonSets:
    """cases.md 2 and 12."""

    def test_what_a_tolerant_daemon_set_takes_is_not_for_pods(self) -> None:
        blue = [Toleration("team", "Equal", "blue")]
        one = pod(cpu="1700m", memory="1Gi", tolerates=blue)
        tainted = options(pool(taints=(taint("team", "blue"),)))
        world = snapshot([one], pools=[tainted], daemon_sets=[daemon_set(cpu="300m")])
        assert "has cpu 1630m" in faults(world, plan(world, launch(world, [one])))
        assert faults(world, plan(world, launch(world, [one], types=["x.m"]))) == "fine"
        shy = replace(world, daemon_sets=(daemon_set(cpu="300m", tolerates=[]),))
        assert faults(shy, plan(shy, launch(shy, [one]))) == "fine"

    def test_overhead_is_per_type(self) -> None:
        one = pod(cpu="1700m", memory="1Gi")
        only = requirements(("node.kubernetes.io/instance-type", "In", "x.s"))
        world = snapshot([one], daemon_sets=[daemon_set(terms=[only])])
        assert "as x.s" in faults(world, plan(world, launch(world, [one], types=["x.s", "x.m"])))
        tight = pod(cpu="3800m", memory="1Gi")
        world = snapshot([tight], daemon_sets=[daemon_set(terms=[only])])
        assert faults(world, plan(world, launch(world, [tight], types=["x.m"]))) == "fine"

    def test_one_that_waits_for_our_last_label_counts(self) -> None:
        one = pod(cpu="1700m", memory="1Gi")
        late = requirements(("karpenter.sh/registered", "In", "true"))
        world = snapshot([one], daemon_sets=[daemon_set(terms=[late])])
        assert "has cpu 1630m" in faults(world, plan(world, launch(world, [one])))

    @pytest.mark.parametrize(
        ("its", "mine", "clash"),
        [
            (HostPort(8080), HostPort(8080), True),
            (HostPort(8080), HostPort(8080, "UDP"), False),
            (HostPort(8080), HostPort(8081), False),
            (HostPort(8080, "TCP", "10.0.0.9"), HostPort(8080), True),
            (HostPort(8080, "TCP", "10.0.0.9"), HostPort(8080, "TCP", "10.0.0.8"), False),
        ],
    )
    def test_its_port_is_taken(self, its: HostPort, mine: HostPort, *, clash: bool) -> None:
        one = pod(host_ports=(mine,))
        world = snapshot([one], daemon_sets=[replace(daemon_set(), host_ports=(its,))])
        assert ("is taken" in faults(world, plan(world, launch(world, [one])))) == clash


class TestHostPorts:
    """cases.md 12."""

    both = pods(2, host_ports=(HostPort(8080),))

    def test_two_on_one_node(self) -> None:
        world = snapshot(self.both)
        assert "host port 8080/TCP" in faults(world, plan(world, launch(world, self.both)))
        assert faults(world, plan(world, launch(world, *[[each] for each in self.both]))) == "fine"

    def test_taken_on_a_room(self) -> None:
        world = snapshot(self.both[:1], rooms=[node("n", host_ports=(HostPort(8080, "TCP", "10.0.0.9"),))])
        assert "is taken on n" in faults(world, plan(world, rooms={"n": self.both[:1]}))


class TestTaints:
    """cases.md 4."""

    @pytest.mark.parametrize(
        ("toleration", "borne"),
        [
            (Toleration(operator="Exists"), "123"),
            (Toleration(operator="Exists", effect="NoExecute"), "23"),
            (Toleration("a", "Exists"), "123"),
            (Toleration("a", value="1"), "123"),
            (Toleration("a"), "3"),
            (Toleration("b"), "3"),
            (Toleration("", "Equal", "1"), "3"),
        ],
    )
    def test_the_table(self, toleration: Toleration, borne: str) -> None:
        taints = {"1": taint("a", "1"), "2": taint("a", "1", "NoExecute"), "3": taint("b", "", "PreferNoSchedule")}
        one = pod(tolerates=[toleration])
        for number, each in taints.items():
            world = snapshot([one], pools=[options(pool(taints=(each,)))], rooms=[node("n", taints=(each,))])
            fine = number in borne
            assert (faults(world, plan(world, launch(world, [one]))) == "fine") == fine, each
            assert (faults(world, plan(world, rooms={"n": [one]})) == "fine") == fine, each

    def test_startup_taints_keep_nobody_off(self) -> None:
        one = pod()
        world = snapshot([one], pools=[options(pool(startup_taints=(taint("cni"),)))])
        assert faults(world, plan(world, launch(world, [one]))) == "fine"


class TestNodeSelection:
    """cases.md 10, 13, 15, 32."""

    def judged(self, one: Pod, zones: list[str], types: list[str]) -> str:
        world = snapshot([one])
        return faults(world, plan(world, launch(world, [one], types=types, zones=zones)))

    def test_every_listed_zone_must_be_selected(self) -> None:
        one = pod(selector={ZONE: "a"})
        assert self.judged(one, ["a"], ["x.s"]) == "fine"
        assert "as x.s in b: launch-0-node-0 is not among the nodes" in self.judged(one, ["a", "b"], ["x.s"])

    def test_terms_are_alternatives(self) -> None:
        one = pod(terms=[requirements((ZONE, "In", "a")), requirements((ZONE, "In", "b"))])
        assert self.judged(one, ["a", "b"], ["x.s"]) == "fine"
        assert "in c" in self.judged(one, ["a", "b", "c"], ["x.s"])

    def test_no_term_at_all_selects_nothing(self) -> None:
        assert "is not among the nodes" in self.judged(pod(alternatives=()), ["a"], ["x.s"])

    def test_bounds_are_numbers(self) -> None:
        one = pod(terms=[requirements(("karpenter.k8s.aws/instance-cpu", "Gt", "2"))])
        assert "as x.s" in self.judged(one, ["a"], ["x.s"])
        assert self.judged(one, ["a"], ["x.m"]) == "fine"
        gpu = pod(terms=[requirements(("karpenter.k8s.aws/instance-gpu-count", "Lt", "9"))])
        assert "as x.s" in self.judged(gpu, ["a"], ["x.s"]), "types without the label are out"

    def test_a_volume_fixes_the_zone(self) -> None:
        one = pod(volume_nodes=(requirements((ZONE, "In", "b")),))
        assert "can't be reached" in self.judged(one, ["a"], ["x.s"])
        assert self.judged(one, ["b"], ["x.s"]) == "fine"

    def test_accelerators_are_resources(self) -> None:
        one = pod(requests=resources(gpu=1))
        assert "has cpu" in self.judged(one, ["a"], ["x.m"])
        assert self.judged(one, ["a"], ["g.m"]) == "fine"

    def test_a_label_the_pool_leaves_open_is_chosen_by_the_launch(self) -> None:
        one = pod(selector={"team": "blue"})
        world = snapshot([one], pools=[options(pool("default", ("team", "In", "blue", "red")))])
        assert "is not among the nodes" in faults(world, plan(world, launch(world, [one])))
        assert faults(world, plan(world, launch(world, [one], labels={"team": "blue"}))) == "fine"
        assert "isn't the pool's to give" in faults(world, plan(world, launch(world, [one], labels={"team": "green"})))


class TestVolumes:
    """cases.md 11."""

    def some(self, count: int) -> tuple[Pod, ...]:
        return tuple(pod(f"p-{n}", cpu="50m", attachments=frozenset({Attachment(EBS, f"v-{n}")})) for n in range(count))

    def judged(self, waiting: tuple[Pod, ...], limit: int | None) -> str:
        world = snapshot(waiting, pools=[options(types=[replace(each, volumes=limit) for each in catalogue()])])
        return faults(world, plan(world, launch(world, waiting)))

    def test_a_new_node_attaches_so_many(self) -> None:
        assert self.judged(self.some(3), 3) == "fine"
        assert "attaches 2 volumes" in self.judged(self.some(3), 2)
        assert self.judged(self.some(3), None) == "fine"

    def test_a_shared_volume_counts_once(self) -> None:
        shared = frozenset({Attachment(EBS, "shared")})
        assert self.judged(pods(3, attachments=shared), 1) == "fine"

    def test_a_node_has_some_attached(self) -> None:
        there = replace(self.some(9)[8], node_name="n")
        world = snapshot(self.some(2), rooms=[node("n", "a", there, attachable={EBS: 2})])
        assert "attaches 2 volumes" in faults(world, plan(world, rooms={"n": self.some(2)}))
        assert faults(world, plan(world, rooms={"n": self.some(1)})) == "fine"

    def test_another_drivers_limit_is_not_ours(self) -> None:
        world = snapshot(self.some(2), rooms=[node("n", attachable={"efs.csi.aws.com": 0})])
        assert faults(world, plan(world, rooms={"n": self.some(2)})) == "fine"


def test_a_room_that_is_full() -> None:
    two = pods(2, cpu="1500m")
    world = snapshot(two, rooms=[node("n", cpu="2")])
    assert "n has cpu 500m" in faults(world, plan(world, rooms={"n": two}))
    assert faults(world, plan(world, rooms={"n": two[:1]})) == "fine"


def test_an_overdrawn_room_takes_who_asks_for_none_of_it() -> None:
    free = Requirements()
    one = pod(alternatives=(free,), tolerates=EXISTS)
    one = replace(one, requests=resources(pods=1))
    world = snapshot([one], rooms=[node("n", available=resources(cpu=-1, pods=1))])
    assert faults(world, plan(world, rooms={"n": [one]})) == "fine"
