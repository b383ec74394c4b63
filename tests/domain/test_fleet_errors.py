import pytest

from nodewright.domain.fleet_errors import OfferingPattern, cooled_down, judge, quota_group

ICE_LIKE = [
    "InsufficientInstanceCapacity",
    "MaxSpotInstanceCountExceeded",
    "VcpuLimitExceeded",
    "UnfulfillableCapacity",
    "Unsupported",
    "InsufficientFreeAddressesInSubnet",
    "MaxFleetCountExceeded",
    "ReservationCapacityExceeded",
]


@pytest.mark.parametrize("code", ICE_LIKE)
def test_what_karpenter_takes_for_lack_of_capacity_cools_down_and_is_planned_around(code: str) -> None:
    rule = judge(code)
    assert rule.code == code
    assert rule.reaction == "replan"
    assert rule.cooldown.total_seconds() == 180
    assert cooled_down(rule, "m5.large", "a", "spot")


def test_insufficient_capacity_blocks_exactly_its_offering() -> None:
    rule = judge("InsufficientInstanceCapacity")
    assert cooled_down(rule, "x.s", "a", "spot") == (OfferingPattern("x.s", "a", "spot"),)


def test_an_offering_error_that_names_no_offering_blocks_nothing() -> None:
    assert cooled_down(judge("UnfulfillableCapacity"), "", "", "spot") == ()


@pytest.mark.parametrize("code", ["MaxSpotInstanceCountExceeded", "AuthFailure.ServiceLinkedRoleCreationNotPermitted"])
def test_what_stops_spot_stops_all_of_it_and_leaves_on_demand(code: str) -> None:
    assert cooled_down(judge(code), "m5.large", "a", "spot") == (OfferingPattern("*", "*", "spot"),)


def test_a_full_subnet_blocks_its_zone() -> None:
    rule = judge("InsufficientFreeAddressesInSubnet")
    assert cooled_down(rule, "m5.large", "a", "spot") == (OfferingPattern("*", "a", "*"),)
    assert cooled_down(rule, "m5.large", "", "spot") == ()


def test_a_used_up_vcpu_quota_blocks_every_type_that_counts_against_it() -> None:
    known = ["c7g.large", "g5.xlarge", "m5.large", "p4d.24xlarge"]
    assert cooled_down(judge("VcpuLimitExceeded"), "m5.large", "a", "on-demand", known) == (
        OfferingPattern("c7g.large", "*", "on-demand"),
        OfferingPattern("m5.large", "*", "on-demand"),
    )
    assert cooled_down(judge("VcpuLimitExceeded"), "", "", "spot", known) == (OfferingPattern("*", "*", "spot"),)


def test_a_used_up_fleet_quota_blocks_the_account() -> None:
    assert cooled_down(judge("MaxFleetCountExceeded"), "m5.large", "a", "spot") == (OfferingPattern("*", "*", "*"),)


@pytest.mark.parametrize("code", ["RequestLimitExceeded", "Throttling", "InternalError"])
def test_a_throttle_blocks_nothing_and_is_asked_again(code: str) -> None:
    rule = judge(code)
    assert rule.reaction == "retry"
    assert cooled_down(rule, "m5.large", "a", "spot") == ()


def test_a_code_nobody_has_met_stops_and_blames_no_offering() -> None:
    rule = judge("BrandNewError")
    assert (rule.code, rule.reaction, rule.scope) == ("BrandNewError", "stop", "nothing")
    assert cooled_down(rule, "m5.large", "a", "spot") == ()


@pytest.mark.parametrize(
    ("instance_type", "group"),
    [
        ("m7g.large", "standard"),
        ("t4g.nano", "standard"),
        ("hpc7g.4xlarge", "hpc"),
        ("i4i.large", "standard"),
        ("inf2.xlarge", "inf"),
        ("trn1.2xlarge", "trn"),
        ("g5.xlarge", "g"),
        ("vt1.3xlarge", "g"),
        ("p5.48xlarge", "p"),
        ("x2gd.large", "x"),
        ("f2.6xlarge", "f"),
        ("u-6tb1.metal", "high-memory"),
        ("u7i-12tb.224xlarge", "high-memory"),
        ("dl1.24xlarge", "dl"),
        ("d3.xlarge", "standard"),
    ],
)
def test_a_type_counts_against_its_familys_quota(instance_type: str, group: str) -> None:
    assert quota_group(instance_type) == group
