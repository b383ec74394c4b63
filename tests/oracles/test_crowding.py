"""The judge on spreads over zones that have no node yet (cases.md 6)."""

from collections.abc import Sequence

import pytest

from nodewright.domain.catalogue import InstanceType
from nodewright.domain.limits import NODES, Limits
from nodewright.domain.plans import Plan
from nodewright.domain.snapshot import Snapshot
from tests.builders import instance_type, options, pods, pool, requirements, snapshot
from tests.oracle import check, crowded
from tests.oracles.plans import HOST, ZONE, launch, plan, spread

SPREAD = pods(4, labels={"app": "web"}, spreads=(spread(),))


def in_zones(world: Snapshot, zones: str) -> Plan:
    return plan(world, *[launch(world, [each], zones=[zone]) for each, zone in zip(world.pods, zones, strict=True)])


def test_all_in_one_zone_is_no_fault_for_kube_scheduler_but_crowded() -> None:
    world = snapshot(SPREAD)
    made = in_zones(world, "aaaa")
    assert check(world, made) == []
    assert "default/p-0 is number 4 in topology.kubernetes.io/zone a" in crowded(world, made)[0]
    assert crowded(world, in_zones(world, "abca")) == []


def test_a_zone_that_no_pool_offers_is_not_missed() -> None:
    stray = options(pool("stray", (ZONE, "In", "z")))
    world = snapshot(SPREAD, pools=[options(pool("default", (ZONE, "In", "a", "b"))), stray])
    assert crowded(world, in_zones(world, "abab")) == []
    world = snapshot(SPREAD, pools=[options(pool("default", (ZONE, "In", "a"))), stray])
    assert crowded(world, in_zones(world, "aaaa")) == []


def test_nor_is_one_beyond_the_limits() -> None:
    world = snapshot(SPREAD, pools=[options(remaining=Limits({NODES: 1}))])
    assert crowded(world, plan(world, launch(world, SPREAD[:3]))) == []


def test_hosts_can_always_be_had() -> None:
    two = pods(2, labels={"app": "web"}, spreads=(spread(HOST),))
    world = snapshot(two)
    made = plan(world, launch(world, two))
    assert check(world, made) == []
    assert "number 2 in kubernetes.io/hostname" in crowded(world, made)[0]


ARCH = "kubernetes.io/arch"
IN_A = instance_type(zones="a")
ARM_ELSEWHERE = [IN_A, instance_type("arm.s", arch="arm64", zones="bc")]
GPU_ELSEWHERE = [IN_A, instance_type("gpu.s", gpu=1, zones="bc")]
METAL_ELSEWHERE = [IN_A, instance_type("x.metal", zones="bc")]


@pytest.mark.parametrize("types", [ARM_ELSEWHERE, GPU_ELSEWHERE, METAL_ELSEWHERE])
def test_a_zone_of_spared_kinds_alone_is_not_missed(types: Sequence[InstanceType]) -> None:
    world = snapshot(SPREAD, pools=[options(types=types)])
    assert crowded(world, in_zones(world, "aaaa")) == []


def test_it_is_by_pods_that_may_have_them() -> None:
    settings = {"nodewright.dev/assume-arch": "any"}
    world = snapshot(SPREAD, pools=[options(pool(settings=settings), ARM_ELSEWHERE)])
    assert "it could have a new node" in crowded(world, in_zones(world, "aaaa"))[0]
    chosen = pods(4, labels={"app": "web"}, spreads=(spread(),), alternatives=(requirements((ARCH, "Exists")),))
    world = snapshot(chosen, pools=[options(types=ARM_ELSEWHERE)])
    assert "it could have a new node" in crowded(world, in_zones(world, "aaaa"))[0]


def test_where_there_are_no_others_they_are_missed() -> None:
    types = [instance_type("arm.s", arch="arm64", zones="ab")]
    world = snapshot(SPREAD, pools=[options(types=types)])
    made = plan(world, launch(world, SPREAD, types=["arm.s"], zones=["a"]))
    assert "it could have a new node" in crowded(world, made)[0]
