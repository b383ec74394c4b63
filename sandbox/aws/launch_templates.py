"""Launch templates merged with what a request says on top of them."""

from collections.abc import Mapping
from typing import Any

from moto.core.exceptions import ServiceException

from sandbox.aws.protocol import AwsError

Raw = Mapping[str, Any]
Tags = dict[str, str]


def template_version(backend: Any, wanted: Raw) -> Any:
    """The version a LaunchTemplateSpecification names, or EC2's error when there's none."""
    try:
        if "LaunchTemplateId" in wanted:
            template = backend.get_launch_template(template_id=wanted["LaunchTemplateId"])
        else:
            template = backend.get_launch_template_by_name(name=wanted["LaunchTemplateName"])
        return template.get_version(wanted.get("Version", "$Default"))
    except ServiceException as error:
        raise AwsError(error.code, error.message) from None


def merged_request(backend: Any, template: Any, over: Raw) -> dict[str, Any]:
    """The template's data with the request's on top, and a subnet: that asked for or the zone's default."""
    request = {**(template.data if template else {}), **over}
    interfaces = request.get("NetworkInterfaces") or [{}]
    subnet_id = request.get("SubnetId") or interfaces[0].get("SubnetId") or _default_subnet(backend, request)
    return {**request, "SubnetId": subnet_id}


def merged_tags(template: Any, specifications: Any, own: Tags) -> dict[str, Tags]:
    """Tags by resource type: the template's, the request's on top, and on instances those AWS adds itself."""
    tags = _tags(template.data.get("TagSpecifications")) if template else {}
    for resource, more in _tags(specifications).items():
        tags[resource] = tags.get(resource, {}) | more
    origin = {} if template is None else _origin(template)
    return {**tags, "instance": tags.get("instance", {}) | origin | own}


def subnet_zone(backend: Any, subnet_id: str) -> str:
    """The zone of a subnet, or EC2's error when there's no such subnet."""
    try:
        return str(backend.get_subnet(subnet_id).availability_zone)
    except ServiceException:
        raise AwsError("InvalidSubnetID.NotFound", f"The subnet ID '{subnet_id}' does not exist") from None


def _default_subnet(backend: Any, request: Raw) -> str:
    zone = request.get("AvailabilityZone") or request.get("Placement", {}).get("AvailabilityZone")
    default = backend.get_default_subnets().get(zone or f"{backend.region_name}a")
    if default is None:
        raise AwsError("MissingInput", "No subnets found for the default VPC. Please specify a subnet.")
    return str(default.id)


def _origin(template: Any) -> Tags:
    return {
        "aws:ec2launchtemplate:id": template.template.id,
        "aws:ec2launchtemplate:version": str(template.number),
    }


def _tags(specifications: Any) -> dict[str, Tags]:
    found: dict[str, Tags] = {}
    for one in specifications or ():
        found.setdefault(one["ResourceType"], {}).update({tag["Key"]: tag["Value"] for tag in one.get("Tags", ())})
    return found
