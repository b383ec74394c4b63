"""Pods that their controller has yet to make are bought for with those that wait."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.application.errors import ConflictError, OutsideError, RefusedError, UnavailableError
from nodewright.application.looking_ahead import LookAhead
from nodewright.domain.limits import NODES
from nodewright.domain.pods import Owner, Pod
from nodewright.domain.quantities import Resources
from nodewright.domain.workloads import Workload
from tests.application.disrupting import Scene
from tests.application.disrupting import web as disruptable
from tests.application.provisioning import CPU, ON_DEMAND, SMALL, SPOT, world
from tests.application.world import CLUSTER, MINUTE, World
from tests.builders import pod, pool, snapshot, spread, term

WEB = Owner("ReplicaSet", "web", "u")


def web(count: int, first: int = 0, **changes: object) -> tuple[Pod, ...]:
    """Of 1500m, so that each has a node of two cores to itself."""
    made = {"owner": WEB, "cpu": "1500m", **changes}
    return tuple(pod(f"web-{first + number}", **made) for number in range(count))  # type: ignore[arg-type]


def wants(here: World, wanted: int, **changes: object) -> None:
    made = replace(Workload("default", WEB, wanted), **changes)  # type: ignore[arg-type]
    here.cluster.workloads["default", "ReplicaSet", "web"] = made


def provision(here: World) -> int:
    """A run that nothing urgent woke; how many nodes it launched."""
    here.later(timedelta(seconds=1))
    return here.provision(here.clock.now()).launched


def looking(*waiting: Pod, wanted: int = 5) -> World:
    here = world(*waiting, of=SMALL)
    wants(here, wanted)
    return here


def test_nodes_are_bought_for_all_that_are_to_come() -> None:
    here = looking(*web(2))
    assert provision(here) == 5
    assert len(here.planned_pods) == 2
    assert sum(len(claim.expected_pods) for claim in here.claims) == 3
    assert here.decided().startswith("2 pods, 3 expected → 5 × m5.large spot at 0.20 USD/h")
    assert here.ledger.decisions(CLUSTER, 1)[0].details["expected"] == {
        "pods": 3,
        "onNodes": [],
        "bought": 3,
        "cost": "0.12",
        "unschedulable": [],
    }


def test_nothing_is_bought_twice_however_often_one_looks() -> None:
    here = looking(*web(2))
    provision(here)
    for _ in range(3):
        here.later(timedelta(seconds=10))
        assert provision(here) == 0
    assert len(here.running) == 5


def test_real_pods_find_the_nodes_of_the_expected() -> None:
    here = looking(*web(2))
    provision(here)
    here.cluster.add(*web(2, 2, created=here.clock.now()))
    assert provision(here) == 0
    assert here.decided().startswith("4 pods to nodes that are there")
    here.cluster.add(*web(1, 4, created=here.clock.now()))
    assert provision(here) == 0
    assert len(here.running) == 5


def test_pods_that_came_are_told_of_the_node_that_was_bought_for_those_expected() -> None:
    here = looking(*web(1), wanted=3)
    provision(here)
    here.cluster.add(*web(2, 1, created=here.clock.now()))
    provision(here)
    assert [str(key) for key in here.planned_pods] == ["default/web-0", "default/web-1", "default/web-2"]
    provision(here)
    assert len(here.planned_pods) == 3
    here.join()
    here.reconcile()
    assert len({each.nominated_node_name for each in here.cluster.pods.values()} - {""}) == 3


def test_a_claim_that_somebody_changed_meanwhile_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    here = looking(*web(1), wanted=3)
    provision(here)
    here.cluster.add(*web(1, 1, created=here.clock.now()))

    errors: list[OutsideError] = [ConflictError("changed"), UnavailableError("the table doesn't answer")]

    def refuse(*_: object) -> None:
        raise errors.pop(0)

    monkeypatch.setattr(here.ledger, "save_claim", refuse)
    for _ in range(2):
        assert provision(here) == 0
        assert len(here.planned_pods) == 1
    assert here.problems() == "the table doesn't answer"


def test_more_than_were_expected_are_bought_for() -> None:
    here = looking(*web(2))
    provision(here)
    wants(here, 7)
    assert provision(here) == 2


def test_an_urgent_run_looks_at_what_is_there_alone() -> None:
    here = looking(*web(2))
    here.later(timedelta(seconds=1))
    assert here.provision().launched == 2
    assert "InMemoryCluster.workload" not in here.fuse.made


def test_a_limit_is_for_real_pods_first_and_never_exceeded() -> None:
    here = world(*web(2), of=pool("default", (CPU, "In", "2"), limits=Resources({NODES: 3})))
    wants(here, 5)
    assert provision(here) == 3
    assert [len(claim.nominated_pods) for claim in here.claims] == [1, 1, 0]
    details = here.ledger.decisions(CLUSTER, 1)[0].details
    assert "LimitReached" in str(details["expected"])
    assert details["unschedulable"] == []
    assert here.cluster.events == []


def test_pods_that_dont_come_are_expected_no_more() -> None:
    here = looking(*web(2))
    provision(here)
    here.later(2 * MINUTE)
    wants(here, 9)
    assert provision(here) == 0
    assert here.fuse.made.count("InMemoryCluster.workload") == 1


@pytest.mark.parametrize("error", [RefusedError("403: may not"), UnavailableError("no answer")])
def test_a_controller_that_cant_be_read_keeps_no_pod_from_its_node(
    error: OutsideError, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = looking(*web(2), *web(2, 7, owner=Owner("Job", "other", "v")))
    asked: list[Owner] = []

    def refuse(_namespace: str, owner: Owner) -> Workload:
        asked.append(owner)
        raise error

    monkeypatch.setattr(here.cluster, "workload", refuse)
    assert provision(here) == 4
    assert len(asked) == 1
    (warning,) = (each for each in here.ledger.decisions(CLUSTER, 1)[0].details["warnings"] if "yet to make" in each)  # type: ignore[attr-defined]
    assert str(error) in warning
    assert ("nodewright connect" in warning) == isinstance(error, RefusedError)


def test_a_controller_that_is_gone_is_passed_over() -> None:
    here = world(*web(2), of=SMALL)
    assert provision(here) == 2
    assert "yet to make" not in here.decided()


def test_few_controllers_are_asked() -> None:
    owners = [Owner("Job", f"j-{number}", f"u-{number}") for number in range(30)]
    here = world(*(pod(each.name, owner=each, cpu="100m") for each in owners), of=SMALL)
    provision(here)
    assert here.fuse.made.count("InMemoryCluster.workload") == 0  # none is there, so no call ends well
    for each in owners:
        here.cluster.workloads["default", "Job", each.name] = Workload("default", each, 1)
    provision(here)
    assert here.fuse.made.count("InMemoryCluster.workload") == 20


def test_no_more_pods_are_expected_than_can_be_planned_in_time() -> None:
    owners = [Owner("Job", f"j-{number}", f"u-{number}") for number in range(4)]
    pods = tuple(pod(f"{each.name}-{n}", owner=each, cpu="1m", memory="1Mi") for each in owners for n in range(50))
    here = world(*pods, of=pool())
    for each in owners:
        here.cluster.workloads["default", "Job", each.name] = Workload("default", each, 50_000)
    look = LookAhead(here.cluster, here.cluster.read())
    found = look(snapshot(pods)).expected
    assert len(found) == len({each.key for each in found}) == 10_000


def test_a_setting_that_nobody_knows_is_told() -> None:
    here = looking(*web(1, annotations={"nodewright.dev/look-ahead": "never"}))
    wants(here, 3, look_ahead="no")
    assert provision(here) == 3
    assert "'never' is not known" in here.decided()
    assert "ReplicaSet/default/web metadata.annotations.nodewright.dev/look-ahead: 'no' is not known" in here.decided()


def test_expected_pods_are_neither_nominated_nor_set_aside() -> None:
    here = looking(*web(1), wanted=3)
    provision(here)
    here.join()
    here.reconcile()
    assert {key.name for key, each in here.cluster.pods.items() if each.nominated_node_name} == {"web-0"}
    here.later(2 * MINUTE)
    here.reconcile()
    assert "vain" not in here.problems()


def test_nodes_whose_pods_never_come_are_empty_ones_after_two_minutes_and_are_not_bought_again() -> None:
    scene = Scene(*disruptable(1))
    here = scene.world
    here.cluster.workloads["default", "ReplicaSet", "web"] = Workload("default", WEB, 4)
    here.cluster.add(*disruptable(1, "late", created=here.clock.now()))
    scene.replicas = 2
    assert provision(here) == 3
    scene.live(MINUTE)
    assert len(here.running) == 4
    scene.live(3 * MINUTE)
    assert len(here.running) == 2
    scene.live(20 * MINUTE)
    assert (len(here.running), len(here.fleet.instances)) == (2, 4)


def test_nodes_whose_pods_come_in_time_stay() -> None:
    scene = Scene(*disruptable(1))
    here = scene.world
    here.cluster.workloads["default", "ReplicaSet", "web"] = Workload("default", WEB, 4)
    here.cluster.add(*disruptable(1, "late", created=here.clock.now()))
    scene.replicas = 2
    provision(here)
    scene.live(MINUTE)
    scene.replicas = 4
    scene.live(20 * MINUTE)
    assert (len(here.running), len(here.fleet.instances)) == (4, 4)
    assert here.fleet.instances.keys() == {each.id for each in here.running}


def test_rules_between_pods_lead_to_no_second_node_however_the_pods_come() -> None:
    labels = {"app": "w"}
    rules = {"labels": labels, "spreads": (spread(labels=labels),), "anti_affinity": (term("kubernetes.io/hostname"),)}
    here = looking(*web(1, 0, **rules), wanted=6)
    assert provision(here) == 6
    for number in range(1, 6):
        here.cluster.add(*web(1, number, created=here.clock.now(), **rules))
        assert provision(here) == 0
    assert sorted(claim.zone for claim in here.claims).count("us-east-1a") == 3


def test_a_shortage_leaves_real_pods_their_nodes() -> None:
    here = looking(*web(2), wanted=9)
    here.fleet.room = dict.fromkeys([*SPOT, *ON_DEMAND], 0) | {("m5.large", "us-east-1a", "spot"): 2}
    provision(here)
    assert sorted(key.name for key in here.planned_pods) == ["web-0", "web-1"]
    assert len(here.running) == 2
