from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from botocore.stub import Stubber

from nodewright.adapters import aws_clients
from nodewright.adapters.ec2_catalogue import AwsCatalogue
from nodewright.adapters.instance_type_facts import to_facts
from nodewright.application.errors import UnavailableError
from nodewright.application.ports import Price
from nodewright.domain.instance_facts import InstanceFacts, NeuronFacts
from sandbox.aws.server import SandboxAws
from tests.adapters.builders import NOW

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client


@pytest.fixture
def catalogue(sandbox: SandboxAws) -> AwsCatalogue:
    region = sandbox.region
    return AwsCatalogue(aws_clients.ec2(region), aws_clients.pricing(region), region)


@pytest.fixture
def stubbed(aws: str) -> tuple[AwsCatalogue, "EC2Client"]:
    client = aws_clients.ec2(aws)
    return AwsCatalogue(client, aws_clients.pricing(aws), aws), client


def test_all_types_of_the_region_come_with_their_facts(catalogue: AwsCatalogue) -> None:
    types = {facts.name: facts for facts in catalogue.instance_types()}
    assert len(types) > 1000
    assert list(types) == sorted(types)
    large = types["m5.large"]
    assert (large.arch, large.vcpus, large.memory_mib, large.hypervisor) == ("amd64", 2, 8192, "nitro")
    assert (large.network_interfaces, large.ipv4_per_interface) == (3, 10)
    assert large.cpu_manufacturer == "Intel"
    assert types["m7g.large"].arch == "arm64"
    (gpu,) = types["g5.xlarge"].gpus
    assert (gpu.name, gpu.manufacturer, gpu.count) == ("A10G", "NVIDIA", 1)
    assert types["m5d.large"].instance_store_gb == 75
    assert types["m5.metal"].bare_metal
    assert "mac1.metal" not in types


def test_zones_are_those_a_type_is_offered_in(catalogue: AwsCatalogue) -> None:
    zones = catalogue.zones_by_type()
    assert zones["m5.large"] >= {"us-east-1a", "us-east-1b"}
    assert len(zones) > 1000


def test_spot_prices_come_once_for_each_type_and_zone(catalogue: AwsCatalogue, sandbox: SandboxAws) -> None:
    sandbox.prices.set_spot("m5.large", "us-east-1a", "0.012345")
    prices = catalogue.spot_prices(NOW)
    assert Price("m5.large", "spot", "us-east-1a", 12_345_000) in prices
    offerings = [(price.instance_type, price.zone) for price in prices]
    assert len(offerings) == len(set(offerings)) > 1000
    assert offerings == sorted(offerings)


def test_on_demand_prices_are_those_of_shared_linux(catalogue: AwsCatalogue, sandbox: SandboxAws) -> None:
    sandbox.prices.set_on_demand("m5.large", "0.096")
    sandbox.prices.set_on_demand("m5.metal", "4.608")
    prices = {price.instance_type: price for price in catalogue.on_demand_prices()}
    assert prices["m5.large"] == Price("m5.large", "on-demand", "", 96_000_000)
    assert prices["m5.metal"].nanos == int(Decimal("4.608") * 10**9)
    assert len(prices) > 500


def test_the_newest_spot_price_of_all_pages_counts(stubbed: tuple[AwsCatalogue, "EC2Client"]) -> None:
    catalogue, client = stubbed

    def listed(price: str, minutes: int) -> dict[str, object]:
        return {
            "InstanceType": "m5.large",
            "AvailabilityZone": "a",
            "SpotPrice": price,
            "Timestamp": NOW + timedelta(minutes=minutes),
        }

    with Stubber(client) as stub:
        stub.add_response(
            "describe_spot_price_history",
            {"SpotPriceHistory": [listed("0.01", -9), listed("0.03", -1)], "NextToken": "x"},
        )
        stub.add_response("describe_spot_price_history", {"SpotPriceHistory": [listed("0.02", -5)], "NextToken": ""})
        assert catalogue.spot_prices(NOW) == (Price("m5.large", "spot", "a", 30_000_000),)


def test_types_are_asked_for_by_the_hundred_with_what_our_images_run_on(
    stubbed: tuple[AwsCatalogue, "EC2Client"],
) -> None:
    catalogue, client = stubbed
    processor = {"SupportedArchitectures": ["x86_64"]}
    filters = [
        {"Name": "supported-virtualization-type", "Values": ["hvm"]},
        {"Name": "processor-info.supported-architecture", "Values": ["arm64", "x86_64"]},
    ]
    with Stubber(client) as stub:
        stub.add_response(
            "describe_instance_types",
            {"InstanceTypes": [{"InstanceType": "b.x", "ProcessorInfo": processor}], "NextToken": "more"},
            {"Filters": filters, "MaxResults": 100},
        )
        stub.add_response(
            "describe_instance_types",
            {"InstanceTypes": [{"InstanceType": "a.x", "ProcessorInfo": processor}]},
            {"Filters": filters, "MaxResults": 100, "NextToken": "more"},
        )
        assert [facts.name for facts in catalogue.instance_types()] == ["a.x", "b.x"]


