"""RunInstances with its launch template applied and its client token honoured."""

from typing import Any

from moto.ec2.models import ec2_backends

from sandbox.aws import launches, offerings
from sandbox.aws.capacity import Capacity
from sandbox.aws.client_tokens import ClientTokens
from sandbox.aws.defaults import ACCOUNT
from sandbox.aws.gateway import Operations
from sandbox.aws.instances import Instances
from sandbox.aws.launch_templates import Raw, merged_request, merged_tags, subnet_zone, template_version
from sandbox.aws.launches import Launch, heed_dry_run
from sandbox.aws.protocol import AwsError, Call


class RunInstances:
    """Launches equal instances, all or none."""

    def __init__(self, capacity: Capacity, instances: Instances) -> None:
        self._capacity = capacity
        self._instances = instances
        self._tokens = ClientTokens()

    def operations(self) -> Operations:
        """What is answered here instead of by moto."""
        return {("ec2", "RunInstances"): self._run_instances}

    def clear(self) -> None:
        """Forget the client tokens."""
        self._tokens.clear()

    def _run_instances(self, call: Call) -> object:
        parameters = call.parameters
        heed_dry_run(parameters)
        backend = ec2_backends[ACCOUNT][call.region]
        return self._tokens.once(parameters, lambda: self._start(backend, parameters))

    def _start(self, backend: Any, parameters: Raw) -> object:
        launch = _launch(backend, parameters)
        count = int(parameters["MaxCount"])
        error = _unsupported(backend, launch) or launches.problem(backend, launch) or self._take(launch, count)
        if error is not None:
            raise error
        started = launches.start(backend, launch, count)
        self._instances.started(started)
        return backend.get_reservations_by_instance_ids([instance.id for instance in started])[0]

    def _take(self, launch: Launch, count: int) -> AwsError | None:
        taken = (self._capacity.take(launch.offering) for _ in range(count))
        return next((error for error in taken if error is not None), None)


def _launch(backend: Any, parameters: Raw) -> Launch:
    wanted = parameters.get("LaunchTemplate")
    template = template_version(backend, wanted) if wanted else None
    request = merged_request(backend, template, parameters)
    return Launch(
        request=request,
        zone=subnet_zone(backend, request["SubnetId"]),
        spot=request.get("InstanceMarketOptions", {}).get("MarketType") == "spot",
        client_token=str(parameters.get("ClientToken", "")),
        tags=merged_tags(template, parameters.get("TagSpecifications"), {}),
    )


def _unsupported(backend: Any, launch: Launch) -> AwsError | None:
    """RunInstances tells a type that isn't in the zone from one that doesn't exist."""
    if offerings.sold(backend.region_name, launch.offering):
        return None
    zones = sorted(offerings.zones_offering(backend.region_name, launch.instance_type))
    if not zones:
        return AwsError("InvalidParameterValue", f"Invalid value '{launch.instance_type}' for InstanceType.")
    wording = (
        "Your requested instance type ({type}) is not supported in your requested Availability Zone ({zone}). Please "
        "retry your request by not specifying an Availability Zone or choosing {zones}."
    )
    return AwsError("Unsupported", wording.format(type=launch.instance_type, zone=launch.zone, zones=", ".join(zones)))
