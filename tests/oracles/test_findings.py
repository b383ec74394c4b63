"""Small worlds in which a planner once erred by the oracle's word, each as Hypothesis found it, made smaller."""

from dataclasses import replace

import pytest

from nodewright.domain.host_ports import HostPort
from nodewright.domain.limits import NODES, PRICE, Limits
from nodewright.domain.pods import PodKey
from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.scheduling import solve
from nodewright.domain.snapshot import Snapshot
from nodewright.domain.taints import Toleration
from nodewright.domain.topology import PodSelector, Preferences, PreferredNodes
from tests.builders import (
    USD,
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
from tests.oracle import check, crowded, placeable
from tests.oracles.plans import HOST, ZONE, node, spread, term

CAPACITY_TYPE = "karpenter.sh/capacity-type"
FAMILY = "karpenter.k8s.aws/instance-family"
TWO_TYPES = Requirement.of("node.kubernetes.io/instance-type", "Exists", (), 2)
TWO_FAMILIES = Requirement.of(FAMILY, "Exists", (), 2)
TWO_ZONES = Requirement.of(ZONE, "Exists", (), 2)
LABELS = {"app": "web"}
SMALL = [
    instance_type("x.s", spot=None),
    instance_type("x.l", cpu="7910m", memory="15Gi", on_demand=4.0, spot=None),
    instance_type("y.s", on_demand=1.2, spot=None),
    instance_type("arm.m", cpu="3920m", memory="7Gi", arch="arm64", on_demand=1.7, spot=None),
]
OTHERS = PodSelector(requirements(("app", "NotIn", "db")), frozenset({"default"}))
GONE = offering(available=False)
AGENT = replace(daemon_set(), key=PodKey("default", "agent"), labels={"app": "agent"})
ARM_AGENT = replace(
    daemon_set("agent", cpu="100m", memory="128Mi", terms=[requirements(("kubernetes.io/arch", "In", "arm64"))]),
    key=PodKey("default", "agent"),
    labels={"app": "agent"},
)
BATCH = PodSelector(Requirements.from_labels({"app": "batch"}), frozenset({"default"}))
DB = PodSelector(Requirements.from_labels({"app": "db"}), frozenset({"default"}))
NOT_WEB = PodSelector(Requirements([Requirement.of("app", "NotIn", ["web"])]), frozenset({"default"}))
BY_AGENTS = replace(spread(CAPACITY_TYPE), selector=NOT_WEB)
BY_DBS = replace(spread(CAPACITY_TYPE), selector=DB)
CACHE = PodSelector(Requirements.from_labels({"app": "cache"}), frozenset({"default"}))
BY_CACHES = replace(spread(ZONE), selector=CACHE)
MOVED = "one of two nodes in a zone had better be in another, and a third pod follows it"
SPOT = {"a": 0.69, "b": 0.92, "c": 1.15}
FRONT = PodSelector(Requirements.from_labels({"tier": "front"}), frozenset({"default"}))
ARM = Requirements([Requirement.of("kubernetes.io/arch", "In", ["arm64"])])
GPU = instance_type("gpu.m", cpu="3920m", memory="14Gi", gpu=1, on_demand=6.0, spot=None)


WORLDS: dict[str, Snapshot] = {
    "a limit leaves room for two types of few cores only": snapshot(
        [*pods(2, "db", cpu="1"), *pods(2, "web", cpu="100m")],
        pools=[options(pool("default", TWO_TYPES), SMALL, Limits({"cpu": 4_000}))],
    ),
    "a limit leaves the node that is bought for an accelerator": snapshot(
        [pod("web", cpu="100m"), pod("db", cpu="100m", requests=resources(gpu=1))],
        pools=[options(types=[*SMALL, GPU], remaining=Limits({"cpu": 4_000}))],
    ),
    "one of two pools has too few types": snapshot(
        [pod(cpu="1")],
        pools=[
            options(pool("any"), SMALL[3:]),
            options(pool("two-families", TWO_FAMILIES, labels={"team": "blue"}), SMALL[3:]),
        ],
    ),
    "a second of its kind beside a limit and minValues": snapshot(
        [
            *pods(2, "web", cpu="100m", labels=LABELS, anti_affinity=(term(),)),
            pod("db", cpu="100m"),
            pod("cache", cpu="100m"),
        ],
        pools=[options(pool("default", TWO_TYPES), SMALL[:3], Limits({"cpu": 4_000}))],
    ),
    "zones that each sell one capacity type, both spread over": snapshot(
        pods(3, cpu="100m", labels=LABELS, spreads=(spread(ZONE), spread(CAPACITY_TYPE))),
        pools=[
            options(
                types=[
                    instance_type("x.l", cpu="7910m", memory="15Gi", offerings=[offering("b", "spot", 1.6)]),
                    instance_type("arm.m", cpu="3920m", memory="7Gi", offerings=[offering("c", "on-demand", 1.7)]),
                ]
            )
        ],
    ),
    "a third zone sells what one of the others sells": snapshot(
        pods(
            5,
            labels=LABELS,
            spreads=(spread(ZONE, max_skew=2, min_domains=3), spread(CAPACITY_TYPE, max_skew=2)),
            anti_affinity=(term(HOST),),
        ),
        pools=[
            options(
                types=[
                    instance_type(
                        "y.m",
                        cpu="3920m",
                        offerings=[offering("a", "spot", 0.69), offering("b", price=2.3), offering("b", "spot", 0.92)],
                    ),
                    instance_type("arm.m", cpu="3920m", arch="arm64", offerings=[offering("c", "spot", 0.85)]),
                ]
            )
        ],
    ),
    "a DaemonSet is the company it seeks": replace(
        snapshot([pod(labels=LABELS, affinity=(term(CAPACITY_TYPE, NOT_WEB),))]), daemon_sets=(AGENT,)
    ),
    "no second host can be had for one that is spread over hosts": snapshot(
        [pod(labels=LABELS, spreads=(spread(HOST),))],
        rooms=[node("n", "a", pod("web-on-n", labels=LABELS))],
        pools=[options(pool(taints=(taint("team"),))), options(pool("gone"), [instance_type(offerings=[GONE])])],
    ),
    "a DaemonSet is what others are spread by": replace(
        snapshot(
            pods(7, cpu="100m", labels=LABELS, spreads=(BY_AGENTS, spread(HOST, max_skew=2))),
            pools=[options(types=[instance_type("y.m", cpu="3920m", zones="a", on_demand=2.3, spot=0.69)])],
        ),
        daemon_sets=(AGENT,),
    ),
    "a list fails by minValues and money, and its pods are forgotten": snapshot(
        pods(2, cpu="100m", host_ports=(HostPort(8080),)),
        pools=[
            options(
                pool("default", TWO_TYPES),
                [
                    instance_type("x.m", cpu="3920m", offerings=[offering("c", "spot", 1.0)]),
                    instance_type("gpu.m", cpu="3920m", gpu=1, offerings=[offering("c", "spot", 3.0)]),
                ],
                Limits({PRICE: 3 * USD}),
            )
        ],
    ),
    "one seeks a pod that seeks another, which is there": snapshot(
        [
            pod("batch", labels={"app": "batch"}, affinity=(term(ZONE),)),
            pod("late", labels={"app": "late"}, affinity=(term(ZONE, BATCH),)),
        ],
        rooms=[node("n", "a", pod("web-on-n", labels=LABELS))],
    ),
    "a limit leaves a planned node if it is bought in one zone": snapshot(
        [pod("db"), pod("batch", selector={ZONE: "c"})],
        pools=[options(types=SMALL[1:2], remaining=Limits({"cpu": 8_000}))],
    ),
    "hosts of one app and zones of another, within limits": snapshot(
        [
            pod("db", cpu="100m", labels={"app": "db"}, spreads=(spread(HOST),)),
            *pods(4, "web", cpu="1800m", labels=LABELS, spreads=(replace(spread(), selector=DB),)),
        ],
        pools=[
            options(pool(name), [instance_type("x.m", cpu="3920m", zones=zones)], Limits({NODES: 1}))
            for name, zones in (("one", "c"), ("other", "bc"))
        ],
    ),
    "who is there keeps a new node's DaemonSet off, but not its pods": replace(
        snapshot(
            [pod("batch", labels={"app": "batch"}, anti_affinity=(term(ZONE, BATCH),))],
            rooms=[node("n", "b", pod("web-on-n", labels=LABELS, anti_affinity=(term(ZONE),)), cpu="0")],
            pools=[options(types=[instance_type(zones="b")])],
        ),
        daemon_sets=(replace(AGENT, labels=LABELS),),
    ),
    "the one node of a limit is planned in one zone and then needed in another": replace(
        snapshot(
            [
                pod("web", memory="1Gi", host_ports=(HostPort(8080),)),
                pod("db", labels={"app": "db"}, affinity=(term(ZONE, DB),), anti_affinity=(term(HOST, DB),)),
            ],
            pools=[options(types=[instance_type("x.m", cpu="3920m", spot=None)], remaining=Limits({NODES: 1}))],
        ),
        bystanders=(node("n", "b", pod("db-on-n", labels={"app": "db"}, anti_affinity=(term(HOST, DB),))),),
    ),
    MOVED: replace(
        snapshot(
            [
                pod(
                    "web",
                    cpu="100m",
                    labels=LABELS,
                    alternatives=(Requirements([Requirement.of(ZONE, "NotIn", ["a"])]),),
                    affinity=(term(ZONE, DB),),
                    priority=10,
                ),
                *pods(2, "db", cpu="100m", labels={"app": "db"}, host_ports=(HostPort(8080),)),
                *pods(
                    2,
                    "cache",
                    cpu="100m",
                    labels={"app": "cache"},
                    spreads=(BY_CACHES,),
                    affinity=(term(HOST, DB),),
                ),
            ],
            pools=[options(pool("few"), SMALL[:1], Limits({"cpu": 4_000})), options(pool("many"), SMALL[:1])],
        ),
        bystanders=(node("n", "b"),),
    ),
    "of two alike the less important is sure to come, and the other isn't": snapshot(
        [
            *pods(2, "web", cpu="100m", labels=LABELS),
            pod("db", cpu="100m", labels={"app": "db"}),
            *(
                pod(
                    f"cache-{number}",
                    cpu="100m",
                    labels={"app": "cache"},
                    spreads=(replace(BY_CACHES, topology_key=HOST), spread()),
                    anti_affinity=(term(ZONE, CACHE),),
                    priority=10 + number,
                )
                for number in range(2)
            ),
        ],
        pools=[options(types=SMALL[:1], remaining=Limits({"cpu": 4_000}))],
    ),
    "a preference opens kinds that are spared, beside another pod that has them": replace(
        snapshot(
            [
                pod("web", cpu="100m", labels=LABELS, affinity=(term(),), anti_affinity=(term(),)),
                pod("db", cpu="100m", preferences=Preferences(nodes=(PreferredNodes(100, ARM),))),
                pod("cache", cpu="100m", alternatives=(ARM,)),
            ],
            pools=[
                options(
                    types=[instance_type("x.m", cpu="3920m", memory="7Gi", on_demand=2.0, spot=None), SMALL[3]],
                )
            ],
        ),
        bystanders=(node("n", "a", pod("web-on-n", labels=LABELS, anti_affinity=(term(),))),),
    ),
    "a node for others is in the zone that the last of a spread lacks, or could be": snapshot(
        [
            *pods(3, "web", cpu="1", labels=LABELS, spreads=(spread(), replace(spread(CAPACITY_TYPE), selector=DB))),
            pod("db", cpu="100m", labels={"app": "db"}),
        ],
        pools=[
            options(
                types=[SMALL[0], instance_type("x.m", cpu="3920m", memory="7Gi", on_demand=2.0, spot=0.6)],
                remaining=Limits({"cpu": 8_000}),
            )
        ],
    ),
    "the last node of a limit in a zone without any, and the next pod joins one that is there": snapshot(
        [
            *pods(
                3, "web", cpu="2500m", labels=LABELS, spreads=(spread(), replace(BY_CACHES, topology_key=CAPACITY_TYPE))
            ),
            pod("db", cpu="100m"),
            pod("cache", cpu="100m", labels={"app": "cache"}, affinity=(term(ZONE, CACHE),)),
        ],
        pools=[
            options(
                types=[
                    instance_type("x.m", cpu="3920m", memory="7Gi", on_demand=2.0, spot=None),
                    instance_type("y.m", cpu="3920m", offerings=[offering(z, "spot", p) for z, p in SPOT.items()]),
                ],
                remaining=Limits({"cpu": 8_000}),
            )
        ],
    ),
    "the last node of a limit where it is cheapest, and the next pod can only join one that is there": snapshot(
        [
            *pods(
                3, "web", cpu="2500m", labels=LABELS, spreads=(spread(), replace(BY_CACHES, topology_key=CAPACITY_TYPE))
            ),
            pod("db", cpu="100m"),
            pod("cache", cpu="100m", labels={"app": "cache"}, affinity=(term(ZONE, CACHE),)),
        ],
        pools=[
            options(
                types=[
                    instance_type("y.m", cpu="3920m", on_demand=2.3, spot=None),
                    instance_type(
                        "x.m", cpu="3920m", memory="7Gi", offerings=[offering(z, "spot", p) for z, p in SPOT.items()]
                    ),
                ],
                remaining=Limits({"cpu": 8_000}),
            )
        ],
    ),
    "two seek each other, but one of them a third as well": snapshot(
        [
            pod(
                "web",
                cpu="100m",
                labels={"app": "web", "tier": "front"},
                affinity=(term(ZONE, FRONT),),
                anti_affinity=(term(),),
            ),
            pod("db", cpu="100m", labels={"app": "db", "tier": "front"}),
            pod(
                "cache",
                cpu="100m",
                labels={"app": "cache", "tier": "front"},
                affinity=(term(),),
                anti_affinity=(term(ZONE, CACHE),),
            ),
        ],
    ),
    "who shuns a soft taint gets a node that is spared, beside another who has no other": snapshot(
        [pod("web", cpu=0), pod("db", cpu=0, tolerates=[Toleration(key="dedicated", value="x")])],
        pools=[
            options(
                pool("plain", taints=(taint("dedicated", "x"), taint("soft", "", "PreferNoSchedule"))), types=[SMALL[0]]
            ),
            options(pool("gpu"), types=[instance_type("g.s", gpu=1, spot=None)]),
        ],
    ),
    "who shuns a soft taint gets a node of a lighter pool, beside another who has no other": snapshot(
        [pod("web", cpu=0), pod("db", cpu=0, tolerates=[Toleration(key="dedicated", value="x")])],
        pools=[
            options(
                pool("a", taints=(taint("dedicated", "x"), taint("soft", "", "PreferNoSchedule")), weight=10),
                types=[SMALL[0]],
            ),
            options(pool("b"), types=[SMALL[0]]),
        ],
    ),
    "two families to choose from, and another pod is spread over families": snapshot(
        [pod("web", cpu="100m", labels=LABELS), pod("db", cpu="100m", spreads=(spread(FAMILY),))],
        pools=[options(pool("default", TWO_FAMILIES), SMALL[:3])],
    ),
    "two zones to choose from, and no second of its kind may be in its own": snapshot(
        [pod("web", cpu="100m", labels=LABELS, anti_affinity=(term(),))],
        pools=[options(pool("default", TWO_ZONES), SMALL[:1])],
    ),
    "two types to choose from, and on one of them a DaemonSet is company": snapshot(
        [pod("db", cpu="100m", labels={"app": "db"}, affinity=(term(HOST, OTHERS),))],
        pools=[options(pool("default", TWO_TYPES), [SMALL[1], SMALL[3]])],
        daemon_sets=[ARM_AGENT],
    ),
    "an open label has a value of which others' spread hears nothing": snapshot(
        [
            *pods(2, "db", cpu="2500m", labels={"app": "db"}, selector={"team": "blue"}, spreads=(BY_DBS,)),
            pod("web", cpu="500m", labels=LABELS, spreads=(replace(spread(CAPACITY_TYPE), min_domains=3),)),
        ],
        rooms=[node("n", "a", *pods(2, "web-on-n", labels=LABELS), cpu="0", labels={CAPACITY_TYPE: "spot"})],
        pools=[
            options(
                pool("default", ("team", "In", "blue", "red")),
                [
                    instance_type("x.s", spot=None),
                    instance_type("x.m", cpu="3920m", offerings=[offering("a", "spot", 0.6)]),
                ],
            )
        ],
    ),
    "company that only the DaemonSet of dearer types gives": snapshot(
        pods(3, "db", cpu="100m", labels={"app": "db"}, affinity=(term(HOST, OTHERS),)),
        pools=[options(types=[SMALL[0], SMALL[3]])],
        daemon_sets=[ARM_AGENT],
    ),
}


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_it_is_planned_right_now(world: Snapshot) -> None:
    plan = solve(world)
    assert check(world, plan) == []
    assert placeable(world, plan) == []
    assert crowded(world, plan) == []


def test_a_node_moves_for_one_pod_and_so_for_another() -> None:
    assert solve(WORLDS[MOVED]).unschedulable == ()
