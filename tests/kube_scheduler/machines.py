"""What can be bought in generated clusters, and the nodes that come of it, as Kubernetes shows them."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from nodewright.domain.catalogue import CapacityType, InstanceType, Offering
from nodewright.domain.quantities import Resources
from sandbox.controlplane.client import Object
from tests.builders import USD, instance_type

ZONES: Final = ("a", "b", "c")
CSI_DRIVER: Final = "ebs.csi.aws.com"
RACK: Final = "example.com/rack"
RACKS: Final = ("r1", "r2", "r3")

_CAPACITY_TYPES: Final[tuple[CapacityType, ...]] = ("on-demand", "spot")
#: Name, cores, GiB, GPUs, architecture, zones. Pod slots and attachable volumes are few, so that both matter.
_TYPES: Final = (
    ("c.s", 2, 4, 0, "amd64", "abc"),
    ("c.m", 4, 8, 0, "amd64", "abc"),
    ("c.l", 8, 16, 0, "amd64", "ab"),
    ("m.s", 2, 8, 0, "amd64", "abc"),
    ("m.m", 4, 16, 0, "amd64", "abc"),
    ("m.l", 8, 32, 0, "amd64", "bc"),
    ("r.m", 4, 32, 0, "amd64", "ac"),
    ("a.m", 4, 16, 0, "arm64", "abc"),
    ("a.l", 8, 32, 0, "arm64", "abc"),
    ("g.m", 4, 16, 1, "amd64", "ab"),
)


def catalogue() -> tuple[InstanceType, ...]:
    """Ten types in three zones, on demand and as spot."""
    return tuple(_type(*row) for row in _TYPES)


def node(
    name: str,
    of: InstanceType,
    labels: Mapping[str, str],
    taints: Iterable[Object] = (),
    *,
    unschedulable: bool = False,
) -> Object:
    """A Node of this type as kubelet registers it, Ready, with these labels besides its type's."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**of.labels, **labels, "kubernetes.io/hostname": name}},
        "spec": {
            "providerID": f"aws:///z/{instance_id(name)}",
            "taints": list(taints),
            **({"unschedulable": True} if unschedulable else {}),
        },
        "status": {
            "capacity": amounts(of.capacity),
            "allocatable": amounts(of.allocatable),
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }


def instance_id(name: str) -> str:
    """Of a node's instance."""
    return f"i-{name}"


def csi_node(name: str, of: InstanceType) -> Object:
    """What the CSI driver says of a node: how many volumes it can have attached."""
    driver = {"name": CSI_DRIVER, "nodeID": name, "topologyKeys": [], "allocatable": {"count": of.volumes}}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": name},
        "spec": {"drivers": [driver]},
    }


def amounts(resources: Resources) -> dict[str, str]:
    """As quantities of a manifest."""
    return {name: _quantity(name, amount) for name, amount in resources.items()}


def place(chance: random.Random, of: InstanceType) -> Offering:
    """One of the type's offerings."""
    return chance.choice(of.offerings)


def _type(name: str, cores: int, gibibytes: int, gpus: int, arch: str, zones: str) -> InstanceType:
    made = instance_type(
        name,
        cpu=f"{cores * 1000 - 80}m",
        memory=f"{gibibytes * 1024 - 600}Mi",
        pod_slots=6 + 4 * cores,
        vcpu=cores,
        gpu=gpus,
        arch=arch,
        offerings=_offerings(cores * 0.02 + gibibytes * 0.005 + gpus * 0.5, zones),
        labels={"karpenter.k8s.aws/instance-memory": str(gibibytes * 1024)},
    )
    return replace(made, volumes=3 + cores // 2)


def _offerings(price: float, zones: Sequence[str]) -> list[Offering]:
    """Spot is dearer from zone to zone; on-demand costs the same everywhere."""
    rates = {"on-demand": (1.0, 1.0, 1.0), "spot": (0.35, 0.4, 0.45)}
    return [
        Offering(zone, kind, round(price * USD * rates[kind][ZONES.index(zone)]))
        for zone in zones
        for kind in _CAPACITY_TYPES
    ]


def _quantity(name: str, amount: int) -> str:
    return f"{amount}m" if name == "cpu" else str(amount)
