"""EKS: clusters whose endpoint and certificate are those of a real control plane, and access entries."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from sandbox.aws.defaults import ACCOUNT
from sandbox.aws.gateway import Operations
from sandbox.aws.launch_templates import Raw
from sandbox.aws.protocol import AwsError, Call

CREATED = datetime(2026, 11, 1, tzinfo=UTC)
NODE_TYPES = ("EC2_LINUX", "EC2_WINDOWS", "HYPERPOD_LINUX")
NODE_GROUPS = ("system:nodes",)
NO_ACCESS_ENTRIES = (
    "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation."
)
ADMIN_POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"


@dataclass(frozen=True, slots=True)
class AccessEntry:
    """Who an IAM role is inside a cluster."""

    principal_arn: str
    type: str
    username: str
    groups: tuple[str, ...]
    policies: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Cluster:
    """A cluster as DescribeCluster tells of it; `endpoint` and `ca` are empty until published."""

    name: str
    version: str
    service_cidr: str
    role_arn: str
    authentication_mode: str = "API_AND_CONFIG_MAP"
    endpoint: str = ""
    # PEM, in base64.
    ca: str = ""
    network: Raw = field(default_factory=dict)
    tags: Raw = field(default_factory=dict)
    entries: dict[str, AccessEntry] = field(default_factory=dict)


class Eks:
    """The region's clusters."""

    def __init__(self, region: str) -> None:
        self._region = region
        self.clusters: dict[str, Cluster] = {}

    def publish(self, name: str, endpoint: str, ca_pem_base64: str, version: str, service_cidr: str) -> Cluster:
        """Make a cluster, or an existing one, stand for the control plane that answers at `endpoint`."""
        cluster = self.clusters.get(name)
        if cluster is None:
            role = f"arn:aws:iam::{ACCOUNT}:role/eks-{name}"
            cluster = self.clusters[name] = Cluster(name, version, service_cidr, role)
        cluster.endpoint, cluster.ca = endpoint, ca_pem_base64
        cluster.version, cluster.service_cidr = version, service_cidr
        return cluster

    def clear(self) -> None:
        """No clusters."""
        self.clusters.clear()

    def operations(self) -> Operations:
        """What is answered here instead of by moto."""
        answered = {
            "CreateCluster": self._create_cluster,
            "DescribeCluster": lambda call: {"cluster": self._described(self._cluster(call))},
            "ListClusters": lambda _: {"clusters": sorted(self.clusters)},
            "DeleteCluster": self._delete_cluster,
            "CreateAccessEntry": self._create_access_entry,
            "DescribeAccessEntry": lambda call: {"accessEntry": self._entry_described(*self._entry(call))},
            "ListAccessEntries": lambda call: {"accessEntries": sorted(self._cluster(call).entries)},
            "UpdateAccessEntry": self._update_access_entry,
            "DeleteAccessEntry": self._delete_access_entry,
            "AssociateAccessPolicy": self._associate_access_policy,
        }
        return {("eks", operation): answer for operation, answer in answered.items()}

    def _create_cluster(self, call: Call) -> object:
        asked = call.parameters
        if asked["name"] in self.clusters:
            raise AwsError("ResourceInUseException", f"Cluster already exists with name: {asked['name']}", 409)
        cluster = Cluster(
            name=asked["name"],
            version=asked.get("version", "1.37"),
            service_cidr=asked.get("kubernetesNetworkConfig", {}).get("serviceIpv4Cidr", "10.100.0.0/16"),
            role_arn=asked["roleArn"],
            authentication_mode=asked.get("accessConfig", {}).get("authenticationMode", "API_AND_CONFIG_MAP"),
            network=asked.get("resourcesVpcConfig", {}),
            tags=asked.get("tags", {}),
        )
        self.clusters[cluster.name] = cluster
        return {"cluster": self._described(cluster)}

    def _delete_cluster(self, call: Call) -> object:
        cluster = self._cluster(call)
        del self.clusters[cluster.name]
        return {"cluster": {**self._described(cluster), "status": "DELETING"}}

    def _cluster(self, call: Call) -> Cluster:
        parameters = call.parameters
        name = parameters.get("clusterName") or parameters.get("name")
        if name not in self.clusters:
            raise AwsError("ResourceNotFoundException", f"No cluster found for name: {name}.", 404)
        return self.clusters[name]

    def _described(self, cluster: Cluster) -> Raw:
        network = {"serviceIpv4Cidr": cluster.service_cidr, "ipFamily": "ipv4"}
        return {
            "name": cluster.name,
            "arn": f"arn:aws:eks:{self._region}:{ACCOUNT}:cluster/{cluster.name}",
            "createdAt": CREATED,
            "version": cluster.version,
            "endpoint": cluster.endpoint or None,
            "roleArn": cluster.role_arn,
            "resourcesVpcConfig": {"endpointPublicAccess": True, **cluster.network},
            "kubernetesNetworkConfig": network,
            "status": "ACTIVE" if cluster.endpoint else "CREATING",
            "certificateAuthority": {"data": cluster.ca or None},
            "accessConfig": {"authenticationMode": cluster.authentication_mode},
            "tags": cluster.tags,
        }

    def _create_access_entry(self, call: Call) -> object:
        cluster, asked = self._cluster(call), call.parameters
        if cluster.authentication_mode == "CONFIG_MAP":
            raise AwsError("InvalidRequestException", NO_ACCESS_ENTRIES)
        if asked["principalArn"] in cluster.entries:
            message = "The specified access entry resource is already in use on this cluster."
            raise AwsError("ResourceInUseException", message, 409)
        entry = _new_entry(asked)
        cluster.entries[entry.principal_arn] = entry
        return {"accessEntry": self._entry_described(cluster, entry)}

    def _update_access_entry(self, call: Call) -> object:
        (cluster, entry), asked = self._entry(call), call.parameters
        groups = tuple(asked.get("kubernetesGroups", entry.groups))
        changed = replace(entry, groups=groups, username=asked.get("username", entry.username))
        cluster.entries[entry.principal_arn] = changed
        return {"accessEntry": self._entry_described(cluster, changed)}

    def _delete_access_entry(self, call: Call) -> object:
        cluster, entry = self._entry(call)
        del cluster.entries[entry.principal_arn]
        return {}

    def _associate_access_policy(self, call: Call) -> object:
        (cluster, entry), asked = self._entry(call), call.parameters
        cluster.entries[entry.principal_arn] = replace(entry, policies=(*entry.policies, asked["policyArn"]))
        associated = {"policyArn": asked["policyArn"], "accessScope": asked["accessScope"]}
        return {"clusterName": cluster.name, "principalArn": entry.principal_arn, "associatedAccessPolicy": associated}

    def _entry(self, call: Call) -> tuple[Cluster, AccessEntry]:
        cluster, principal = self._cluster(call), call.parameters["principalArn"]
        if principal not in cluster.entries:
            raise AwsError(
                "ResourceNotFoundException", f"The specified principalArn could not be found: {principal}", 404
            )
        return cluster, cluster.entries[principal]

    def _entry_described(self, cluster: Cluster, entry: AccessEntry) -> Raw:
        principal = entry.principal_arn.rpartition(":")[2].replace("/", f"/{ACCOUNT}/", 1)
        return {
            "clusterName": cluster.name,
            "principalArn": entry.principal_arn,
            "kubernetesGroups": list(entry.groups),
            "accessEntryArn": f"arn:aws:eks:{self._region}:{ACCOUNT}:access-entry/{cluster.name}/{principal}",
            "createdAt": CREATED,
            "modifiedAt": CREATED,
            "tags": entry.tags,
            "username": entry.username,
            "type": entry.type,
        }


