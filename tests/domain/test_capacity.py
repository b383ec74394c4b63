"""Worked examples of karpenter-behaviour §5.1 and §5.2, each computed by hand beside it."""

from dataclasses import replace

import pytest

from nodewright.domain.capacity import CapacityOptions, PriceBook, instance_type, instance_types
from nodewright.domain.catalogue import InstanceType, Offering
from nodewright.domain.instance_facts import GpuFacts, InstanceFacts, NeuronFacts
from nodewright.domain.nodeclasses import BlockDevice, Kubelet, NodeClass
from nodewright.domain.quantities import Resources
from tests.domain.instances import (
    A1_LARGE,
    C7G_4XLARGE,
    G5_XLARGE,
    I4I_LARGE,
    INF2_XLARGE,
    M5_LARGE,
    M7G_METAL,
    T4G_MEDIUM,
    T4G_NANO,
    node_class,
)

DEFAULT = node_class()
NO_OPTIONS = CapacityOptions()
MAX_PODS = Kubelet(max_pods=110)


def made(facts: InstanceFacts, of: NodeClass = DEFAULT, options: CapacityOptions = NO_OPTIONS) -> InstanceType:
    found = instance_type(facts, of, (), options)
    assert found is not None
    return found


# Memory: M less ⌈7.5 % of M⌉ is capacity; less (11 P + 255) Mi and 100 Mi is allocatable.
# Storage, 20 Gi: less 1 Gi and 10 % (2 Gi) is 17 Gi.
@pytest.mark.parametrize(
    ("facts", "of", "capacity", "allocatable"),
    [
        pytest.param(
            M5_LARGE,
            DEFAULT,
            # 8192 - ⌈614.4⌉ = 7577; pods 3 x 9 + 2 = 29
            {"cpu": "2", "memory": "7577Mi", "ephemeral-storage": "20Gi", "pods": 29, "vpc.amazonaws.com/pod-eni": 9},
            # cpu 60 + 10 = 70m; memory 7577 - (319 + 255) - 100 = 6903
            {"cpu": "1930m", "memory": "6903Mi", "ephemeral-storage": "17Gi"},
            id="m5.large",
        ),
        pytest.param(
            T4G_NANO,
            DEFAULT,
            # 512 - 64 = 448; 448 - ⌈33.6⌉ = 414; pods 2 x 1 + 2 = 4
            {"cpu": "2", "memory": "414Mi", "ephemeral-storage": "20Gi", "pods": 4},
            # 414 - (44 + 255) - 100 = 15
            {"cpu": "1930m", "memory": "15Mi", "ephemeral-storage": "17Gi"},
            id="t4g.nano",
        ),
        pytest.param(
            T4G_MEDIUM,
            DEFAULT,
            # 4096 - 64 = 4032; 4032 - ⌈302.4⌉ = 3729; pods 3 x 5 + 2 = 17
            {"cpu": "2", "memory": "3729Mi", "ephemeral-storage": "20Gi", "pods": 17},
            # 3729 - (187 + 255) - 100 = 3187
            {"cpu": "1930m", "memory": "3187Mi", "ephemeral-storage": "17Gi"},
            id="t4g.medium",
        ),
        pytest.param(
            C7G_4XLARGE,
            DEFAULT,
            # 32768 - 64 = 32704; 32704 - ⌈2452.8⌉ = 30251; pods 8 x 29 + 2 = 234
            {
                "cpu": "16",
                "memory": "30251Mi",
                "ephemeral-storage": "20Gi",
                "pods": 234,
                "vpc.amazonaws.com/pod-eni": 54,
            },
            # cpu 60 + 10 + 10 + 0.25 % of 12000 = 110m; memory 30251 - (2574 + 255) - 100 = 27322
            {"cpu": "15890m", "memory": "27322Mi", "ephemeral-storage": "17Gi"},
            id="c7g.4xlarge",
        ),
        pytest.param(
            M7G_METAL,
            DEFAULT,
            # 262144 - 64 = 262080; 262080 - 19656 = 242424; pods 15 x 49 + 2 = 737
            {
                "cpu": "64",
                "memory": "242424Mi",
                "ephemeral-storage": "20Gi",
                "pods": 737,
                "vpc.amazonaws.com/efa": 1,
                "vpc.amazonaws.com/pod-eni": 107,
            },
            # cpu 80 + 0.25 % of 60000 = 230m; memory 242424 - (8107 + 255) - 100 = 233962
            {"cpu": "63770m", "memory": "233962Mi", "ephemeral-storage": "17Gi"},
            id="m7g.metal",
        ),
        pytest.param(
            G5_XLARGE,
            DEFAULT,
            # 16384 - ⌈1228.8⌉ = 15155; pods 4 x 14 + 2 = 58; the local disk isn't used without RAID0
            {
                "cpu": "4",
                "memory": "15155Mi",
                "ephemeral-storage": "20Gi",
                "pods": 58,
                "nvidia.com/gpu": 1,
                "vpc.amazonaws.com/pod-eni": 4,
            },
            # cpu 60 + 10 + 10 = 80m; memory 15155 - (638 + 255) - 100 = 14162
            {"cpu": "3920m", "memory": "14162Mi", "ephemeral-storage": "17Gi"},
            id="g5.xlarge",
        ),
        pytest.param(
            INF2_XLARGE,
            DEFAULT,
            # as g5.xlarge; 1 device of 2 cores
            {
                "cpu": "4",
                "memory": "15155Mi",
                "ephemeral-storage": "20Gi",
                "pods": 58,
                "aws.amazon.com/neuron": 1,
                "aws.amazon.com/neuroncore": 2,
                "vpc.amazonaws.com/pod-eni": 18,
            },
            {"cpu": "3920m", "memory": "14162Mi", "ephemeral-storage": "17Gi"},
            id="inf2.xlarge",
        ),
        pytest.param(
            I4I_LARGE,
            node_class(raid0=True),
            # 468 GB, decimal; memory as g5.xlarge; pods 3 x 9 + 2 = 29
            {
                "cpu": "2",
                "memory": "15155Mi",
                "ephemeral-storage": "468G",
                "pods": 29,
                "vpc.amazonaws.com/pod-eni": 9,
            },
            # memory 15155 - (319 + 255) - 100 = 14481
            # storage 468 000 000 000 - 1 073 741 824 - 46 800 000 000 = 420 126 258 176
            {"cpu": "1930m", "memory": "14481Mi", "ephemeral-storage": "420126258176"},
            id="i4i.large with RAID0",
        ),
        pytest.param(
            M5_LARGE,
            node_class("AL2023", MAX_PODS),
            {"cpu": "2", "memory": "7577Mi", "ephemeral-storage": "20Gi", "pods": 110, "vpc.amazonaws.com/pod-eni": 9},
            # the table's 29 pods whatever maxPods: as without it
            {"cpu": "1930m", "memory": "6903Mi", "ephemeral-storage": "17Gi"},
            id="m5.large, AL2023, 110 pods",
        ),
        pytest.param(
            M5_LARGE,
            node_class("Bottlerocket", MAX_PODS),
            {"cpu": "2", "memory": "7577Mi", "ephemeral-storage": "20Gi", "pods": 110, "vpc.amazonaws.com/pod-eni": 9},
            # 7577 - (1210 + 255) - 100 = 6012
            {"cpu": "1930m", "memory": "6012Mi", "ephemeral-storage": "17Gi"},
            id="m5.large, Bottlerocket, 110 pods",
        ),
    ],
)
def test_a_type_has_what_the_rules_give(
    facts: InstanceFacts, of: NodeClass, capacity: dict[str, str | int], allocatable: dict[str, str | int]
) -> None:
    found = made(facts, of)
    assert found.capacity == Resources.parse(capacity)
    assert found.allocatable == Resources.parse(capacity | allocatable)


