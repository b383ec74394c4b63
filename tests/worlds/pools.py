"""Node pools with a twist or two each."""

from collections.abc import Callable
from dataclasses import replace

from hypothesis import strategies as st

from nodewright.domain.catalogue import InstanceType
from nodewright.domain.limits import NODES, PRICE, Limits
from nodewright.domain.pools import NodePool
from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.snapshot import PoolOptions
from tests.builders import USD, pool, taint

TEAM_TAINT = taint("team", "blue")
_FAMILY = "karpenter.k8s.aws/instance-family"
_CPU = "karpenter.k8s.aws/instance-cpu"


def _requiring(*entries: Requirement) -> Callable[[NodePool], NodePool]:
    return lambda of: replace(of, requirements=of.requirements.intersect(Requirements(entries)))


def _labelled(key: str, value: str) -> Callable[[NodePool], NodePool]:
    fixed = Requirements.from_labels({key: value})
    return lambda of: replace(of, labels={**of.labels, key: value}, requirements=of.requirements.intersect(fixed))


TWISTS: dict[str, Callable[[NodePool], NodePool]] = {
    "in-ab": _requiring(Requirement.of("topology.kubernetes.io/zone", "In", ["a", "b"])),
    "in-c": _requiring(Requirement.of("topology.kubernetes.io/zone", "In", ["c"])),
    "nowhere": _requiring(Requirement.of("topology.kubernetes.io/zone", "In", ["z"])),
    "spot": _requiring(Requirement.of("karpenter.sh/capacity-type", "In", ["spot"])),
    "on-demand": _requiring(Requirement.of("karpenter.sh/capacity-type", "In", ["on-demand"])),
    "big": _requiring(Requirement.of(_CPU, "Gt", ["2"])),
    "small": _requiring(Requirement.of(_CPU, "Lt", ["8"])),
    "two-types": _requiring(Requirement.of("node.kubernetes.io/instance-type", "Exists", (), 2)),
    "two-families": _requiring(Requirement.of(_FAMILY, "Exists", (), 2)),
    "open-team": _requiring(Requirement.of("team", "In", ["blue", "red"])),
    "any-team": _requiring(Requirement.of("team", "Exists")),
    "open-rack": _requiring(Requirement.of("rack", "In", ["r1", "r2", "r3"])),
    "team-blue": _labelled("team", "blue"),
    "rack-r1": _labelled("rack", "r1"),
    "tainted": lambda of: replace(of, taints=(TEAM_TAINT,)),
    "softly-tainted": lambda of: replace(of, taints=(taint("team", "blue", "PreferNoSchedule"),)),
    "starting": lambda of: replace(of, startup_taints=(taint("cni", "", "NoExecute"),)),
    "heavy": lambda of: replace(of, weight=50),
    "deleted": lambda of: replace(of, terminating=True),
}
GENTLE = ("in-ab", "softly-tainted", "starting", "heavy", "open-team", "open-rack", "team-blue", "rack-r1")
_LIMITS = (
    *[None] * 20,
    Limits({"cpu": 4_000}),
    Limits({"cpu": 8_000}),
    Limits({"cpu": 12_000, "memory": 16 * 1024**3}),
    Limits({NODES: 1}),
    Limits({NODES: 3}),
    Limits({PRICE: 3 * USD}),
    Limits({"cpu": 0}),
)


@st.composite
def pools(draw: st.DrawFn, types: tuple[InstanceType, ...]) -> tuple[PoolOptions, ...]:
    """One to three, named after their twists; the first is rather an easy one."""
    made = [draw(_options(types, GENTLE)), *draw(st.lists(_options(types, tuple(TWISTS)), max_size=2))]
    return tuple(replace(each, pool=replace(each.pool, name=f"{each.pool.name}.{n}")) for n, each in enumerate(made))


@st.composite
def _options(draw: st.DrawFn, types: tuple[InstanceType, ...], choice: tuple[str, ...]) -> PoolOptions:
    twists = draw(st.lists(st.sampled_from(choice), max_size=2, unique=True))
    made = pool("+".join(twists) or "plain")
    for twist in twists:
        made = TWISTS[twist](made)
    remaining = draw(st.sampled_from(_LIMITS))
    return PoolOptions(replace(made, limits=remaining), types, remaining)
