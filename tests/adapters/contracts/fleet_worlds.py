"""Places to buy in: the same things for the laws to talk about, in memory and in the sandbox's EC2."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from nodewright.adapters import aws_clients
from nodewright.adapters.ec2 import Ec2Fleet
from nodewright.adapters.memory import InMemoryFleet, Mishap, VirtualClock
from nodewright.application.ports import Fleet, FleetOverride, LaunchTemplateSpec
from nodewright.domain.catalogue import CapacityType
from sandbox.aws.server import SandboxAws
from tests.adapters.builders import NOW, STACK, template_spec

CHEAP, DEAR = "t4g.medium", "m7g.large"
PRICES = {CHEAP: "0.04", DEAR: "0.1"}


class World(Protocol):
    """What a law needs besides the port."""

    @property
    def fleet(self) -> Fleet: ...

    @property
    def template(self) -> LaunchTemplateSpec: ...

    @property
    def overrides(self) -> tuple[FleetOverride, ...]:
        """CHEAP and DEAR, each in two zones; the dear ones first."""
        ...

    def run_out(self, instance_type: str, zone: str, capacity_type: CapacityType, left: int = 0) -> None: ...

    def throttle_next_launch(self) -> None: ...

    def lose_next_answer(self) -> None: ...


@dataclass
class MemoryWorld:
    fleet: InMemoryFleet
    template: LaunchTemplateSpec
    overrides: tuple[FleetOverride, ...]

    def run_out(self, instance_type: str, zone: str, capacity_type: CapacityType, left: int = 0) -> None:
        self.fleet.room[instance_type, zone, capacity_type] = left

    def throttle_next_launch(self) -> None:
        self.fleet.mishaps.append(Mishap.THROTTLED)

    def lose_next_answer(self) -> None:
        self.fleet.mishaps.append(Mishap.ANSWER_LOST)


@dataclass
class SandboxWorld:
    fleet: Ec2Fleet
    template: LaunchTemplateSpec
    overrides: tuple[FleetOverride, ...]
    aws: SandboxAws

    def run_out(self, instance_type: str, zone: str, capacity_type: CapacityType, left: int = 0) -> None:
        self.aws.fleet.limit(instance_type, zone, capacity_type, left)

    def throttle_next_launch(self) -> None:
        self.aws.fleet.throttle(SDK_ATTEMPTS)

    def lose_next_answer(self) -> None:
        self.aws.faults.lose("ec2", "CreateFleet", SDK_ATTEMPTS)


#: How often the SDK asks by itself (aws_clients.ec2).
SDK_ATTEMPTS = 3


def memory_world() -> MemoryWorld:
    fleet = InMemoryFleet(VirtualClock(NOW), STACK)
    zones = {"us-east-1a": "subnet-a", "us-east-1b": "subnet-b"}
    fleet.prices = {
        (name, zone, capacity_type): int(Decimal(price) * 10**9)
        for name, price in PRICES.items()
        for zone in zones
        for capacity_type in ("on-demand", "spot")
    }
    return MemoryWorld(fleet, template_spec("ami-1", "sg-1"), _overrides(zones, "ami-1"))


def sandbox_world(aws: SandboxAws) -> SandboxWorld:
    ec2, iam = aws_clients.ec2(aws.region), aws_clients.iam(aws.region)
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    zones = {
        f"{aws.region}{letter}": ec2.create_subnet(
            VpcId=vpc, CidrBlock=f"10.0.{number}.0/24", AvailabilityZone=f"{aws.region}{letter}"
        )["Subnet"]["SubnetId"]
        for number, letter in enumerate("ab")
    }
    group = ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
    iam.create_instance_profile(InstanceProfileName="nodes")
    image = ec2.describe_images(Filters=[{"Name": "architecture", "Values": ["arm64"]}])["Images"][0]["ImageId"]
    for name, price in PRICES.items():
        aws.prices.set_on_demand(name, price)
    return SandboxWorld(Ec2Fleet(ec2, STACK), template_spec(image, group), _overrides(zones, image), aws)


def _overrides(zones: dict[str, str], image: str) -> tuple[FleetOverride, ...]:
    return tuple(FleetOverride(name, zone, subnet, image) for name in (DEAR, CHEAP) for zone, subnet in zones.items())
