"""The InstanceProfiles port on IAM."""

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from nodewright.adapters.aws_errors import error_code, outside
from nodewright.adapters.ec2_tags import CLUSTER_TAG, STACK_TAG
from nodewright.application.errors import RefusedError

if TYPE_CHECKING:
    from mypy_boto3_iam import IAMClient


class IamInstanceProfiles:
    """One profile for each (cluster, class, role), under the stack's own path.

    Another role is another profile, as in Karpenter: instances that run keep theirs.
    """

    def __init__(self, client: "IAMClient", stack_id: str, region: str) -> None:
        self._client = client
        self._stack_id = stack_id
        self._region = region
        self._there: set[str] = set()

    def ensure(self, cluster: str, node_class: str, role: str) -> str:
        """Name of a profile with this role; made, and given the role, where that is missing."""
        role = role.rpartition("/")[2]
        name = self._name(cluster, node_class, role)
        if name not in self._there:
            with outside(f"EC2NodeClass/{node_class}: instance profile {name} for role {role}"):
                self._make(name, self._tags(cluster, node_class))
                self._give(name, role)
            self._there.add(name)
        return name

    def _name(self, cluster: str, node_class: str, role: str) -> str:
        """IAM names are global, so the region is part of it."""
        content = f"{self._stack_id}/{self._region}/{cluster}/{node_class}/{role}"
        return f"nodewright-{hashlib.sha256(content.encode()).hexdigest()[:32]}"

    def _make(self, name: str, tags: Mapping[str, str]) -> None:
        try:
            self._client.create_instance_profile(
                InstanceProfileName=name,
                Path=f"/nodewright/{self._stack_id}/",
                Tags=[{"Key": key, "Value": value} for key, value in tags.items()],
            )
        except ClientError as error:
            if error_code(error) != "EntityAlreadyExists":
                raise

    def _give(self, name: str, role: str) -> None:
        """Give it the role. IAM refuses a second one with LimitExceeded, also where it is the same."""
        try:
            self._client.add_role_to_instance_profile(InstanceProfileName=name, RoleName=role)
        except ClientError as error:
            if error_code(error) == "NoSuchEntity":
                raise RefusedError(f"IAM has no role {role}: make it, or change spec.role of the class") from error
            if error_code(error) != "LimitExceeded":
                raise
            self._check(name, role)

    def _check(self, name: str, role: str) -> None:
        profile = self._client.get_instance_profile(InstanceProfileName=name)["InstanceProfile"]
        has = [one["RoleName"] for one in profile["Roles"]]
        if has != [role]:
            raise RefusedError(
                f"instance profile {name} has role {', '.join(has) or 'none'} in place of {role}, somebody changed it:"
                " delete the profile, it is made again"
            )

    def _tags(self, cluster: str, node_class: str) -> Mapping[str, str]:
        return {
            f"kubernetes.io/cluster/{cluster}": "owned",
            CLUSTER_TAG: cluster,
            "karpenter.k8s.aws/ec2nodeclass": node_class,
            "topology.kubernetes.io/region": self._region,
            STACK_TAG: self._stack_id,
        }
