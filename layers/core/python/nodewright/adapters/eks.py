"""The ClusterDirectory port on EKS, and who may enter a cluster."""

import ipaddress
from collections.abc import Sequence
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from nodewright.adapters.aws_errors import error_code, outside
from nodewright.application.errors import RefusedError
from nodewright.domain.clusters import ConnectedCluster

if TYPE_CHECKING:
    from mypy_boto3_eks import EKSClient
    from mypy_boto3_eks.type_defs import ClusterTypeDef

#: kube-dns gets the tenth address of the service range (EKS user guide, and nodeadm's default).
DNS_INDEX = 10

#: A cluster in one of these can be talked to.
ALIVE = frozenset({"ACTIVE", "UPDATING"})


class EksDirectory:
    """What EKS says of a cluster."""

    def __init__(self, client: "EKSClient") -> None:
        self._client = client

    def describe(self, name: str) -> ConnectedCluster:
        """NotFoundError when EKS doesn't know it, RefusedError when it can't be connected."""
        with outside(f"describing cluster {name}"):
            cluster = self._client.describe_cluster(name=name)["cluster"]
        status = cluster.get("status", "")
        if status not in ALIVE:
            raise RefusedError(f"cluster {name} is {status}: wait until it is ACTIVE")
        return _connected(name, cluster)


class AccessEntries:
    """Entries that let an IAM principal into a cluster (auth modes API and API_AND_CONFIG_MAP)."""

    def __init__(self, client: "EKSClient") -> None:
        self._client = client

    def ensure(self, cluster: str, principal_arn: str, groups: Sequence[str], kind: str = "STANDARD") -> None:
        """Make the entry, or set its groups where it is there. `kind` EC2_LINUX is for nodes and takes no groups."""
        with outside(f"access entry of {principal_arn} in cluster {cluster}"):
            try:
                self._client.create_access_entry(
                    clusterName=cluster, principalArn=principal_arn, kubernetesGroups=groups, type=kind
                )
            except ClientError as error:
                if error_code(error) != "ResourceInUseException":
                    raise
                self._update(cluster, principal_arn, groups, kind)

    def remove(self, cluster: str, principal_arn: str) -> None:
        """Take it away; none there is no error."""
        with outside(f"access entry of {principal_arn} in cluster {cluster}"):
            try:
                self._client.delete_access_entry(clusterName=cluster, principalArn=principal_arn)
            except ClientError as error:
                if error_code(error) != "ResourceNotFoundException":
                    raise

    def _update(self, cluster: str, principal_arn: str, groups: Sequence[str], kind: str) -> None:
        """Only standard entries have groups that can be set."""
        if kind == "STANDARD":
            self._client.update_access_entry(clusterName=cluster, principalArn=principal_arn, kubernetesGroups=groups)


def _connected(name: str, cluster: "ClusterTypeDef") -> ConnectedCluster:
    network = cluster.get("kubernetesNetworkConfig", {})
    family = network.get("ipFamily", "ipv4")
    cidr = network.get("serviceIpv6Cidr", "") if family == "ipv6" else network.get("serviceIpv4Cidr", "")
    return ConnectedCluster(
        name=name,
        endpoint=cluster.get("endpoint", ""),
        certificate_authority=cluster.get("certificateAuthority", {}).get("data", ""),
        version=cluster.get("version", ""),
        service_cidr=cidr,
        dns_ip=_dns_ip(name, cidr),
        ip_family=family,
        # Clusters from before access entries have no access config; their aws-auth map is the only way in.
        auth_mode=cluster.get("accessConfig", {}).get("authenticationMode", "CONFIG_MAP"),
    )


def _dns_ip(name: str, cidr: str) -> str:
    try:
        return str(ipaddress.ip_network(cidr)[DNS_INDEX])
    except (ValueError, IndexError) as error:
        raise RefusedError(f"cluster {name}: its service range {cidr!r} has no address {DNS_INDEX}") from error
