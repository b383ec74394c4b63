"""A CreateFleet request stays below what EC2 takes, whatever a class's tags, and keeps the choice of types."""

from urllib.parse import urlencode

import botocore.session
import pytest
from botocore.serialize import create_serializer

from nodewright.adapters.fleet_requests import to_create_fleet
from nodewright.application.ports import FleetOverride, FleetRequest, FleetTemplate
from nodewright.application.request_sizes import MOST_BYTES, fitting

ZONES = "abcdef"
LIST = tuple(
    FleetOverride(
        f"u7i-12tb-flex.224xlarge{number:02}", f"us-gov-west-1{zone}", f"subnet-{'0' * 17}", f"ami-{'0' * 17}", 1234567
    )
    for number in range(60)
    for zone in ZONES
)
FEW_TAGS = {"kubernetes.io/cluster/production": "owned", "karpenter.sh/nodepool": "default"}
MANY_TAGS = {f"{number:02}{'k' * 62}": "é" * 32 for number in range(45)}


def sent(request: FleetRequest) -> int:
    """Bytes of the body as botocore sends it."""
    operation = botocore.session.get_session().get_service_model("ec2").operation_model("CreateFleet")
    body = create_serializer("ec2").serialize_to_request(to_create_fleet(request), operation)["body"]
    return len(urlencode(body))


@pytest.mark.parametrize("tags", [FEW_TAGS, MANY_TAGS])
def test_the_longest_list_is_cut_to_what_fits_beside_the_tags(tags: dict[str, str]) -> None:
    kept = fitting(LIST, tags)
    assert len(kept) > 60
    templates = tuple(FleetTemplate(f"nodewright-{'0' * 32}", kept[number::50]) for number in range(min(50, len(kept))))
    assert sent(FleetRequest("0" * 36, 96, "spot", templates, tags)) <= MOST_BYTES


def test_a_list_that_fits_is_left_as_it_is() -> None:
    assert fitting(LIST, FEW_TAGS) == LIST


def test_zones_go_before_types_and_the_order_stays() -> None:
    kept = fitting(LIST, {f"{number:02}": "v" * 128 for number in range(50)})
    assert {each.instance_type for each in kept} == {each.instance_type for each in LIST}
    assert len(LIST) > len(kept) > 60
    assert list(kept) == [each for each in LIST if each in set(kept)]
