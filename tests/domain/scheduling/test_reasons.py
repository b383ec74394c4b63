"""Who waits is told what was tried, what ruled it out, and what it would take."""

import pytest

from nodewright.domain.plans import Unschedulable
from nodewright.domain.pods import Pod
from nodewright.domain.scheduling import solve
from nodewright.domain.snapshot import PoolOptions
from tests.builders import daemon_set, instance_type, offering, options, pod, pool, resources, room, snapshot, taint


def told(waiting: Pod, *pools: PoolOptions) -> tuple[str, str]:
    (left,) = solve(snapshot([waiting], pools=pools)).unschedulable
    return left.reason, left.message


@pytest.mark.parametrize(
    ("waiting", "offered", "reason", "message"),
    [
        (
            pod(cpu="20", memory="1Gi"),
            options(),
            "NoInstanceType",
            "pool default: none of 4 matching types holds cpu 20; the nearest, x.l, lacks cpu 12090m after DaemonSets",
        ),
        (
            pod(),
            options(pool(taints=(taint("team", "blue"),))),
            "TaintNotTolerated",
            "pool default: taint team=blue:NoSchedule is not tolerated",
        ),
        (
            pod(selector={"disk": "fast"}),
            options(),
            "NoInstanceType",
            "pool default: none of 4 types satisfies disk In [fast]",
        ),
        (
            pod(),
            options(types=[]),
            "NoInstanceType",
            "pool default: no instance types are known for its node class",
        ),
        (
            pod(),
            options(pool("default", ("kubernetes.io/arch", "In", "arm64"))),
            "NoInstanceType",
            "pool default: its own requirements leave none of 4 types (kubernetes.io/arch In [arm64])",
        ),
        (
            pod(),
            options(types=[instance_type(offerings=[offering(available=False)])]),
            "NoCapacity",
            "pool default: x.s would do, but EC2 has no capacity of it just now; it is tried again",
        ),
        (
            pod(),
            options(remaining=resources(cpu=1)),
            "LimitReached",
            "pool default: its limits are reached (cpu 1 left, x.s takes 2); raise them",
        ),
        (
            pod(alternatives=()),
            options(),
            "NoInstanceType",
            "its required node affinity matches no node; give a term an expression",
        ),
    ],
)
def test_a_reason_has_numbers(waiting: Pod, offered: PoolOptions, reason: str, message: str) -> None:
    assert told(waiting, offered) == (reason, message)


def test_without_pools_it_says_so() -> None:
    assert told(pod()) == ("NoPool", "there is no node pool; create one")


def test_every_pool_is_told_in_the_order_tried_and_the_closest_gives_the_word() -> None:
    full = options(pool("full", weight=1), remaining=resources(cpu=1))
    tainted = options(pool("tainted", weight=9, taints=(taint("a"),)))
    reason, message = told(pod(), full, tainted)

    assert reason == "LimitReached"
    assert message.index("pool tainted") < message.index("pool full")


def test_many_pools_are_summed_up() -> None:
    tainted = [options(pool(f"p{number}", taints=(taint("a"),))) for number in range(9)]

    assert told(pod(), *tainted)[1].endswith("; and 3 more pools")


def test_nodes_that_are_there_are_mentioned() -> None:
    (left,) = solve(snapshot([pod(cpu="20")], rooms=[room()])).unschedulable

    assert left.message.startswith("no room on 1 node; pool default: ")


def test_a_requirement_together_with_another_is_told_as_both() -> None:
    waiting = pod(selector={"topology.kubernetes.io/zone": "c", "karpenter.k8s.aws/instance-size": "l"})

    assert told(waiting, options())[1] == (
        "pool default: none of 4 types satisfies karpenter.k8s.aws/instance-size In [l],"
        " topology.kubernetes.io/zone In [c]"
    )


def test_what_daemon_sets_take_is_part_of_what_a_pod_lacks() -> None:
    world = snapshot([pod(cpu="7800m")], daemon_sets=[daemon_set(cpu="300m")])
    (left,) = solve(world).unschedulable

    assert isinstance(left, Unschedulable)
    assert "x.l, lacks cpu 190m" in left.message
