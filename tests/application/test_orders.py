"""What EC2 is asked for a planned launch: templates by what user data must say, overrides, tags, disks."""

from dataclasses import replace

import pytest

from nodewright.application.errors import RefusedError
from nodewright.application.node_class_resolution import ResolvedNodeClass
from nodewright.application.orders import (
    STACK_TAG,
    UNREGISTERED,
    Buyer,
    Order,
    TemplateOrder,
    pool_labels,
    registered_taints,
    tags,
    template_orders,
)
from nodewright.application.ports import Subnet
from nodewright.domain.catalogue import InstanceType
from nodewright.domain.images import FAMILIES, Family
from nodewright.domain.nodeclasses import BlockDevice, NodeClass
from nodewright.domain.plans import Launch, LaunchOffering
from nodewright.domain.pods import PodKey
from nodewright.domain.pools import NodePool
from nodewright.domain.quantities import Resources
from nodewright.domain.taints import Taint
from sandbox.nodes.user_data import Joining, read
from tests.application.world import STACK, connected, node_class
from tests.builders import instance_type, pool, taint

CPU = "karpenter.k8s.aws/instance-cpu"
FAMILY = "karpenter.k8s.aws/instance-family"
TYPES = (
    instance_type("x.s"),
    instance_type("x.m", vcpu=4),
    instance_type("y.m", vcpu=4, arch="arm64"),
    instance_type("g.m", vcpu=4, labels={"karpenter.k8s.aws/instance-gpu-manufacturer": "nvidia"}),
)
IMAGES = {("amd64", "standard"): "ami-amd", ("arm64", "standard"): "ami-arm", ("amd64", "nvidia"): "ami-gpu"}
SUBNETS = {zone: Subnet(f"subnet-{zone}", zone, f"id-{zone}", 100) for zone in ("a", "b")}


def order(
    *names: str,
    of: NodePool | None = None,
    by: NodeClass | None = None,
    zones: tuple[str, ...] = ("a",),
    types: tuple[InstanceType, ...] = TYPES,
    **launch: object,
) -> Order:
    resolved = ResolvedNodeClass(by or node_class(), SUBNETS, ("sg-1",), "profile", IMAGES)  # type: ignore[arg-type]
    offerings = tuple(LaunchOffering(name, zone, 1) for name in names for zone in zones)
    planned = Launch("default", "spot", offerings, 1, Resources(), ((PodKey("ns", "p"),),))
    return Order(
        launch=replace(planned, **launch),  # type: ignore[arg-type]
        pool=of or pool(),
        resolved=resolved,
        types={each.name: each for each in types},
        buyer=Buyer(connected(), STACK),
    )


def asked(of: Order) -> dict[str, list[str]]:
    """Image and what differs in labels → types."""
    return {
        template.spec.image_id: sorted({o.instance_type for o in template.overrides})
        for template in template_orders(of)
    }


def joining(template: TemplateOrder) -> Joining:
    return read(template.spec.user_data, "al2023")


def test_types_of_one_image_share_a_template() -> None:
    (template,) = template_orders(order("x.s", "x.m", zones=("a", "b")))
    assert [(o.instance_type, o.zone, o.subnet_id, o.image_id) for o in template.overrides] == [
        ("x.s", "a", "subnet-a", "ami-amd"),
        ("x.s", "b", "subnet-b", "ami-amd"),
        ("x.m", "a", "subnet-a", "ami-amd"),
        ("x.m", "b", "subnet-b", "ami-amd"),
    ]


def test_each_image_has_a_template() -> None:
    assert asked(order("x.s", "y.m", "g.m")) == {"ami-amd": ["x.s"], "ami-arm": ["y.m"], "ami-gpu": ["g.m"]}


def test_labels_no_pod_reads_are_left_out_where_types_differ() -> None:
    (template,) = template_orders(order("x.s", "x.m"))
    labels = joining(template).labels
    assert CPU not in labels
    assert labels[FAMILY] == "x"


def test_types_that_differ_in_a_label_pods_read_have_templates_of_their_own() -> None:
    templates = template_orders(order("x.s", "x.m", selected_labels=(CPU,)))
    assert [joining(each).labels[CPU] for each in templates] == ["2", "4"]
    assert [[o.instance_type for o in each.overrides] for each in templates] == [["x.s"], ["x.m"]]


def test_a_fleet_takes_fifty_templates_the_cheapest() -> None:
    types = tuple(instance_type(f"x.{number}", vcpu=number) for number in range(1, 61))
    templates = template_orders(order(*(each.name for each in types), types=types, selected_labels=(CPU,)))
    assert [joining(each).labels[CPU] for each in templates] == [str(number) for number in range(1, 51)]


