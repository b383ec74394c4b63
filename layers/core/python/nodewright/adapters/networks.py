"""The Networks port: subnets and security groups by a class's selector terms."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nodewright.adapters.aws_errors import outside
from nodewright.adapters.selector_filters import filters_of
from nodewright.application.ports import Subnet
from nodewright.domain.nodeclasses import SelectorTerm

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_ec2.type_defs import FilterTypeDef, SubnetTypeDef


class Ec2Networks:
    """Asks EC2 each time: free addresses change with every launch."""

    def __init__(self, client: "EC2Client") -> None:
        self._client = client

    def subnets(self, terms: tuple[SelectorTerm, ...]) -> tuple[Subnet, ...]:
        """Matches of any term, most free addresses first."""
        found = {s.id: s for filters in filters_of(terms, id="subnet-id") for s in self._subnets(filters)}
        return tuple(sorted(found.values(), key=lambda s: (-s.free_addresses, s.id)))

    def security_groups(self, terms: tuple[SelectorTerm, ...]) -> tuple[str, ...]:
        """Ids of the matches of any term; `name` is the group's name, not its Name tag."""
        searches = filters_of(terms, id="group-id", name="group-name")
        return tuple(sorted({group for filters in searches for group in self._groups(filters)}))

    def _subnets(self, filters: "list[FilterTypeDef]") -> Iterator[Subnet]:
        with outside("describing subnets"):
            for page in self._client.get_paginator("describe_subnets").paginate(Filters=filters):
                yield from map(_subnet, page.get("Subnets", []))

    def _groups(self, filters: "list[FilterTypeDef]") -> Iterator[str]:
        with outside("describing security groups"):
            for page in self._client.get_paginator("describe_security_groups").paginate(Filters=filters):
                yield from (group["GroupId"] for group in page.get("SecurityGroups", []))


def _subnet(raw: "SubnetTypeDef") -> Subnet:
    return Subnet(
        id=raw.get("SubnetId", ""),
        zone=raw.get("AvailabilityZone", ""),
        zone_id=raw.get("AvailabilityZoneId", ""),
        free_addresses=raw.get("AvailableIpAddressCount", 0),
    )
