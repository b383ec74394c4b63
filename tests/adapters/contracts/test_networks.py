"""The laws of the Networks port: in memory and on moto's EC2."""

from dataclasses import dataclass, field

import pytest

from nodewright.adapters import aws_clients
from nodewright.adapters.memory import InMemoryNetworks, SecurityGroup
from nodewright.adapters.networks import Ec2Networks
from nodewright.application.errors import RefusedError
from nodewright.application.ports import Networks, Subnet
from nodewright.domain.nodeclasses import SelectorTerm


@dataclass
class Place:
    """Networks with three subnets and three groups, by the names the laws use."""

    networks: Networks
    subnets: dict[str, str] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)

    def subnets_by(self, *terms: SelectorTerm) -> list[str]:
        names = {subnet_id: name for name, subnet_id in self.subnets.items()}
        return [names[subnet.id] for subnet in self.networks.subnets(terms)]

    def groups_by(self, *terms: SelectorTerm) -> set[str]:
        names = {group_id: name for name, group_id in self.groups.items()}
        found = self.networks.security_groups(terms)
        assert list(found) == sorted(found)
        return {names[group_id] for group_id in found}


SUBNETS = {
    "big": ("us-east-1a", 24, {"net": "a", "tier": "private"}),
    "small": ("us-east-1b", 28, {"net": "a"}),
    "other": ("us-east-1a", 26, {"net": "b", "tier": ""}),
}
GROUPS = {"nodes": {"net": "a"}, "nodes-extra": {"net": "a", "Name": "extra"}, "other": {"net": "b"}}


@pytest.fixture(params=["memory", "ec2"])
def place(request: pytest.FixtureRequest) -> Place:
    return memory_place() if request.param == "memory" else ec2_place(request.getfixturevalue("aws"))


def memory_place() -> Place:
    networks = InMemoryNetworks()
    place = Place(networks)
    for name, (zone, bits, tags) in SUBNETS.items():
        place.subnets[name] = f"subnet-{name}"
        subnet = Subnet(f"subnet-{name}", zone, f"id-of-{zone}", 2 ** (32 - bits) - 5)
        networks.tagged_subnets.append((subnet, tags))
    for name, tags in GROUPS.items():
        place.groups[name] = f"sg-{name}"
        networks.tagged_groups.append((SecurityGroup(f"sg-{name}", name), tags))
    return place


def ec2_place(region: str) -> Place:
    ec2 = aws_clients.ec2(region)
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    place = Place(Ec2Networks(ec2))
    for number, (name, (zone, bits, tags)) in enumerate(SUBNETS.items()):
        block = f"10.0.{number}.0/{bits}"
        made = ec2.create_subnet(VpcId=vpc, CidrBlock=block, AvailabilityZone=zone)["Subnet"]["SubnetId"]
        place.subnets[name] = made
        ec2.create_tags(Resources=[made], Tags=[{"Key": k, "Value": v} for k, v in tags.items()])
    for name, tags in GROUPS.items():
        group = ec2.create_security_group(GroupName=name, Description=name, VpcId=vpc)["GroupId"]
        place.groups[name] = group
        ec2.create_tags(Resources=[group], Tags=[{"Key": k, "Value": v} for k, v in tags.items()])
    return place


def test_subnets_come_with_most_free_addresses_first(place: Place) -> None:
    assert place.subnets_by(SelectorTerm(tags={"net": "*"})) == ["big", "other", "small"]
    (big,) = place.networks.subnets((SelectorTerm(id=place.subnets["big"]),))
    assert (big.zone, big.free_addresses) == ("us-east-1a", 251)
    assert big.zone_id


def test_terms_are_or_and_what_is_in_one_is_and(place: Place) -> None:
    assert place.subnets_by(SelectorTerm(tags={"net": "a", "tier": "private"})) == ["big"]
    both = (SelectorTerm(tags={"net": "a", "tier": "private"}), SelectorTerm(id=place.subnets["other"]))
    assert place.subnets_by(*both) == ["big", "other"]
    assert place.subnets_by(*both, *both) == ["big", "other"]


def test_a_star_asks_only_for_the_key(place: Place) -> None:
    assert place.subnets_by(SelectorTerm(tags={"tier": "*"})) == ["big", "other"]


def test_an_id_nobody_has_matches_nothing_and_does_not_spoil_the_others(place: Place) -> None:
    terms = (SelectorTerm(id="subnet-0123456789abcdef0"), SelectorTerm(id=place.subnets["small"]))
    assert place.subnets_by(*terms) == ["small"]
    assert place.subnets_by(SelectorTerm(tags={"net": "zzz"})) == []


def test_groups_are_picked_by_id_tags_and_their_own_name(place: Place) -> None:
    assert place.groups_by(SelectorTerm(tags={"net": "a"})) == {"nodes", "nodes-extra"}
    assert place.groups_by(SelectorTerm(name="nodes")) == {"nodes"}
    assert place.groups_by(SelectorTerm(name="nodes*")) == {"nodes", "nodes-extra"}
    assert place.groups_by(SelectorTerm(tags={"Name": "extra"})) == {"nodes-extra"}
    assert place.groups_by(SelectorTerm(id=place.groups["other"]), SelectorTerm(name="nodes")) == {"nodes", "other"}


@pytest.mark.parametrize("term", [SelectorTerm(), SelectorTerm(alias="al2023@latest")])
def test_a_term_that_would_match_everything_is_refused(place: Place, term: SelectorTerm) -> None:
    with pytest.raises(RefusedError, match="says nothing to look for"):
        place.subnets_by(term)
    with pytest.raises(RefusedError, match="says nothing to look for"):
        place.groups_by(term)
