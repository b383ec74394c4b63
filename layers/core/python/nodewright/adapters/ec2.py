"""The Fleet port on EC2."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from nodewright.adapters import fleet_requests
from nodewright.adapters.aws_errors import error_code, outside
from nodewright.adapters.ec2_tags import CLUSTER_TAG, LAUNCH_TAG, STACK_TAG, from_tags, to_tags
from nodewright.adapters.launch_templates import LaunchTemplates
from nodewright.application.errors import OutsideError
from nodewright.application.ports import FleetAnswer, FleetRequest, Instance, LaunchTemplateSpec
from nodewright.domain.fleet_errors import judge

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_ec2.type_defs import CreateFleetResultTypeDef, FilterTypeDef, InstanceTypeDef

#: One TerminateInstances call: the request bucket refills 5 times a second, the instance bucket 20.
TERMINATED_A_CALL = 50

ALIVE = ("pending", "running", "stopping", "stopped", "shutting-down")
_NOT_FOUND = "InvalidInstanceID.NotFound"
_INSTANCE_ID = re.compile(r"\bi-[0-9a-f]+\b")


class Ec2Fleet:
    """EC2, for instances that carry this stack's tag."""

    def __init__(self, client: "EC2Client", stack_id: str) -> None:
        self._client = client
        self._stack_id = stack_id
        self._templates = LaunchTemplates(client, stack_id)

    def ensure_template(self, spec: LaunchTemplateSpec) -> str:
        """Name of a launch template with this content."""
        return self._templates.ensure(spec)

    def launch(self, request: FleetRequest) -> FleetAnswer:
        """CreateFleet. A refusal of the whole call that asks for another plan is an answer, not an error.

        EC2 sends InsufficientInstanceCapacity with status 500; it must not be taken for a hiccup.
        """
        call = fleet_requests.to_create_fleet(request)
        with outside(f"launch {request.launch_id}"):
            try:
                answer = self._client.create_fleet(**call)
            except ClientError as error:
                if judge(error_code(error)).reaction != "replan":
                    raise
                return self._nothing_bought(request, error)
        return FleetAnswer(self._bought(request, answer), fleet_requests.errors(request, answer))

    def launched(self, launch_id: str) -> tuple[Instance, ...]:
        """Instances that carry the launch's tag, dead ones too."""
        return self._tagged({LAUNCH_TAG: launch_id, STACK_TAG: self._stack_id})

    def ours_among(self, instance_ids: Sequence[str]) -> tuple[Instance, ...]:
        """By filter, as EC2 refuses a whole call that names one instance it doesn't know."""
        return self._tagged({STACK_TAG: self._stack_id}, instance_ids=instance_ids)

    def ours(self, cluster: str) -> tuple[Instance, ...]:
        """Instances of this stack and cluster that are not terminated."""
        return self._tagged({STACK_TAG: self._stack_id, CLUSTER_TAG: cluster}, states=ALIVE)

    def name(self, instance_id: str, tags: Mapping[str, str]) -> None:
        """Set tags; NotFoundError when the instance isn't there, or not yet."""
        with outside(f"tagging instance {instance_id}"):
            self._client.create_tags(Resources=[instance_id], Tags=to_tags(tags))

    def terminate(self, instance_ids: Sequence[str]) -> None:
        """TerminateInstances; what is gone already is no error."""
        for start in range(0, len(instance_ids), TERMINATED_A_CALL):
            with outside("terminating instances"):
                self._terminate(list(instance_ids[start : start + TERMINATED_A_CALL]))

    def _bought(self, request: FleetRequest, answer: "CreateFleetResultTypeDef") -> tuple[Instance, ...]:
        """What came, with details where EC2 tells them already.

        DescribeInstances lags behind CreateFleet; an instance it doesn't show yet is still bought.
        """
        instances = fleet_requests.bought(request, answer)
        try:
            described = self.launched(request.launch_id) if instances else ()
        except OutsideError:
            described = ()
        instances |= {instance.id: instance for instance in described if instance.id in instances}
        return tuple(instances[instance_id] for instance_id in sorted(instances))

    def _nothing_bought(self, request: FleetRequest, error: ClientError) -> FleetAnswer:
        """The whole call's error, once for each offering it asked for."""
        if judge(error_code(error)).scope == "nothing":
            self._templates.forget()
        return FleetAnswer((), fleet_requests.refused(request, error_code(error), str(error)))

    def _tagged(
        self, tags: Mapping[str, str], *, states: Sequence[str] = (), instance_ids: Sequence[str] = ()
    ) -> tuple[Instance, ...]:
        """Instances with all these tags, sorted by id."""
        filters: list[FilterTypeDef] = [{"Name": f"tag:{key}", "Values": [value]} for key, value in tags.items()]
        if states:
            filters.append({"Name": "instance-state-name", "Values": list(states)})
        if instance_ids:
            filters.append({"Name": "instance-id", "Values": list(instance_ids)})
        with outside("describing instances"):
            return tuple(sorted(map(_instance, self._describe(filters)), key=lambda instance: instance.id))

    def _describe(self, filters: "Sequence[FilterTypeDef]") -> "Iterator[InstanceTypeDef]":
        pages = self._client.get_paginator("describe_instances").paginate(
            Filters=filters, PaginationConfig={"PageSize": 1000}
        )
        for page in pages:
            for reservation in page.get("Reservations", []):
                yield from reservation.get("Instances", [])

    def _terminate(self, instance_ids: list[str]) -> None:
        """EC2 refuses all where it doesn't know one; leave that out and ask again."""
        while instance_ids:
            try:
                self._client.terminate_instances(InstanceIds=instance_ids)
            except ClientError as error:
                unknown = set(_INSTANCE_ID.findall(str(error))) if error_code(error) == _NOT_FOUND else set()
                known = [instance_id for instance_id in instance_ids if instance_id not in unknown]
                if len(known) == len(instance_ids):
                    raise
                instance_ids = known
            else:
                return


def _instance(raw: "InstanceTypeDef") -> Instance:
    return Instance(
        id=raw.get("InstanceId", ""),
        instance_type=raw.get("InstanceType", ""),
        zone=raw.get("Placement", {}).get("AvailabilityZone", ""),
        capacity_type="spot" if raw.get("InstanceLifecycle") == "spot" else "on-demand",
        state=raw.get("State", {}).get("Name", ""),
        image_id=raw.get("ImageId", ""),
        launched=raw.get("LaunchTime"),
        tags=from_tags(raw.get("Tags", [])),
        private_dns_name=raw.get("PrivateDnsName", ""),
    )
