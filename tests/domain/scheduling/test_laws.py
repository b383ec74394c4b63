"""What holds of every plan, whatever the world."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodewright.domain.catalogue import InstanceType
from nodewright.domain.limits import PRICE
from nodewright.domain.pods import DaemonSet, Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirements
from nodewright.domain.scheduling import Budget, solve
from nodewright.domain.snapshot import PoolOptions, Room, Snapshot
from nodewright.domain.taints import Toleration
from tests import builders
from tests.domain.scheduling.checker import faults

pytestmark = pytest.mark.property

T = TypeVar("T")

ZONE = "topology.kubernetes.io/zone"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
ARCH = "kubernetes.io/arch"
TERMS = (
    Requirements(),
    builders.requirements((ZONE, "In", "a")),
    builders.requirements((ZONE, "NotIn", "b")),
    builders.requirements((CAPACITY_TYPE, "In", "on-demand")),
    builders.requirements((ARCH, "In", "arm64")),
    builders.requirements(("team", "In", "red")),
    builders.requirements(("team", "In", "blue"), (ZONE, "In", "b", "c")),
    builders.requirements(("team", "DoesNotExist")),
    builders.requirements(("karpenter.k8s.aws/instance-cpu", "Gt", "3")),
)
TAINTS = (builders.taint("dedicated", "x"), builders.taint("soft", effect="PreferNoSchedule"))
BEARS = Toleration("dedicated", "Equal", "x")


@st.composite
def instance_types(draw: st.DrawFn) -> tuple[InstanceType, ...]:
    count = draw(st.integers(1, 6))
    return tuple(
        builders.instance_type(
            f"f{number % 3}.s{number}",
            cpu=f"{draw(st.integers(500, 8000))}m",
            memory=f"{draw(st.integers(256, 16384))}Mi",
            pod_slots=draw(st.sampled_from((3, 8, 110))),
            gpu=draw(st.sampled_from((0, 0, 0, 1, 4))),
            arch=draw(st.sampled_from(("amd64", "amd64", "arm64"))),
            offerings=[
                builders.offering(zone, kind, draw(st.integers(1, 400)) / 100, available=draw(st.integers(0, 5)) > 0)
                for zone in draw(st.sets(st.sampled_from("abc"), min_size=1))
                for kind in ("on-demand", "spot")
            ],
        )
        for number in range(count)
    )


@st.composite
def pods(draw: st.DrawFn) -> tuple[Pod, ...]:
    kinds = draw(st.integers(1, 5))
    made: list[Pod] = []
    for kind in range(kinds):
        gpu = draw(st.sampled_from((0, 0, 0, 1)))
        like = builders.pod(
            cpu=f"{draw(st.sampled_from((0, 100, 250, 900, 1500, 4000)))}m",
            memory=f"{draw(st.sampled_from((0, 64, 512, 3000)))}Mi",
            requests=builders.resources(gpu=gpu),
            terms=draw(st.lists(st.sampled_from(TERMS), max_size=2)),
            tolerates=draw(st.sampled_from(((), (BEARS,)))),
        )
        made += [replace(like, key=PodKey("ns", f"{kind}-{n}")) for n in range(draw(st.integers(1, 12)))]
    return tuple(made)


@st.composite
def pools(draw: st.DrawFn) -> tuple[PoolOptions, ...]:
    money = Resources({PRICE: 2_500_000_000})
    several = builders.resources(nodes=2, memory="20Gi")
    limits = st.sampled_from((None, None, builders.resources(cpu=9), several, money, money + builders.resources(cpu=9)))
    teams = st.sampled_from(
        ((), (("team", "In", "red", "blue"),), (("team", "Exists"),), ((CAPACITY_TYPE, "In", "spot"),))
    )
    return tuple(
        PoolOptions(
            builders.pool(
                f"pool-{number}",
                *draw(teams),
                weight=draw(st.sampled_from((0, 0, 10))),
                taints=draw(st.sampled_from(((), (), TAINTS))),
                settings={"nodewright.dev/assume-arch": draw(st.sampled_from(("amd64", "any")))},
            ),
            draw(instance_types()),
            draw(limits),
        )
        for number in range(draw(st.integers(1, 3)))
    )


@st.composite
def rooms(draw: st.DrawFn) -> tuple[Room, ...]:
    return tuple(
        builders.room(
            f"room-{number}",
            cpu=f"{draw(st.integers(0, 6000))}m",
            labels={ZONE: draw(st.sampled_from("ab")), ARCH: "amd64"},
            taints=draw(st.sampled_from(((), TAINTS))),
            initialized=draw(st.booleans()),
            nominated=(PodKey("ns", "0-0"),),
        )
        for number in range(draw(st.integers(0, 3)))
    )


DAEMON_SETS: tuple[tuple[DaemonSet, ...], ...] = (
    (),
    (builders.daemon_set(cpu="100m", memory="64Mi"),),
    (builders.daemon_set("zonal", cpu="200m", terms=[TERMS[1]]), builders.daemon_set("shy", tolerates=())),
)


@st.composite
def worlds(draw: st.DrawFn) -> Snapshot:
    return builders.snapshot(
        draw(pods()), rooms=draw(rooms()), pools=draw(pools()), daemon_sets=draw(st.sampled_from(DAEMON_SETS))
    )


@settings(deadline=None, max_examples=50)
@given(worlds())
def test_a_plan_is_never_over_capacity_nor_breaks_a_hard_constraint_nor_a_limit_nor_its_bound(world: Snapshot) -> None:
    found = faults(world, solve(world))

    assert found == []


@settings(deadline=None, max_examples=50)
@given(worlds(), st.integers())
def test_a_plan_does_not_depend_on_the_order_in_which_its_snapshot_lists_things(world: Snapshot, seed: int) -> None:
    shuffled = replace(
        world,
        pods=_shuffled(world.pods, seed),
        rooms=_shuffled(world.rooms, seed),
        daemon_sets=_shuffled(world.daemon_sets, seed),
        pools=tuple(
            replace(options, instance_types=_shuffled(options.instance_types, seed))
            for options in _shuffled(world.pools, seed)
        ),
    )

    assert repr(solve(shuffled)) == repr(solve(world))


@settings(deadline=None, max_examples=50)
@given(worlds(), st.integers(0, 3))
def test_a_plan_cut_short_is_valid_and_says_so(world: Snapshot, patterns: int) -> None:
    plan = solve(world, Budget(patterns))

    assert faults(world, plan) == []
    assert plan.truncated or plan == solve(world)


def _shuffled(things: Sequence[T], seed: int) -> tuple[T, ...]:
    return tuple(Random(seed).sample(things, len(things)))
