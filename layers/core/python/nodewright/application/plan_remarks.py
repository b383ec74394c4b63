"""What somebody who reads a plan should know beside it: who isn't in it, and where it had to give way."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from nodewright.application.ports import ClusterState, ManifestWarning
from nodewright.domain import nodes
from nodewright.domain.catalogue import InstanceType
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.headroom import HEADROOM, buffer_of, parse_headroom
from nodewright.domain.plans import Launch, Plan
from nodewright.domain.pods import Pod
from nodewright.domain.pools import NodePool
from nodewright.domain.snapshot import PoolOptions


def left_alone(state: ClusterState, cluster: ConnectedCluster) -> Iterator[ManifestWarning]:
    """Pods that wait for something other than a node."""
    for pod in state.pods:
        if pod.node_name or pod.is_terminal:
            continue
        if pod.scheduler_name not in cluster.scheduler_names:
            message = f"{pod.scheduler_name} is another scheduler's, so the pod is not planned"
            yield ManifestWarning(f"Pod/{pod.key}", "spec.schedulerName", message)
        elif pod.gated:
            message = "its gates hold it back, so it is not planned; take them out to plan it"
            yield ManifestWarning(f"Pod/{pod.key}", "spec.schedulingGates", message)


def elsewhere(pools: Iterable[NodePool], name: str, here: Sequence[str]) -> Iterator[ManifestWarning]:
    """Pools that only want zones of which nothing is known: `here` are those of the catalogue of that name."""
    for pool in pools:
        zones = pool.requirements.get(nodes.ZONE_LABEL)
        if zones is None or zones.complement or zones.values & frozenset(here):
            continue
        message = (
            f"its zones ({', '.join(sorted(zones.values))}) are none of {name} ({', '.join(here)}); "
            "choose another --region or --catalogue"
        )
        yield ManifestWarning(str(pool), _requirements(pool), message)


def shares_of_nothing(pools: Iterable[NodePool], kept: Iterable[Pod]) -> Iterator[ManifestWarning]:
    """Pools that keep a share of what their pods request, where no pod of theirs runs."""
    keeping = {buffer_of(unit.key).name for unit in kept}
    for pool in pools:
        share = parse_headroom(pool.settings.get(HEADROOM, "0%"))
        if isinstance(share, Fraction) and share and pool.name not in keeping:
            message = (
                f"{pool.settings[HEADROOM]} of what runs on the pool's nodes is nothing, so nothing is kept free; "
                "add nodes and their pods with -f, or write resources like cpu=4,memory=8Gi"
            )
            yield ManifestWarning(str(pool), f"metadata.annotations.{HEADROOM}", message)


def relaxed(plan: Plan, options: Iterable[PoolOptions]) -> Iterator[ManifestWarning]:
    """MinValues that a launch doesn't reach, as its pool allows."""
    known = {each.pool.name: each for each in options}
    for launch in plan.launches:
        pool = known[launch.pool].pool
        for key in launch.relaxed_min_values:
            least = pool.requirements[key].min_values
            found = len(_values(launch, known[launch.pool].instance_types, key))
            message = f"minValues of {key}: {found} of {least} values hold a node of it, which is launched all the same"
            yield ManifestWarning(str(pool), _requirements(pool), message)


def _values(launch: Launch, types: Iterable[InstanceType], key: str) -> set[str]:
    if key == nodes.ZONE_LABEL:
        return set(launch.zones)
    listed = set(launch.instance_types)
    return {each.labels[key] for each in types if each.name in listed and key in each.labels}


def _requirements(pool: NodePool) -> str:
    return "spec.requirements" if pool.kind == "Provisioner" else "spec.template.spec.requirements"
