"""DescribeInstanceTypes of the region, in pages: moto gives all there are, everywhere, at once."""

from typing import Any

from moto.ec2.models import ec2_backends

from sandbox.aws import offerings
from sandbox.aws.defaults import ACCOUNT
from sandbox.aws.gateway import Operations
from sandbox.aws.launch_templates import Raw
from sandbox.aws.pages import page
from sandbox.aws.protocol import AwsError, Call

PAGE = 100


class InstanceTypes:
    """The types that some zone of the region offers."""

    def operations(self) -> Operations:
        """What is answered here instead of by moto."""
        return {("ec2", "DescribeInstanceTypes"): self._describe}

    def _describe(self, call: Call) -> object:
        parameters = call.parameters
        offered = set(offerings.types_offered(call.region))
        wanted = parameters.get("InstanceTypes") or []
        if unknown := sorted(set(wanted) - offered):
            raise AwsError(
                "InvalidInstanceType", f"The following supplied instance types do not exist: [{', '.join(unknown)}]"
            )
        found = [one for one in _filtered(call.region, wanted, parameters) if one["InstanceType"] in offered]
        rows, token = page(sorted(found, key=_name), parameters, PAGE)
        return {"InstanceTypes": rows, "NextToken": token}


def _filtered(region: str, wanted: list[str], parameters: Raw) -> list[dict[str, Any]]:
    backend: Any = ec2_backends[ACCOUNT][region]
    filters = {one["Name"]: one["Values"] for one in parameters.get("Filters") or ()}
    return list(backend.describe_instance_types(wanted, filters))


def _name(described: dict[str, Any]) -> str:
    return str(described["InstanceType"])
