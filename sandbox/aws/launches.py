"""Turns a launch request, its launch template already merged in, into running instances of moto's."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from moto.core.types import Base64EncodedString
from moto.ec2.models.instances import Instance

from sandbox.aws import offerings
from sandbox.aws.capacity import Offering
from sandbox.aws.launch_templates import Tags
from sandbox.aws.protocol import AwsError

ARCHITECTURE_MISMATCH = (
    "The architecture '{type}' of the specified instance type does not match the architecture '{image}' of the "
    "specified AMI. Specify an instance type and an AMI that have matching architectures, and try again."
)
NO_PROFILE = "Value ({value}) for parameter iamInstanceProfile.{named} is invalid. Invalid IAM Instance Profile {named}"


@dataclass(frozen=True, slots=True)
class Launch:
    """What one or more equal instances are started from."""

    request: Mapping[str, Any]  # RunInstances' own shape, whatever it came from
    zone: str
    spot: bool
    client_token: str
    # By resource type: instance, volume.
    tags: Mapping[str, Tags] = field(default_factory=dict)

    @property
    def instance_type(self) -> str:
        """The type asked for; EC2's own default is m1.small."""
        return str(self.request.get("InstanceType", "m1.small"))

    @property
    def offering(self) -> Offering:
        """What is bought."""
        return Offering(self.instance_type, self.zone, "spot" if self.spot else "on-demand")


def problem(backend: Any, launch: Launch) -> AwsError | None:
    """Why EC2 would refuse this launch whatever the capacity, or None. The type must exist."""
    for check in (_image_problem, _groups_problem, _profile_problem):
        try:
            check(backend, launch)
        except AwsError as error:
            return error
    return None


def start(backend: Any, launch: Launch, count: int) -> list[Instance]:
    """Run the instances with everything the request says."""
    reservation = backend.run_instances(
        image_id=launch.request["ImageId"],
        count=count,
        user_data=_user_data(launch.request),
        security_group_names=[],
        security_group_ids=list(group_ids(launch.request)),
        instance_type=launch.instance_type,
        is_instance_type_default=False,
        region_name=backend.region_name,
        subnet_id=launch.request["SubnetId"],
        key_name=launch.request.get("KeyName"),
        tags={resource: dict(tags) for resource, tags in launch.tags.items()},
        block_device_mappings=_block_devices(backend, launch.request),
        metadata_options=dict(launch.request.get("MetadataOptions", {})),
        monitoring_state="enabled" if launch.request.get("Monitoring", {}).get("Enabled") else "disabled",
        ebs_optimized=launch.request.get("EbsOptimized", False),
        associate_public_ip=_public_address(launch.request),
        instance_market_options="spot" if launch.spot else None,
        client_token=launch.client_token,
    )
    for instance in reservation.instances:
        _complete(backend, instance, launch.request)
    return list(reservation.instances)


def group_ids(request: Mapping[str, Any]) -> tuple[str, ...]:
    """Security groups, said outright or on the primary network interface."""
    interfaces = request.get("NetworkInterfaces") or [{}]
    return tuple(request.get("SecurityGroupIds") or interfaces[0].get("Groups") or ())


def heed_dry_run(parameters: Mapping[str, Any]) -> None:
    """A dry run ends with the error that says all is well."""
    if parameters.get("DryRun"):
        raise AwsError("DryRunOperation", "Request would have succeeded, but DryRun flag is set.", 412)


def _image_problem(backend: Any, launch: Launch) -> None:
    image_id = launch.request.get("ImageId", "")
    image = backend.amis.get(image_id)
    if image is None:
        raise AwsError("InvalidAMIID.NotFound", f"The image id '[{image_id}]' does not exist")
    fitting = offerings.architectures(launch.instance_type)
    if image.architecture not in fitting:
        message = ARCHITECTURE_MISMATCH.format(type=",".join(sorted(fitting)), image=image.architecture)
        raise AwsError("InvalidParameterValue", message)


def _groups_problem(backend: Any, launch: Launch) -> None:
    for group_id in group_ids(launch.request):
        if backend.get_security_group_from_id(group_id) is None:
            raise AwsError("InvalidGroup.NotFound", f"The security group '{group_id}' does not exist")


def _profile_problem(backend: Any, launch: Launch) -> None:
    wanted = launch.request.get("IamInstanceProfile")
    if wanted and _profile(backend, wanted) is None:
        named = "arn" if "Arn" in wanted else "name"
        value = wanted.get("Arn") or wanted.get("Name")
        raise AwsError("InvalidParameterValue", NO_PROFILE.format(value=value, named=named))


def _profile(backend: Any, wanted: Mapping[str, str]) -> Any:
    from moto.iam.models import iam_backends  # noqa: PLC0415  moto loads IAM only where it is used

    profiles = iam_backends[backend.account_id]["aws"].instance_profiles.values()
    return next((one for one in profiles if wanted.get("Arn") == one.arn or wanted.get("Name") == one.name), None)


def _user_data(request: Mapping[str, Any]) -> Base64EncodedString | None:
    given = request.get("UserData")
    return None if given is None else Base64EncodedString(str(given))


def _public_address(request: Mapping[str, Any]) -> bool | None:
    interfaces = request.get("NetworkInterfaces") or [{}]
    given = interfaces[0].get("AssociatePublicIpAddress")
    return None if given is None else bool(given)


def _block_devices(backend: Any, request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The image's devices, those the request names replaced, as EC2 merges them."""
    image = backend.amis[request["ImageId"]]
    devices = {
        image.root_device_name: {
            "DeviceName": image.root_device_name,
            "Ebs": {"VolumeSize": 8, "DeleteOnTermination": True},
        }
    }
    for mapping in request.get("BlockDeviceMappings") or ():
        ebs = {"DeleteOnTermination": True, "VolumeType": "gp3", **mapping.get("Ebs", {})}
        devices[mapping["DeviceName"]] = {**mapping, "Ebs": ebs}
    return list(devices.values())


def _complete(backend: Any, instance: Instance, request: Mapping[str, Any]) -> None:
    """What moto's run_instances has no argument for."""
    if wanted := request.get("IamInstanceProfile"):
        backend.associate_iam_instance_profile(instance.id, iam_instance_profile_arn=_profile(backend, wanted).arn)
    asked = {mapping["DeviceName"]: mapping.get("Ebs", {}) for mapping in request.get("BlockDeviceMappings") or ()}
    for device, block in instance.block_device_mapping.items():
        volume = backend.volumes[block.volume_id]
        volume.iops = asked.get(device, {}).get("Iops", volume.iops)
        volume.throughput = asked.get(device, {}).get("Throughput", volume.throughput)