def test_a_page_that_is_throttled_makes_the_part_unavailable(stubbed: tuple[AwsCatalogue, "EC2Client"]) -> None:
    catalogue, client = stubbed
    with Stubber(client) as stub:
        stub.add_client_error("describe_instance_type_offerings", "RequestLimitExceeded", http_status_code=503)
        with pytest.raises(UnavailableError, match="describing instance type offerings"):
            catalogue.zones_by_type()


def test_facts_are_read_as_the_labels_and_the_capacity_model_need_them() -> None:
    facts = to_facts(
        {
            "InstanceType": "trn1.32xlarge",
            "SupportedUsageClasses": ["spot", "capacity-block", "on-demand"],
            "BareMetal": False,
            "Hypervisor": "nitro",
            "ProcessorInfo": {
                "SupportedArchitectures": ["i386", "x86_64"],
                "SustainedClockSpeedInGhz": 2.9,
                "Manufacturer": "Intel",
            },
            "VCpuInfo": {"DefaultVCpus": 128},
            "MemoryInfo": {"SizeInMiB": 524288},
            "InstanceStorageInfo": {"TotalSizeInGB": 7600, "NvmeSupport": "required"},
            "EbsInfo": {
                "EbsOptimizedSupport": "default",
                "EbsOptimizedInfo": {"MaximumBandwidthInMbps": 80000},
                "MaximumEbsAttachments": 20,
                "AttachmentLimitType": "dedicated",
            },
            "NetworkInfo": {
                "DefaultNetworkCardIndex": 1,
                "MaximumNetworkInterfaces": 40,
                "Ipv4AddressesPerInterface": 50,
                "NetworkCards": [
                    {"NetworkCardIndex": 0, "MaximumNetworkInterfaces": 2, "BaselineBandwidthInGbps": 100.0},
                    {"NetworkCardIndex": 1, "MaximumNetworkInterfaces": 5, "BaselineBandwidthInGbps": 12.5},
                ],
                "EfaInfo": {"MaximumEfaInterfaces": 8},
                "EncryptionInTransitSupported": True,
            },
            "NitroEnclavesSupport": "unsupported",
            "NeuronInfo": {"NeuronDevices": [{"Count": 16, "Name": "Trainium", "CoreInfo": {"Count": 2}}]},
        }
    )
    assert facts == InstanceFacts(
        name="trn1.32xlarge",
        arch="amd64",
        vcpus=128,
        memory_mib=524288,
        capacity_types=("on-demand", "spot"),
        hypervisor="nitro",
        cpu_manufacturer="Intel",
        clock_speed_mhz=2900,
        network_interfaces=5,
        ipv4_per_interface=50,
        branch_interfaces=82,
        network_bandwidth_mbps=112_500,
        efa_interfaces=8,
        encryption_in_transit=True,
        ebs_bandwidth_mbps=80000,
        ebs_attachments=20,
        instance_store_gb=7600,
        instance_store_nvme=True,
        neuron_devices=(NeuronFacts("Trainium", 16, 2),),
    )


def test_what_ec2_does_not_say_is_unknown_not_zero() -> None:
    facts = to_facts({"InstanceType": "cg1.4xlarge", "ProcessorInfo": {"SupportedArchitectures": ["x86_64"]}})
    assert facts is not None
    assert (facts.clock_speed_mhz, facts.network_bandwidth_mbps, facts.ebs_bandwidth_mbps) == (None, None, None)
    assert facts.ebs_attachments is None
    assert facts.capacity_types == ()


def test_a_bandwidth_that_ec2_does_not_say_is_the_published_one() -> None:
    facts = to_facts({"InstanceType": "m5.large", "ProcessorInfo": {"SupportedArchitectures": ["x86_64"]}})
    assert facts is not None
    assert facts.network_bandwidth_mbps == 750


def test_a_type_no_image_of_ours_runs_on_has_no_facts() -> None:
    assert to_facts({"InstanceType": "mac1.metal", "ProcessorInfo": {"SupportedArchitectures": ["x86_64_mac"]}}) is None
