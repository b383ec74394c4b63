"""A planned launch becomes what EC2 is asked: launch templates with user data, and overrides."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from nodewright.application.errors import RefusedError
from nodewright.application.node_class_resolution import ResolvedNodeClass
from nodewright.application.ports import FleetOverride, LaunchTemplateSpec
from nodewright.application.request_sizes import fitting
from nodewright.domain import nodes
from nodewright.domain.catalogue import InstanceType
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.images import USER_DATA_LIMIT_BYTES, Bootstrap, UserDataError, family
from nodewright.domain.node_labels import for_kubelet, restricted
from nodewright.domain.nodeclasses import NodeClass
from nodewright.domain.plans import Launch, LaunchOffering
from nodewright.domain.pools import NodePool
from nodewright.domain.taints import Taint

STACK_TAG = "nodewright.dev/stack"
UNREGISTERED = Taint("karpenter.sh/unregistered", "", "NoExecute")

#: CreateFleet takes at most 50 launch template configurations.
TEMPLATES_PER_FLEET = 50


@dataclass(frozen=True, slots=True)
class Buyer:
    """On whose behalf: the cluster, and the stack whose tag marks what is ours."""

    cluster: ConnectedCluster
    stack_id: str


@dataclass(frozen=True, slots=True)
class Order:
    """A planned launch with everything it is made from."""

    launch: Launch
    pool: NodePool
    resolved: ResolvedNodeClass
    types: Mapping[str, InstanceType]
    """Of the pool, by name; every type of the launch is in it."""
    buyer: Buyer

    @property
    def listed(self) -> tuple[InstanceType, ...]:
        """The launch's types, cheapest first."""
        return tuple(self.types[name] for name in self.launch.instance_types)

    @property
    def prices_overlaid(self) -> bool:
        """Whether a node overlay gave one of them a price: then EC2 must go by ours (karpenter-behaviour §7.1)."""
        bought_as = self.launch.capacity_type
        return any(o.overlaid for each in self.listed for o in each.offerings if o.capacity_type == bought_as)


@dataclass(frozen=True, slots=True)
class TemplateOrder:
    """A launch template to have, and the overrides that will use it."""

    spec: LaunchTemplateSpec
    overrides: tuple[FleetOverride, ...]


def template_orders(order: Order) -> tuple[TemplateOrder, ...]:
    """One template per image and set of label values its pods look at, cheapest offering first.

    Labels that differ between types and that no pod of the launch reads are left to reconcile:
    a template per type would be sixty templates. RefusedError names class, field and fix.
    """
    groups: dict[tuple[str, tuple[tuple[str, str], ...]], list[FleetOverride]] = {}
    for offering, image in _buyable(order):
        labels = _type_labels(order.types[offering.instance_type], order)
        subnet = order.resolved.subnets[offering.zone].id
        price = offering.price if order.prices_overlaid else None
        override = FleetOverride(offering.instance_type, offering.zone, subnet, image, price)
        groups.setdefault((image, tuple(sorted(labels.items()))), []).append(override)
    if not groups:
        raise RefusedError(
            f"{order.resolved.node_class}: no image for the architecture of"
            f" {', '.join(order.launch.instance_types[:5])};"
            f" add a term to {order.resolved.node_class.path('spec.amiSelectorTerms')}"
        )
    return tuple(
        TemplateOrder(_template(image, dict(labels), order), tuple(overrides))
        for (image, labels), overrides in list(groups.items())[:TEMPLATES_PER_FLEET]
    )


def _buyable(order: Order) -> Iterator[tuple[LaunchOffering, str]]:
    for offering in fitting(order.launch.offerings, tags(order)):
        image = order.resolved.image_for(order.types[offering.instance_type])
        if image and offering.zone in order.resolved.subnets:
            yield offering, image


def _type_labels(instance_type: InstanceType, order: Order) -> dict[str, str]:
    """Type labels for user data: those all types of the launch share, and those its pods read."""
    return {
        key: value
        for key, value in instance_type.labels.items()
        if key in order.launch.selected_labels or all(other.labels.get(key) == value for other in order.listed)
    }


def _template(image: str, type_labels: Mapping[str, str], order: Order) -> LaunchTemplateSpec:
    labels = {**pool_labels(order.pool, order.launch), **type_labels}
    return LaunchTemplateSpec(
        image_id=image,
        user_data=_user_data(labels, order),
        instance_profile=order.resolved.instance_profile,
        security_group_ids=order.resolved.security_group_ids,
        node_class=_with_disks(order.resolved.node_class),
        capacity_type=order.launch.capacity_type,
        tags=tags(order),
    )


def _with_disks(node_class: NodeClass) -> NodeClass:
    """A class that names no disks gets its image family's, which the capacity model counts on."""
    return replace(node_class, block_devices=node_class.block_devices or family(node_class.ami_family).block_devices)


def _user_data(labels: Mapping[str, str], order: Order) -> str:
    node_class, cluster = order.resolved.node_class, order.buyer.cluster
    bootstrap = Bootstrap(
        cluster=cluster.name,
        endpoint=cluster.endpoint,
        certificate_authority=cluster.certificate_authority,
        service_cidr=cluster.service_cidr,
        dns_ip=cluster.dns_ip,
        labels=for_kubelet(labels),
        taints=registered_taints(order.pool, labels),
        kubelet=node_class.kubelet,
        raid0=node_class.instance_store_raid0,
        user_data=node_class.user_data,
    )
    try:
        text = family(node_class.ami_family).user_data(bootstrap)
    except UserDataError as error:
        raise RefusedError(f"{node_class}: {error}") from error
    size = len(text.encode())
    if size > USER_DATA_LIMIT_BYTES:
        raise RefusedError(
            f"{node_class}: user data of {size} bytes, at most {USER_DATA_LIMIT_BYTES};"
            f" shorten {node_class.path('spec.userData')}"
        )
    return text


def registered_taints(pool: NodePool, labels: Mapping[str, str]) -> tuple[Taint, ...]:
    """Taints kubelet registers with; unregistered only while a label is missing that kubelet may not set."""
    held_back = (UNREGISTERED,) if restricted(labels) else ()
    return (*pool.taints, *pool.startup_taints, *held_back)


def pool_labels(pool: NodePool, launch: Launch) -> dict[str, str]:
    """Labels every node of the launch has whatever type comes: the template's, what pool or pods fix.

    The pool's name stands there under v1alpha5's key too: a pod that selects it (`karpenter.sh/provisioner-name`)
    is planned onto the pool, and kube-scheduler, which knows no aliases, must find it on the node.
    """
    fixed = {
        key: next(iter(requirement.values))
        for key, requirement in pool.requirements.items()
        if not requirement.complement and len(requirement.values) == 1
    }
    return {
        **fixed,
        **launch.labels,
        **pool.labels,
        **launch.labels,
        nodes.NODE_POOL_LABEL: pool.name,
        nodes.PROVISIONER_LABEL: pool.name,
        nodes.CAPACITY_TYPE_LABEL: launch.capacity_type,
    }


def tags(order: Order) -> dict[str, str]:
    """Ours beside Karpenter's (karpenter-behaviour §7.3); a class's own tags may only add."""
    name, node_class = order.buyer.cluster.name, order.resolved.node_class
    return {
        **node_class.tags,
        f"kubernetes.io/cluster/{name}": "owned",
        "eks:eks-cluster-name": name,
        nodes.NODE_POOL_LABEL: order.pool.name,
        "karpenter.k8s.aws/ec2nodeclass": node_class.name,
        STACK_TAG: order.buyer.stack_id,
    }