@pytest.mark.parametrize(("vcpus", "reserved"), [(1, 60), (2, 70), (4, 80), (7, 87), (8, 90), (16, 110), (96, 310)])
def test_cpu_is_reserved_by_tiers(vcpus: int, reserved: int) -> None:
    assert made(replace(M5_LARGE, vcpus=vcpus)).allocatable.get("cpu") == vcpus * 1000 - reserved


# Reserved interfaces lower the pods; only Bottlerocket's memory formula follows them.
@pytest.mark.parametrize(
    ("of", "pods", "memory"),
    [
        # pods 2 x 9 + 2 = 20; memory still by 29
        (node_class("AL2023"), 20, "6903Mi"),
        # 7577 - (220 + 255) - 100 = 7002
        (node_class("Bottlerocket"), 20, "7002Mi"),
    ],
)
def test_reserved_interfaces_carry_no_pods(of: NodeClass, pods: int, memory: str) -> None:
    found = made(M5_LARGE, of, CapacityOptions(reserved_enis=1))
    assert found.capacity.get("pods") == pods
    assert found.allocatable.get("memory") == Resources.parse({"memory": memory}).get("memory")


def test_without_a_usable_interface_there_is_no_room_for_pods() -> None:
    assert made(M5_LARGE, options=CapacityOptions(reserved_enis=3)).capacity.get("pods") == 0


