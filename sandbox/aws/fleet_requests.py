"""A CreateFleet request, read: every override of every launch template as something that could be launched."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sandbox.aws import launches, offerings
from sandbox.aws.allocation import Candidate
from sandbox.aws.launch_templates import Raw, merged_request, merged_tags, subnet_zone, template_version
from sandbox.aws.launches import Launch
from sandbox.aws.prices import Prices
from sandbox.aws.protocol import AwsError

UNPRIORITISED = float("inf")


@dataclass(frozen=True, slots=True)
class Option:
    """One override: what it would launch, how it reads in the answer, and why EC2 wouldn't launch it at all."""

    launch: Launch
    echo: Raw
    candidate: Candidate
    refusal: AwsError | None


@dataclass(frozen=True, slots=True)
class FleetRequest:
    """The request, with what is needed to judge it."""

    backend: Any
    prices: Prices
    parameters: Raw
    fleet_id: str

    def targets(self) -> Iterator[tuple[bool, int]]:
        """(spot?, how much) for each kind of capacity the request wants."""
        wanted = self.parameters["TargetCapacitySpecification"]
        on_demand, spot = int(wanted.get("OnDemandTargetCapacity", 0)), int(wanted.get("SpotTargetCapacity", 0))
        rest = int(wanted["TotalTargetCapacity"]) - on_demand - spot
        if wanted.get("DefaultTargetCapacityType", "on-demand") == "spot":
            spot += rest
        else:
            on_demand += rest
        yield from ((kind, amount) for kind, amount in ((False, on_demand), (True, spot)) if amount > 0)

    def choices(self, *, spot: bool) -> Raw:
        """SpotOptions or OnDemandOptions."""
        return self.parameters.get("SpotOptions" if spot else "OnDemandOptions") or {}

    def options(self, *, spot: bool) -> list[Option]:
        """All overrides, in the order of the request."""
        rows = enumerate(self._overrides())
        return [self._option(index, template, override, spot=spot) for index, (template, override) in rows]

    def _overrides(self) -> Iterator[tuple[Any, Raw]]:
        for configuration in self.parameters["LaunchTemplateConfigs"]:
            template = template_version(self.backend, configuration["LaunchTemplateSpecification"])
            yield from ((template, override) for override in configuration.get("Overrides") or [{}])

    def _option(self, index: int, template: Any, override: Raw, *, spot: bool) -> Option:
        request = merged_request(self.backend, template, override)
        launch = Launch(
            request=request,
            zone=subnet_zone(self.backend, request["SubnetId"]),
            spot=spot,
            client_token=str(self.parameters.get("ClientToken", "")),
            tags=merged_tags(template, self.parameters.get("TagSpecifications"), {"aws:ec2:fleet-id": self.fleet_id}),
        )
        refusal = _unsupported(self.backend, launch) or launches.problem(self.backend, launch)
        return Option(launch, _echo(template, override, launch), self._candidate(index, launch, override), refusal)

    def _candidate(self, index: int, launch: Launch, override: Raw) -> Candidate:
        max_price = override.get("MaxPrice") if launch.spot else None
        return Candidate(
            index=index,
            offering=launch.offering,
            price=self._price(launch),
            priority=float(override.get("Priority", UNPRIORITISED)),
            weight=int(override.get("WeightedCapacity", 1)),
            max_price=None if max_price is None else Decimal(str(max_price)),
        )

    def _price(self, launch: Launch) -> Decimal:
        if launch.spot:
            return self.prices.spot(launch.instance_type, launch.zone)
        return self.prices.on_demand(launch.instance_type)


def _echo(template: Any, override: Raw, launch: Launch) -> Raw:
    specification = {
        "LaunchTemplateId": template.template.id,
        "LaunchTemplateName": template.template.name,
        "Version": str(template.number),
    }
    return {
        "LaunchTemplateSpecification": specification,
        "Overrides": {**override, "InstanceType": launch.instance_type, "AvailabilityZone": launch.zone},
    }


def _unsupported(backend: Any, launch: Launch) -> AwsError | None:
    """A fleet says the same of a type that doesn't exist, isn't in the zone or isn't sold as spot."""
    if offerings.sold(backend.region_name, launch.offering):
        return None
    wording = "Your requested instance type ({type}) is not supported in your requested Availability Zone ({zone})."
    return AwsError("InvalidFleetConfiguration", wording.format(type=launch.instance_type, zone=launch.zone))
