from dataclasses import replace

import msgspec
import pytest

from nodewright.domain.instance_facts import GpuFacts, InferenceFacts, InstanceFacts, type_labels
from nodewright.domain.labels import WELL_KNOWN
from tests.domain.instances import G5_XLARGE, I4I_LARGE, INF2_XLARGE, M5_LARGE, M7G_METAL

AWS = "karpenter.k8s.aws/"


def aws_labels(facts: InstanceFacts) -> dict[str, str]:
    return {key.removeprefix(AWS): value for key, value in type_labels(facts).items() if key.startswith(AWS)}


def test_a_plain_type_has_these_labels() -> None:
    assert type_labels(M5_LARGE) == {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "m5.large",
        f"{AWS}instance-capability-flex": "false",
        f"{AWS}instance-category": "m",
        f"{AWS}instance-cpu": "2",
        f"{AWS}instance-cpu-manufacturer": "intel",
        f"{AWS}instance-cpu-sustained-clock-speed-mhz": "3100",
        f"{AWS}instance-ebs-bandwidth": "4750",
        f"{AWS}instance-encryption-in-transit-supported": "false",
        f"{AWS}instance-family": "m5",
        f"{AWS}instance-generation": "5",
        f"{AWS}instance-hypervisor": "nitro",
        f"{AWS}instance-memory": "8192",
        f"{AWS}instance-network-bandwidth": "750",
        f"{AWS}instance-size": "large",
        f"{AWS}instance-tenancy": "default",
        f"{AWS}nitro-sandbox": "false",
    }


@pytest.mark.parametrize("facts", [M5_LARGE, G5_XLARGE, INF2_XLARGE, I4I_LARGE, M7G_METAL])
def test_every_label_is_well_known(facts: InstanceFacts) -> None:
    assert type_labels(facts).keys() <= WELL_KNOWN


@pytest.mark.parametrize(
    ("name", "category", "generation", "family", "size"),
    [
        ("u-6tb1.112xlarge", "u", "1", "u-6tb1", "112xlarge"),
        ("u7i-12tb.224xlarge", "u", "7", "u7i-12tb", "224xlarge"),
        ("p6-b300.48xlarge", "p", "6", "p6-b300", "48xlarge"),
        ("im4gn.large", "im", "4", "im4gn", "large"),
        ("m7i-flex.large", "m", "7", "m7i-flex", "large"),
        ("m7g.metal-48xl", "m", "7", "m7g", "metal-48xl"),
        ("x.s", None, None, "x", "s"),
        ("a.b.c", None, None, None, None),
    ],
)
def test_names_are_taken_apart(
    name: str, category: str | None, generation: str | None, family: str | None, size: str | None
) -> None:
    labels = aws_labels(replace(M5_LARGE, name=name))
    parts = [labels.get(f"instance-{part}") for part in ("category", "generation", "family", "size")]
    assert parts == [category, generation, family, size]


def test_flex_types_say_so() -> None:
    assert aws_labels(replace(M5_LARGE, name="m7i-flex.large"))["instance-capability-flex"] == "true"


def test_what_is_unknown_is_left_out() -> None:
    bare = aws_labels(InstanceFacts("m7g.metal", "arm64", 64, 262_144))
    assert bare["instance-hypervisor"] == ""
    assert not {"instance-network-bandwidth", "instance-ebs-bandwidth", "instance-local-nvme"} & bare.keys()
    assert not {"instance-cpu-manufacturer", "instance-cpu-sustained-clock-speed-mhz"} & bare.keys()


def test_gpus_are_described_where_they_are_all_alike() -> None:
    labels = aws_labels(G5_XLARGE)
    assert (labels["instance-gpu-name"], labels["instance-gpu-manufacturer"]) == ("a10g", "nvidia")
    assert (labels["instance-gpu-count"], labels["instance-gpu-memory"]) == ("1", "22888")
    assert labels["instance-local-nvme"] == "250"
    two = replace(G5_XLARGE, gpus=(*G5_XLARGE.gpus, GpuFacts("Radeon Pro V520", "AMD", 1, 8192)))
    assert "instance-gpu-name" not in aws_labels(two)


def test_neuron_devices_outrank_inference_accelerators() -> None:
    chip = InferenceFacts("Chip One", "Some Maker", 2)
    both = aws_labels(replace(INF2_XLARGE, inference_accelerators=(chip,)))
    assert both["instance-accelerator-name"] == "inferentia2"
    assert both["instance-accelerator-manufacturer"] == "aws"
    alone = aws_labels(replace(INF2_XLARGE, neuron_devices=(), inference_accelerators=(chip,)))
    assert alone["instance-accelerator-name"] == "chip-one"
    assert alone["instance-accelerator-manufacturer"] == "some-maker"
    assert alone["instance-accelerator-count"] == "2"


@pytest.mark.parametrize("facts", [M5_LARGE, G5_XLARGE, INF2_XLARGE, M7G_METAL])
def test_facts_can_be_stored_and_read_back(facts: InstanceFacts) -> None:
    assert msgspec.json.decode(msgspec.json.encode(facts), type=InstanceFacts) == facts