@pytest.mark.parametrize(
    ("of", "pods"),
    [
        (node_class(kubelet=Kubelet(pods_per_core=4)), 8),
        (node_class(kubelet=Kubelet(pods_per_core=40)), 29),
        (node_class(kubelet=Kubelet(pods_per_core=0)), 29),
        (node_class(kubelet=Kubelet(pods_per_core=4, max_pods=5)), 5),
        (node_class("Bottlerocket", Kubelet(pods_per_core=4)), 29),
        (node_class(kubelet=Kubelet(max_pods=0)), 0),
    ],
)
def test_kubelet_settings_bound_the_pods(of: NodeClass, pods: int) -> None:
    assert made(M5_LARGE, of).capacity.get("pods") == pods


def test_memory_overhead_is_an_option() -> None:
    found = made(M5_LARGE, options=CapacityOptions(vm_memory_overhead_ppm=0))
    assert found.capacity.get("memory") == 8192 * 2**20


@pytest.mark.parametrize(
    ("of", "gib"),
    [
        (node_class(block_devices=(BlockDevice("/dev/xvda", 50),)), 50),
        (node_class(block_devices=(BlockDevice("/dev/xvdz", 50),)), 20),
        (node_class(block_devices=(BlockDevice("/dev/xvda", 50), BlockDevice("/dev/xvdb", 70, root_volume=True))), 70),
        (node_class(block_devices=(BlockDevice("/dev/xvda", snapshot_id="snap-1"),)), 20),
        (node_class("Bottlerocket", block_devices=(BlockDevice("/dev/xvda", 4), BlockDevice("/dev/xvdb", 80))), 80),
        (node_class("Custom", block_devices=(BlockDevice("/dev/a", 30), BlockDevice("/dev/b", 90))), 90),
        (node_class("Custom"), 20),
        (node_class("AL2", block_devices=(BlockDevice("/dev/xvda", 60),)), 60),
        (node_class(raid0=True), 20),
    ],
)
def test_storage_is_that_of_the_volume_that_holds_pods(of: NodeClass, gib: int) -> None:
    assert made(M5_LARGE, of).capacity.get("ephemeral-storage") == gib * 2**30


# m5.large has 7577 Mi and 20 Gi, of which 574 Mi, 100 Mi, 1 Gi and 2 Gi are reserved by default.
@pytest.mark.parametrize(
    ("kubelet", "cpu", "memory", "storage"),
    [
        (Kubelet(kube_reserved={"memory": "500Mi"}), "1930m", "6977Mi", "17Gi"),
        (Kubelet(kube_reserved={"cpu": "0"}), "2", "6903Mi", "17Gi"),
        (Kubelet(system_reserved={"cpu": "100m", "memory": "200Mi", "pid": "1000"}), "1830m", "6703Mi", "17Gi"),
        (Kubelet(eviction_hard={"memory.available": "300Mi"}), "1930m", "6703Mi", "17Gi"),
        # 10 % of 7577 Mi = 757.7 Mi = 794 506 035.2 bytes, rounded up; 7003 Mi = 7 343 177 728 less that
        (Kubelet(eviction_hard={"memory.available": "10%"}), "1930m", "6548671692", "17Gi"),
        (Kubelet(eviction_hard={"memory.available": "100%"}), "1930m", "7003Mi", "17Gi"),
        (Kubelet(eviction_hard={"nodefs.available": "5%"}), "1930m", "6903Mi", "18Gi"),
        (Kubelet(eviction_hard={"imagefs.available": "5%"}), "1930m", "6903Mi", "17Gi"),
        (Kubelet(eviction_soft={"memory.available": "2Gi"}), "1930m", "6903Mi", "17Gi"),
        (Kubelet(kube_reserved={"memory": "9Gi"}), "1930m", "0", "17Gi"),
    ],
)
def test_kubelet_reservations_replace_defaults_key_by_key(
    kubelet: Kubelet, cpu: str, memory: str, storage: str
) -> None:
    left = made(M5_LARGE, node_class(kubelet=kubelet)).allocatable
    wanted = Resources.parse({"cpu": cpu, "memory": memory, "ephemeral-storage": storage})
    assert {name: left.get(name) for name in ("cpu", "memory", "ephemeral-storage")} == {
        name: wanted.get(name) for name in ("cpu", "memory", "ephemeral-storage")
    }
    assert "pid" not in left


