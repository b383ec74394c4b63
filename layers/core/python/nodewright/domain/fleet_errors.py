"""What each error of a launch means: what cools down, for how long, and what to do next.

Sources: EC2's list of API error codes; Karpenter's table of codes that count as lack of capacity
(behaviour §7.4); what went wrong for people (cases 18 and 35).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, NamedTuple

Scope = Literal["offering", "subnet-zone", "quota", "capacity-type", "account", "nothing"]
"""What cools down:

- offering: exactly this type in this zone as this capacity type
- subnet-zone: everything in the zone of the subnet
- quota: every type that counts against the same vCPU quota, as this capacity type
- capacity-type: everything of this capacity type
- account: everything
- nothing: no offering is to blame
"""

Reaction = Literal["replan", "retry", "stop"]
"""replan: plan again at once without what cools down. retry: the same later, it was a throttle or a
hiccup. stop: planning again would meet the same refusal; record the reason and wait."""

ANY = "*"
SHORT = timedelta(minutes=3)
LONG = timedelta(minutes=10)
NEVER = timedelta()


@dataclass(frozen=True, slots=True)
class FleetErrorRule:
    """One row of the table."""

    code: str
    scope: Scope
    cooldown: timedelta
    """How long the scope is left alone; zero where the scope is `nothing`."""
    reaction: Reaction
    meaning: str
    """For people: what happened and, where somebody can help, what to do."""


class OfferingPattern(NamedTuple):
    """Offerings that cool down; `*` stands for any."""

    instance_type: str
    zone: str
    capacity_type: str


def judge(code: str) -> FleetErrorRule:
    """The rule for an error code.

    A code nobody has met stops the launch and blames no offering: it may be one class's mistake,
    and what cools down does so for every cluster of the region.
    """
    return _RULES.get(code) or FleetErrorRule(code, "nothing", NEVER, "stop", "EC2 refused the launch")


def cooled_down(
    rule: FleetErrorRule, instance_type: str, zone: str, capacity_type: str, known_types: Iterable[str] = ()
) -> tuple[OfferingPattern, ...]:
    """What cools down after an error about this offering.

    `known_types` are the types a quota rule may reach; without them it reaches the type alone.
    """
    match rule.scope:
        case "offering":
            return (OfferingPattern(instance_type, zone or ANY, capacity_type),) if instance_type else ()
        case "subnet-zone":
            return (OfferingPattern(ANY, zone, ANY),) if zone else ()
        case "quota":
            return _same_quota(instance_type, capacity_type, known_types)
        case "capacity-type":
            return (OfferingPattern(ANY, ANY, capacity_type),)
        case "account":
            return (OfferingPattern(ANY, ANY, ANY),)
        case "nothing":
            return ()


def quota_group(instance_type: str) -> str:
    """The vCPU quota a type counts against: standard families share one, special ones have their own.

    Amazon EC2 user guide, "On-Demand Instance quotas" and "Spot Instance quotas".
    """
    family = instance_type.partition(".")[0].lower()
    for prefix, group in _QUOTA_PREFIXES:
        if family.startswith(prefix):
            return group
    return "standard"


def _same_quota(instance_type: str, capacity_type: str, known_types: Iterable[str]) -> tuple[OfferingPattern, ...]:
    """One pattern for each type of the same quota, sorted."""
    if not instance_type:
        return (OfferingPattern(ANY, ANY, capacity_type),)
    group = quota_group(instance_type)
    types = {instance_type, *(known for known in known_types if quota_group(known) == group)}
    return tuple(OfferingPattern(name, ANY, capacity_type) for name in sorted(types))


#: Longest prefix first; what none of them begins is standard (A, C, D, H, I, M, R, T, Z).
_QUOTA_PREFIXES: tuple[tuple[str, str], ...] = (
    ("hpc", "hpc"),
    ("inf", "inf"),
    ("trn", "trn"),
    ("u-", "high-memory"),
    ("u7", "high-memory"),
    ("dl", "dl"),
    ("vt", "g"),
    ("f", "f"),
    ("g", "g"),
    ("p", "p"),
    ("x", "x"),
)


def _rows(scope: Scope, cooldown: timedelta, reaction: Reaction, meanings: dict[str, str]) -> list[FleetErrorRule]:
    """Rules that differ only in code and meaning."""
    return [FleetErrorRule(code, scope, cooldown, reaction, meaning) for code, meaning in meanings.items()]


_RULES: dict[str, FleetErrorRule] = {
    rule.code: rule
    for rule in (
        *_rows(
            "offering",
            SHORT,
            "replan",
            {
                "InsufficientInstanceCapacity": "EC2 has no room for this type in this zone now",
                "InsufficientCapacity": "EC2 has no room for this type in this zone now",
                "InsufficientHostCapacity": "EC2 has no host for this type in this zone now",
                "InsufficientReservedInstanceCapacity": "the reserved instances of this type are all in use",
                "UnfulfillableCapacity": "EC2 can't fulfil the request with this type in this zone",
                "Unsupported": "EC2 doesn't offer this type, as configured, in this zone now",
                "InvalidFleetConfiguration": "EC2 doesn't offer this type in this zone",
                "ReservationCapacityExceeded": "the capacity reservation is used up",
                "SpotMaxPriceTooLow": "the spot price is above what may be paid",
            },
        ),
        *_rows(
            "subnet-zone",
            SHORT,
            "replan",
            {"InsufficientFreeAddressesInSubnet": "the subnet has no free addresses: add a subnet in this zone"},
        ),
        *_rows(
            "quota",
            SHORT,
            "replan",
            {
                "VcpuLimitExceeded": "the account's vCPU quota for this family group is used up: ask for more",
                "InstanceLimitExceeded": "the account's instance quota is used up: ask for more",
            },
        ),
        *_rows(
            "capacity-type",
            SHORT,
            "replan",
            {
                "MaxSpotInstanceCountExceeded": "the account's spot quota is used up: ask for more",
                "MaxSpotFleetRequestCountExceeded": "the account's spot request quota is used up: ask for more",
            },
        ),
        *_rows(
            "capacity-type",
            LONG,
            "replan",
            {
                "AuthFailure.ServiceLinkedRoleCreationNotPermitted": "spot needs the service-linked role: run "
                "`aws iam create-service-linked-role --aws-service-name spot.amazonaws.com`",
            },
        ),
        *_rows(
            "account",
            SHORT,
            "replan",
            {
                "MaxFleetCountExceeded": "the account's EC2 Fleet quota is used up: ask for more",
                "PendingVerification": "AWS is still verifying the account for this region",
            },
        ),
        *_rows(
            "nothing",
            NEVER,
            "replan",
            {
                "InvalidLaunchTemplateName.NotFoundException": "the launch template was deleted meanwhile",
                "InvalidLaunchTemplateId.NotFound": "the launch template was deleted meanwhile",
            },
        ),
        *_rows(
            "nothing",
            NEVER,
            "retry",
            {
                "RequestLimitExceeded": "EC2 throttled the call",
                "RequestResourceCountExceeded": "EC2 throttled the call",
                "ResourceCountExceeded": "EC2 throttled the call",
                "Throttling": "EC2 throttled the call",
                "ThrottlingException": "EC2 throttled the call",
                "EC2ThrottledException": "EC2 throttled the call",
                "InternalError": "EC2 had an internal error",
                "InternalFailure": "EC2 had an internal error",
                "ServerInternal": "EC2 had an internal error",
                "ServiceUnavailable": "EC2 is unavailable",
                "Unavailable": "EC2 is unavailable",
            },
        ),
    )
}
