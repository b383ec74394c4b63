"""Room that is there comes before anything is bought."""

from nodewright.domain.limits import Limits
from nodewright.domain.plans import Nomination, Plan
from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling import solve
from nodewright.domain.scheduling.bought import topped_up
from nodewright.domain.scheduling.planned_rooms import planned_rooms
from nodewright.domain.scheduling.shapes import Waiting, group
from nodewright.domain.taints import Toleration
from tests.builders import instance_type, options, pod, pods, requirements, resources, room, snapshot, spread, taint


def placed(plan: Plan) -> dict[str, list[str]]:
    return {each.node: [pod.name for pod in each.pods] for each in plan.nominations}


def test_what_fits_a_node_that_is_there_buys_nothing() -> None:
    plan = solve(snapshot([pod()], rooms=[room("n")]))

    assert plan.nominations == (Nomination("n", (PodKey("default", "p"),)),)
    assert plan.cost == 0


def test_initialized_nodes_come_first_then_names() -> None:
    there = [room("b", cpu="1"), room("a", cpu="1", initialized=False), room("c", cpu="1")]

    assert placed(solve(snapshot(pods(3, cpu="1"), rooms=there))) == {"b": ["p-0"], "c": ["p-1"], "a": ["p-2"]}


def test_large_pods_get_room_before_small_ones() -> None:
    plan = solve(snapshot([pod("a-small", cpu="500m"), pod("large", cpu="2")], rooms=[room(cpu="2")]))

    assert placed(plan) == {"n": ["large"]}


def test_labels_and_taints_of_nodes_count() -> None:
    there = [
        room("tainted", taints=(taint("a", "1"),)),
        room("soft", cpu="500m", taints=(taint("a", "1", "PreferNoSchedule"),)),
        room("far", cpu="500m", labels={"topology.kubernetes.io/zone": "b"}),
    ]
    near = pod("near", selector={"topology.kubernetes.io/zone": "a"})
    remote = pod("remote", terms=[requirements(("topology.kubernetes.io/zone", "In", "b"))])
    bears = pod("bears", cpu="2", tolerates=[Toleration("a", "Equal", "1")])
    plan = solve(snapshot([near, remote, bears, pod("any")], rooms=there))

    assert placed(plan) == {"far": ["remote"], "soft": ["any"], "tainted": ["bears"]}
    assert [launch.zones for launch in plan.launches] == [("a",)]


def test_an_unknown_resource_needs_a_node_that_has_it() -> None:
    special = room("special", available=resources(cpu=2, memory="4Gi", pods=10, gpu=1))

    assert placed(solve(snapshot([pod(requests=resources(gpu=1))], rooms=[room("a"), special]))) == {"special": ["p"]}


def test_a_pod_stays_where_it_was_nominated_while_it_fits() -> None:
    there = [room("a"), room("coming", cpu="1", initialized=False, nominated=(PodKey("default", "mine"),))]
    plan = solve(snapshot([pod("mine"), pod("other")], rooms=there))

    assert placed(plan) == {"a": ["other"], "coming": ["mine"]}


def test_a_nomination_that_no_longer_fits_is_forgotten() -> None:
    there = [room("coming", cpu="100m", nominated=(PodKey("default", "mine"),)), room("z")]

    assert placed(solve(snapshot([pod("mine")], rooms=there))) == {"z": ["mine"]}


def test_a_nomination_of_a_pod_that_does_not_wait_is_ignored() -> None:
    there = [room(nominated=(PodKey("default", "bound-by-now"),))]

    assert placed(solve(snapshot([pod()], rooms=there))) == {"n": ["p"]}


def test_an_overcommitted_node_takes_nothing() -> None:
    full = room(available=resources(cpu=1, pods=10) - resources(memory="1Gi"))

    assert solve(snapshot([pod()], rooms=[full])).nominations == ()


def test_a_label_that_a_planned_node_may_have_in_either_way_is_not_a_label_it_lacks() -> None:
    """NotIn is satisfied where there is no such label; of a node that may come in zone a or b it isn't known."""
    zone = "topology.kubernetes.io/zone"
    whole = snapshot([pod("first", cpu="100m")], pools=[options(types=[instance_type(zones="ab")])])
    (launch,) = solve(whole).launches
    (planned,) = planned_rooms(whole, launch, {each.key: each for each in whole.pods}, "new")
    asking = {
        "elsewhere": pod("elsewhere", cpu="100m", terms=[requirements((zone, "NotIn", "c"))]),
        "not-b": pod("not-b", cpu="100m", terms=[requirements((zone, "NotIn", "b"))]),
        "not-b-with-company": pod(
            "not-b-with-company",
            cpu="100m",
            terms=[requirements((zone, "NotIn", "b"))],
            spreads=(spread("kubernetes.io/hostname", {"app": "x"}),),
        ),
    }

    assert zone not in planned.labels
    assert {
        name: bool(solve(snapshot([one], rooms=[planned], pools=[])).nominations) for name, one in asking.items()
    } == {"elsewhere": True, "not-b": False, "not-b-with-company": False}


def test_pods_that_limits_left_go_to_no_planned_node_that_may_come_where_they_must_not_be() -> None:
    """Found by test_laws: the node was bought for another pod, in zone a or b."""
    zone = "topology.kubernetes.io/zone"
    limited = options(types=[instance_type("x.s", zones="ab")], remaining=Limits({"cpu": 2000}))
    first = pod("first", cpu="100m")
    barred, elsewhere = (
        pod(f"not-{name}", cpu="100m", terms=[requirements((zone, "NotIn", name))]) for name in ("b", "c")
    )
    bought = solve(snapshot([first], pools=[limited])).launches
    waiting = Waiting(group([barred, elsewhere]))
    (after,) = topped_up(snapshot([first, barred, elsewhere], pools=[limited]), bought, waiting)

    assert after.zones == ("a", "b")
    assert after.nodes == ((first.key, elsewhere.key),)