@pytest.mark.parametrize(
    ("kubelet", "field"),
    [
        (Kubelet(kube_reserved={"memory": "1 Gi"}), "kubelet.kubeReserved: memory: '1 Gi'"),
        (Kubelet(system_reserved={"cpu": "much"}), "kubelet.systemReserved: cpu: 'much'"),
        (Kubelet(eviction_hard={"memory.available": "ten%"}), "kubelet.evictionHard[memory.available]: 'ten'"),
        (Kubelet(eviction_hard={"nodefs.available": "half"}), "or a percentage like 10%"),
    ],
)
def test_an_unreadable_amount_names_class_and_field(kubelet: Kubelet, field: str) -> None:
    with pytest.raises(ValueError, match="EC2NodeClass/default: ") as refusal:
        made(M5_LARGE, node_class(kubelet=kubelet))
    assert field in str(refusal.value)


def test_devices_are_counted_by_maker() -> None:
    mixed = replace(
        M5_LARGE,
        gpus=(GpuFacts("V520", "AMD", 2, 8192), GpuFacts("HL-205", "Habana", 8, 32768), GpuFacts("X", "Unknown", 1, 1)),
        neuron_devices=(NeuronFacts("Trainium", 16, 2), NeuronFacts("Spare", 1, 4)),
        efa_interfaces=4,
    )
    capacity = made(mixed).capacity
    counted = {name: amount for name, amount in capacity.items() if "/" in name}
    assert counted == {
        "amd.com/gpu": 2,
        "habana.ai/gaudi": 8,
        "aws.amazon.com/neuron": 17,
        "aws.amazon.com/neuroncore": 32,
        "vpc.amazonaws.com/efa": 4,
        "vpc.amazonaws.com/pod-eni": 9,
    }


@pytest.mark.parametrize(
    ("facts", "of", "volumes"),
    [
        (M5_LARGE, DEFAULT, 25),
        (M5_LARGE, node_class("Bottlerocket"), 24),
        (M5_LARGE, node_class(block_devices=tuple(BlockDevice(f"/dev/xvd{x}", 1) for x in "abc")), 23),
        (replace(M5_LARGE, ebs_attachments=32, ebs_attachments_shared=False), DEFAULT, 31),
        (replace(M5_LARGE, ebs_attachments=1), DEFAULT, 0),
        (T4G_NANO, DEFAULT, None),
    ],
)
def test_volumes_left_for_pods(facts: InstanceFacts, of: NodeClass, volumes: int | None) -> None:
    assert made(facts, of).volumes == volumes


def test_a_graviton_1_type_has_no_al2023() -> None:
    assert instance_type(A1_LARGE, node_class("AL2023"), ()) is None
    assert instance_type(A1_LARGE, node_class("Bottlerocket"), ()) is not None


@pytest.mark.parametrize(
    ("zone", "region"),
    [
        ("us-east-1a", "us-east-1"),
        ("us-gov-west-1b", "us-gov-west-1"),
        ("us-west-2-lax-1a", "us-west-2"),
        ("a", None),
    ],
)
def test_class_and_region_are_labels_too(zone: str, region: str | None) -> None:
    found = instance_type(M5_LARGE, DEFAULT, (Offering(zone, "spot", 1),))
    assert found is not None
    assert found.labels["karpenter.k8s.aws/ec2nodeclass"] == "default"
    assert found.labels.get("topology.kubernetes.io/region") == region


def test_the_catalogue_of_a_class_holds_what_can_be_bought_in_its_zones_by_name() -> None:
    zones_by_type = {
        "m5.large": frozenset({"us-east-1a", "us-east-1b"}),
        "g5.xlarge": frozenset({"us-east-1b"}),
        "i4i.large": frozenset({"us-east-1c"}),
        "a1.large": frozenset({"us-east-1a"}),
        "t4g.nano": frozenset({"us-east-1a"}),
    }
    prices = PriceBook(on_demand={"m5.large": 96, "g5.xlarge": 1006, "i4i.large": 172, "a1.large": 51})
    found = instance_types(
        (M5_LARGE, T4G_NANO, I4I_LARGE, G5_XLARGE, A1_LARGE),
        DEFAULT,
        zones_by_type,
        prices,
        frozenset({"us-east-1a", "us-east-1b"}),
        unavailable=frozenset({("g5.xlarge", "*", "spot")}),
        zone_ids={"us-east-1b": "use1-az2"},
    )
    assert [(one.name, one.offerings) for one in found] == [
        (
            "g5.xlarge",
            (
                Offering("us-east-1b", "on-demand", 1006, zone_id="use1-az2"),
                Offering("us-east-1b", "spot", 1006, available=False, zone_id="use1-az2"),
            ),
        ),
        (
            "m5.large",
            (
                Offering("us-east-1a", "on-demand", 96),
                Offering("us-east-1a", "spot", 96),
                Offering("us-east-1b", "on-demand", 96, zone_id="use1-az2"),
                Offering("us-east-1b", "spot", 96, zone_id="use1-az2"),
            ),
        ),
    ]
