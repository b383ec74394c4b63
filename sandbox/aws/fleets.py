"""CreateFleet of type instant, as EC2 does it."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

from moto.ec2.models import ec2_backends
from moto.ec2.utils import random_fleet_id

from sandbox.aws import launches
from sandbox.aws.allocation import Allocation, Candidate, allocate
from sandbox.aws.capacity import Capacity, shortage
from sandbox.aws.client_tokens import ClientTokens
from sandbox.aws.defaults import ACCOUNT
from sandbox.aws.fleet_requests import FleetRequest, Option
from sandbox.aws.gateway import Operations, PassOn
from sandbox.aws.instances import Instances
from sandbox.aws.launch_templates import Raw
from sandbox.aws.launches import heed_dry_run
from sandbox.aws.prices import Prices
from sandbox.aws.protocol import AwsError, Call

NO_ADDRESSES = "There are not enough free addresses in subnet '{subnet}' to satisfy the requested number of instances."


class Fleets:
    """Launches instances: which ones, at which price, from what is left."""

    def __init__(self, capacity: Capacity, prices: Prices, instances: Instances) -> None:
        self._capacity = capacity
        self._prices = prices
        self._instances = instances
        self._tokens = ClientTokens()

    def operations(self) -> Operations:
        """What is answered here instead of by moto."""
        return {("ec2", "CreateFleet"): self._create_fleet}

    def clear(self) -> None:
        """Forget the client tokens."""
        self._tokens.clear()

    def _create_fleet(self, call: Call) -> object:
        parameters = call.parameters
        if parameters.get("Type", "maintain") != "instant":
            raise PassOn
        heed_dry_run(parameters)
        backend = ec2_backends[ACCOUNT][call.region]
        return self._tokens.once(parameters, lambda: self._launch_fleet(backend, parameters))

    def _launch_fleet(self, backend: Any, parameters: Raw) -> object:
        request = FleetRequest(backend, self._prices, parameters, random_fleet_id())
        instances: list[Raw] = []
        errors: list[Raw] = []
        for spot, amount in request.targets():
            options = request.options(spot=spot)
            allocation = self._allocate(request, options, amount, spot=spot)
            instances += self._start(backend, options, allocation)
            errors += _errors(options, allocation, amount)
        return {"FleetId": request.fleet_id, "Instances": instances, "Errors": errors}

    def _allocate(self, request: FleetRequest, options: list[Option], amount: int, *, spot: bool) -> Allocation:
        choices = request.choices(spot=spot)
        allocation = allocate(
            [option.candidate for option in options if option.refusal is None],
            amount,
            choices.get("AllocationStrategy", "lowest-price"),
            _Stock(request.backend, options, self._capacity).take,
            Decimal(str(choices["MaxTotalPrice"])) if "MaxTotalPrice" in choices else None,
        )
        enough = allocation.fulfilled >= int(choices.get("MinTargetCapacity", 0))
        return allocation if enough else replace(allocation, counts={}, fulfilled=0)

    def _start(self, backend: Any, options: list[Option], allocation: Allocation) -> Iterator[Raw]:
        for index, count in allocation.counts.items():
            option = options[index]
            started = launches.start(backend, option.launch, count)
            self._instances.started(started)
            yield {
                **_outcome(option),
                "InstanceIds": [instance.id for instance in started],
                "InstanceType": option.launch.instance_type,
            }


class _Stock:
    """What the fleet draws from: capacity, and the free addresses of its subnets, counted down while it is spread."""

    def __init__(self, backend: Any, options: list[Option], capacity: Capacity) -> None:
        self._subnets = [str(option.launch.request["SubnetId"]) for option in options]
        self._free = {one: int(backend.get_subnet(one).available_ip_address_count) for one in set(self._subnets)}
        self._capacity = capacity

    def take(self, candidate: Candidate) -> AwsError | None:
        """Use up one instance's worth; the error says why there is none."""
        subnet_id = self._subnets[candidate.index]
        if self._free[subnet_id] <= 0:
            return AwsError("InsufficientFreeAddressesInSubnet", NO_ADDRESSES.format(subnet=subnet_id))
        error = self._capacity.take(candidate.offering)
        self._free[subnet_id] -= 1 if error is None else 0
        return error


def _outcome(option: Option) -> Raw:
    return {"LaunchTemplateAndOverrides": option.echo, "Lifecycle": "spot" if option.launch.spot else "on-demand"}


def _errors(options: list[Option], allocation: Allocation, amount: int) -> Iterator[Raw]:
    """An entry for each offering that was tried or can't be; one more when nothing else says why it fell short."""
    refusals = {option.candidate.index: option.refusal for option in options if option.refusal is not None}
    refusals |= allocation.refusals
    if allocation.fulfilled < amount and not refusals:
        refusals[0] = shortage("UnfulfillableCapacity", options[0].candidate.offering)
    for index, error in sorted(refusals.items()):
        yield {**_outcome(options[index]), "ErrorCode": error.code, "ErrorMessage": error.message}
