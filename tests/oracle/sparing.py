"""Kinds of nodes that are kept for whoever asks for them (cases.md 31 and 32): accelerated and bare-metal ones, and
those of an architecture for which nobody says that the image was built.
"""

from collections.abc import Callable
from typing import Final

from nodewright.domain.catalogue import InstanceType
from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod
from nodewright.domain.snapshot import PoolOptions, Snapshot
from tests.oracle.futures import type_named
from tests.oracle.placing import new_node_plans

TypeOfPool = tuple[str, str]
"""Names of a pool and of an instance type."""

_ARCH: Final = "kubernetes.io/arch"
_ODD_DOMAINS: Final = ("nvidia.com/", "amd.com/", "aws.amazon.com/neuron", "habana.ai/")
_Odd = Callable[[Pod, PoolOptions, InstanceType], bool]


def unspared(snapshot: Snapshot, pod: Pod) -> frozenset[TypeOfPool]:
    """Types that the pod is given. Among pools of one weight an odd one is given only where no other would do."""
    pools = [each for each in snapshot.pools if not each.pool.terminating]
    weights = {each.pool.weight for each in pools}
    return frozenset().union(
        *(_given(snapshot, pod, [each for each in pools if each.pool.weight == weight]) for weight in weights)
    )


def _given(snapshot: Snapshot, pod: Pod, pools: list[PoolOptions]) -> set[TypeOfPool]:
    could = [(options, instance_type) for options in pools for instance_type in _holding(snapshot, pod, options)]
    for is_odd in (_is_costly, _is_foreign):
        could = [each for each in could if _asks_for_choice(each[0]) or not is_odd(pod, *each)] or could
    return {(options.pool.name, instance_type.name) for options, instance_type in could}


def _holding(snapshot: Snapshot, pod: Pod, options: PoolOptions) -> list[InstanceType]:
    """Types of which a node could be bought for the pod before anything else is."""
    plans = (plan for _, plan in new_node_plans(snapshot, Plan(), pod, options))
    names = {offering.instance_type for plan in plans for offering in plan.launches[-1].offerings}
    return [found for name in sorted(names) if (found := type_named(name, options)) is not None]


def _asks_for_choice(options: PoolOptions) -> bool:
    """By minValues: then nothing is kept back."""
    return any(each.min_values for each in options.pool.requirements.values())


def _is_costly(_pod: Pod, _options: PoolOptions, instance_type: InstanceType) -> bool:
    """A pod that asks for its accelerators finds no other that would do."""
    has_more = any(amount and name.startswith(_ODD_DOMAINS) for name, amount in instance_type.capacity.items())
    return has_more or ".metal" in instance_type.name


def _is_foreign(pod: Pod, options: PoolOptions, instance_type: InstanceType) -> bool:
    says = any(_ARCH in term for term in pod.alternatives) or any(
        each.key == _ARCH or each.value == "arm64" for each in pod.tolerations
    )
    any_will_do = options.pool.settings.get("nodewright.dev/assume-arch") == "any"
    return not says and not any_will_do and instance_type.labels.get(_ARCH) != "amd64"