def test_types_without_an_image_and_zones_without_a_subnet_are_left_out() -> None:
    gpu_arm = instance_type("h.m", arch="arm64", labels={"karpenter.k8s.aws/instance-gpu-manufacturer": "nvidia"})
    (template,) = template_orders(order("h.m", "x.s", zones=("a", "z"), types=(*TYPES, gpu_arm)))
    assert [(o.instance_type, o.zone) for o in template.overrides] == [("x.s", "a")]


def test_nothing_to_boot_is_refused_with_the_fix() -> None:
    gpu_arm = instance_type("h.m", arch="arm64", labels={"karpenter.k8s.aws/instance-gpu-manufacturer": "nvidia"})
    with pytest.raises(RefusedError, match=r"EC2NodeClass/default: no image .* h\.m; add a term to spec\.ami"):
        template_orders(order("h.m", types=(gpu_arm,)))


def test_user_data_says_all_a_node_must_know() -> None:
    wanted = pool(
        labels={"team": "a"}, taints=(taint("dedicated", "a"),), startup_taints=(taint("cilium", effect="NoExecute"),)
    )
    (template,) = template_orders(order("x.s", of=wanted))
    told = joining(template)
    assert (told.cluster, told.endpoint, told.certificate_authority) == ("prod", "https://k8s.example", "Q0E=")
    assert told.labels["team"] == "a"
    assert told.labels["karpenter.sh/nodepool"] == "default"
    assert told.labels["karpenter.sh/capacity-type"] == "spot"
    assert [each["key"] for each in told.taints] == ["dedicated", "cilium"]


def test_bad_user_data_of_the_class_is_refused_by_its_name() -> None:
    bad = node_class(ami_family="Bottlerocket", user_data="not [ toml")
    with pytest.raises(RefusedError, match=r"EC2NodeClass/default: spec\.userData is not TOML"):
        template_orders(order("x.s", by=bad))


def test_user_data_that_is_too_long_is_refused_with_its_size() -> None:
    with pytest.raises(RefusedError, match=r"EC2NodeClass/default: user data of 2\d{4} bytes, at most 16384; shorten"):
        template_orders(order("x.s", by=node_class(user_data="#!/bin/sh\n" + "#" * 20_000)))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_class_without_disks_gets_its_familys(family: Family) -> None:
    (template,) = template_orders(order("x.s", by=node_class(ami_family=family.name)))
    assert template.spec.node_class.block_devices == family.block_devices
    assert all(device.encrypted for device in family.block_devices)


def test_a_class_with_disks_keeps_them() -> None:
    disks = (BlockDevice("/dev/xvda", volume_size_gib=100),)
    (template,) = template_orders(order("x.s", by=node_class(block_devices=disks)))
    assert template.spec.node_class.block_devices == disks


def test_equal_orders_are_equal_templates() -> None:
    assert template_orders(order("x.s", "x.m")) == template_orders(order("x.s", "x.m"))


@pytest.mark.parametrize(
    ("labels", "held_back"),
    [
        ({"team": "a"}, False),
        ({"node.kubernetes.io/role": "a"}, False),
        ({"topology.kubernetes.io/zone": "a"}, False),
        ({"example.kubernetes.io/disk": "fast"}, True),
        ({"example.k8s.io/disk": "fast"}, True),
        ({"node-restriction.kubernetes.io/team": "a"}, True),
    ],
)
def test_pods_are_held_off_only_while_a_label_is_missing_that_kubelet_may_not_set(
    labels: dict[str, str], held_back: bool
) -> None:
    taints: tuple[Taint, ...] = registered_taints(pool(taints=(taint("dedicated"),)), labels)
    assert (UNREGISTERED in taints) is held_back
    assert taints[0] == taint("dedicated")


def test_a_node_has_what_its_pool_says_what_it_fixes_and_what_its_pods_chose() -> None:
    of = pool("web", ("arch", "In", "a"), ("size", "In", "s", "m"), ("team", "In", "x", "y"), labels={"env": "test"})
    launch = replace(order("x.s").launch, pool="web", labels={"team": "y"})
    assert pool_labels(of, launch) == {
        "arch": "a",
        "env": "test",
        "team": "y",
        "karpenter.sh/nodepool": "web",
        "karpenter.sh/provisioner-name": "web",
        "karpenter.sh/capacity-type": "spot",
    }


def test_kubelet_registers_the_pool_under_the_name_that_older_pods_select() -> None:
    (template,) = template_orders(order("x.s"))
    assert joining(template).labels["karpenter.sh/provisioner-name"] == "default"


def test_a_classes_tags_may_add_and_not_replace() -> None:
    made = tags(order("x.s", by=node_class(tags={"cost": "1", "karpenter.sh/nodepool": "mine", STACK_TAG: "mine"})))
    assert made == {
        "cost": "1",
        "kubernetes.io/cluster/prod": "owned",
        "eks:eks-cluster-name": "prod",
        "karpenter.sh/nodepool": "default",
        "karpenter.k8s.aws/ec2nodeclass": "default",
        STACK_TAG: STACK,
    }
