from typing import TYPE_CHECKING

import pytest
from botocore.stub import Stubber

from nodewright.adapters import aws_clients
from nodewright.adapters.eks import AccessEntries, EksDirectory
from nodewright.application.errors import NotFoundError, RefusedError
from nodewright.domain.clusters import ConnectedCluster
from sandbox.aws.server import SandboxAws

if TYPE_CHECKING:
    from mypy_boto3_eks import EKSClient

ROLE = "arn:aws:iam::123456789012:role/provision"


@pytest.fixture
def eks(sandbox: SandboxAws) -> "EKSClient":
    sandbox.eks.publish("prod", "https://k8s.example", "Q0E=", "1.37", "10.100.0.0/16")
    return aws_clients.eks(sandbox.region)


@pytest.fixture
def stubbed(aws: str) -> "EKSClient":
    return aws_clients.eks(aws)


def test_a_cluster_says_what_its_nodes_need(eks: "EKSClient") -> None:
    assert EksDirectory(eks).describe("prod") == ConnectedCluster(
        name="prod",
        endpoint="https://k8s.example",
        certificate_authority="Q0E=",
        version="1.37",
        service_cidr="10.100.0.0/16",
        dns_ip="10.100.0.10",
        ip_family="ipv4",
        auth_mode="API_AND_CONFIG_MAP",
    )


def test_a_cluster_nobody_knows_is_not_found(eks: "EKSClient") -> None:
    with pytest.raises(NotFoundError, match="describing cluster test"):
        EksDirectory(eks).describe("test")


def test_a_cluster_that_is_still_being_made_is_refused(eks: "EKSClient", sandbox: SandboxAws) -> None:
    sandbox.eks.publish("prod", "", "", "1.37", "10.100.0.0/16")
    with pytest.raises(RefusedError, match="cluster prod is CREATING: wait until it is ACTIVE"):
        EksDirectory(eks).describe("prod")


@pytest.mark.parametrize(
    ("network", "cidr", "dns_ip"),
    [
        ({"serviceIpv4Cidr": "172.20.0.0/16", "ipFamily": "ipv4"}, "172.20.0.0/16", "172.20.0.10"),
        ({"serviceIpv4Cidr": "10.0.0.128/25"}, "10.0.0.128/25", "10.0.0.138"),
        ({"serviceIpv6Cidr": "fd97:8a7a:1b60::/108", "ipFamily": "ipv6"}, "fd97:8a7a:1b60::/108", "fd97:8a7a:1b60::a"),
    ],
)
def test_dns_is_the_tenth_address_of_the_service_range(
    stubbed: "EKSClient", network: dict[str, str], cidr: str, dns_ip: str
) -> None:
    with Stubber(stubbed) as stub:
        stub.add_response("describe_cluster", {"cluster": {"status": "UPDATING", "kubernetesNetworkConfig": network}})
        found = EksDirectory(stubbed).describe("prod")
    assert (found.service_cidr, found.dns_ip) == (cidr, dns_ip)
    assert found.auth_mode == "CONFIG_MAP", "a cluster from before access entries"


@pytest.mark.parametrize("network", [{}, {"serviceIpv4Cidr": "10.0.0.0/30"}])
def test_a_service_range_without_a_tenth_address_is_refused(stubbed: "EKSClient", network: dict[str, str]) -> None:
    with Stubber(stubbed) as stub:
        stub.add_response("describe_cluster", {"cluster": {"status": "ACTIVE", "kubernetesNetworkConfig": network}})
        with pytest.raises(RefusedError, match="cluster prod: its service range"):
            EksDirectory(stubbed).describe("prod")


def test_an_entry_is_made_changed_and_removed_however_often_it_is_asked_for(eks: "EKSClient") -> None:
    entries = AccessEntries(eks)
    for groups in (("readers",), ("readers", "evictors")):
        entries.ensure("prod", ROLE, groups)
        entry = eks.describe_access_entry(clusterName="prod", principalArn=ROLE)["accessEntry"]
        assert entry["kubernetesGroups"] == list(groups)
    entries.remove("prod", ROLE)
    entries.remove("prod", ROLE)
    assert eks.list_access_entries(clusterName="prod")["accessEntries"] == []


def test_an_entry_for_nodes_has_a_type_and_no_groups(eks: "EKSClient") -> None:
    entries = AccessEntries(eks)
    for _ in range(2):
        entries.ensure("prod", ROLE, (), "EC2_LINUX")
    entry = eks.describe_access_entry(clusterName="prod", principalArn=ROLE)["accessEntry"]
    assert entry["type"] == "EC2_LINUX"


def test_an_entry_in_a_cluster_that_is_gone_says_so(eks: "EKSClient") -> None:
    with pytest.raises(NotFoundError, match=f"access entry of {ROLE} in cluster test"):
        AccessEntries(eks).ensure("test", ROLE, ())
