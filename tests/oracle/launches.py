"""What a launch must be by itself: buyable, within its pool, and right whichever of its offerings comes."""

from collections.abc import Iterator, Mapping

from nodewright.domain.catalogue import InstanceType
from nodewright.domain.limits import NODES, PRICE
from nodewright.domain.node_labels import SET_BY_THE_CLUSTER
from nodewright.domain.nodes import CAPACITY_TYPE_LABEL, NODE_POOL_LABEL, ZONE_LABEL
from nodewright.domain.plans import Launch, LaunchOffering, Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.snapshot import PoolOptions, Snapshot
from tests.oracle.cluster import rule_keys
from tests.oracle.filters import node_refusal
from tests.oracle.futures import PlannedNode, node_labels, planned_nodes, site_of, type_named

Pods = Mapping[PodKey, Pod]


def launch_faults(snapshot: Snapshot, plan: Plan) -> Iterator[str]:
    """Sentences of what is wrong with single launches."""
    pools = {each.pool.name: each for each in snapshot.pools}
    pods = {pod.key: pod for pod in snapshot.pods}
    for number, launch in enumerate(plan.launches):
        name = f"launch {number} of {launch.pool}"
        if launch.pool not in pools:
            yield f"{name}: no such pool"
        elif not launch.offerings or not launch.nodes or not all(launch.nodes):
            yield f"{name}: without offerings, nodes or pods"
        else:
            yield from (f"{name}: {fault}" for fault in _faults(launch, pools[launch.pool], pods))
    yield from _contents(snapshot, plan, pods)


def limit_faults(snapshot: Snapshot, plan: Plan) -> Iterator[str]:
    """Limits are hard: every node counts the largest that may come of each resource."""
    for options in snapshot.pools:
        counted = usage(options, plan)
        for resource, most in (options.remaining or {}).items():
            if counted.get(resource) > max(most, 0):
                yield f"pool {options.pool.name}: up to {counted.get(resource)} {resource}, {most} remain"


def usage(options: PoolOptions, plan: Plan) -> Resources:
    """The most a plan may come to count against a pool's limits."""
    mine = [launch for launch in plan.launches if launch.pool == options.pool.name]
    return sum((_largest(launch, options).times(len(launch.nodes)) for launch in mine), Resources())


def offering_faults(offering: LaunchOffering, launch: Launch, options: PoolOptions) -> Iterator[str]:
    """Why a launch of this pool may not list it."""
    instance_type = type_named(offering.instance_type, options)
    if instance_type is None:
        yield f"{offering.instance_type} isn't among the pool's types"
        return
    if not _is_sold(offering, launch, instance_type):
        yield f"{offering.instance_type} isn't sold {launch.capacity_type} in {offering.zone} for {offering.price} now"
    labels = node_labels(options.pool, launch, offering, instance_type)
    for key, requirement in options.pool.requirements.items():
        fine = requirement.allows(labels[key]) if key in labels else requirement.allows_absent or _is_open(key, options)
        if not fine:
            yield f"{offering.instance_type} in {offering.zone} breaks the pool's requirement {requirement}"


def _largest(launch: Launch, options: PoolOptions) -> Resources:
    most = Resources()
    for offering in launch.offerings:
        instance_type = type_named(offering.instance_type, options)
        if instance_type is not None:
            most = most.maximum(instance_type.capacity + Resources({NODES: 1, PRICE: offering.price}))
    return most


def _faults(launch: Launch, options: PoolOptions, pods: Pods) -> Iterator[str]:
    if options.pool.terminating:
        yield "the pool is being deleted"
    for offering in launch.offerings:
        yield from offering_faults(offering, launch, options)
    prices = [each.price for each in launch.offerings]
    if prices != sorted(prices) or launch.price != prices[0]:
        yield f"price {launch.price} for offerings of {prices}"
    if len(set(launch.offerings)) < len(launch.offerings):
        yield "lists an offering twice"
    yield from _label_faults(launch, options)
    yield from _min_values_faults(launch, options)
    yield from _unread_labels(launch, options, pods)
    yield from _request_faults(launch, pods)