def groups_of(entry: AccessEntry) -> Iterator[str]:
    """The entry's groups; the cluster admin policy counts as system:masters, the nearest thing outside EKS."""
    yield from entry.groups
    if ADMIN_POLICY in entry.policies:
        yield "system:masters"


def _new_entry(asked: Mapping[str, Any]) -> AccessEntry:
    kind, principal = asked.get("type", "STANDARD"), asked["principalArn"]
    if kind in NODE_TYPES and (asked.get("kubernetesGroups") or asked.get("username")):
        raise AwsError("InvalidParameterException", f"A {kind} access entry can have neither groups nor a username.")
    if any(group.startswith("system:") for group in asked.get("kubernetesGroups", ())):
        raise AwsError("InvalidParameterException", "The kubernetes group name can't start with system:.")
    return AccessEntry(
        principal_arn=principal,
        type=kind,
        username=asked.get("username") or _default_username(kind, principal),
        groups=NODE_GROUPS if kind in NODE_TYPES else tuple(asked.get("kubernetesGroups", ())),
        tags=asked.get("tags", {}),
    )


def _default_username(kind: str, principal: str) -> str:
    if kind in NODE_TYPES:
        return "system:node:{{EC2PrivateDNSName}}"
    role = principal.rpartition("/")[2]
    return f"arn:aws:sts::{ACCOUNT}:assumed-role/{role}/{{{{SessionName}}}}" if ":role/" in principal else principal