def _is_sold(offering: LaunchOffering, launch: Launch, instance_type: InstanceType) -> bool:
    wanted = (offering.zone, launch.capacity_type, offering.price, True)
    return any(
        (each.zone, each.capacity_type, each.price, each.available) == wanted for each in instance_type.offerings
    )


def _is_open(key: str, options: PoolOptions) -> bool:
    """A label that only the pool speaks of, and that nobody has chosen: its nodes go without it."""
    return all(key not in each.labels for each in options.instance_types)


def _label_faults(launch: Launch, options: PoolOptions) -> Iterator[str]:
    for key, value in launch.labels.items():
        requirement = options.pool.requirements.get(key)
        if requirement is None or not requirement.allows(value):
            yield f"label {key}={value} isn't the pool's to give"
        if options.pool.labels.get(key, value) != value:
            yield f"label {key}={value} where the pool's template says {options.pool.labels[key]}"


def _min_values_faults(launch: Launch, options: PoolOptions) -> Iterator[str]:
    """By Karpenter's policy Strict, unless the pool says otherwise."""
    if options.pool.settings.get("nodewright.dev/min-values-policy") == "BestEffort":
        return
    for key, requirement in options.pool.requirements.items():
        values = {
            labels[key]
            for offering in launch.offerings
            if (each := type_named(offering.instance_type, options)) is not None
            and key in (labels := node_labels(options.pool, launch, offering, each))
        }
        if requirement.min_values is not None and len(values) < requirement.min_values:
            yield f"{len(values)} of {requirement.min_values} values of {key}"


def _unread_labels(launch: Launch, options: PoolOptions, pods: Pods) -> Iterator[str]:
    """Types that differ in a label the pods read need user data of their own, else nodes are born without it."""
    types = [each for name in launch.instance_types if (each := type_named(name, options)) is not None]
    born_with = {*launch.selected_labels, *SET_BY_THE_CLUSTER, ZONE_LABEL, CAPACITY_TYPE_LABEL, NODE_POOL_LABEL}
    mine = [pods[key] for content in launch.nodes for key in content if key in pods]
    for key in sorted({key for pod in mine for key in _keys_read(pod)} - born_with - set(launch.labels)):
        if len({each.labels.get(key) for each in types}) > 1:
            yield f"its types differ in {key}, which its pods read, but it isn't among selected_labels"


def _keys_read(pod: Pod) -> set[str]:
    terms = (*pod.alternatives, *pod.volume_nodes)
    return {*(key for term in terms for key in term), *rule_keys(pod)}


def _request_faults(launch: Launch, pods: Pods) -> Iterator[str]:
    for content in launch.nodes:
        asked = sum((pods[key].requests for key in content if key in pods), Resources())
        if asked != launch.requests:
            yield f"a node of pods that ask for {asked} in a launch for {launch.requests}"


def _contents(snapshot: Snapshot, plan: Plan, pods: Pods) -> Iterator[str]:
    for node in planned_nodes(snapshot, plan):
        mine = [pods[key] for key in node.pods if key in pods]
        yield from (f"{pod.key} has problems, no node may be bought for it" for pod in mine if pod.problems)
        yield from (f"{pod.key} is set aside" for pod in mine if pod.key in snapshot.set_aside)
        yield from _content_faults(node, mine, snapshot)


def _content_faults(node: PlannedNode, mine: list[Pod], snapshot: Snapshot) -> Iterator[str]:
    for offering in node.launch.offerings:
        site = site_of(node, offering, snapshot)
        if site is None:
            continue
        for number, pod in enumerate(mine):
            why = node_refusal(pod, site, mine[:number])
            if why is not None:
                yield f"as {offering.instance_type} in {offering.zone}: {why}"
