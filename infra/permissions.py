"""What each function may do: one row a verb, nothing it doesn't need."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aws_cdk import Aws
from aws_cdk import aws_iam as iam

from infra import statements as may
from infra.nodes import profile_path

#: TransactWriteItems is authorised as its parts; ConditionCheckItem is the part that only looks.
_READ_AND_WRITE = ("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem")


@dataclass(frozen=True, slots=True)
class Estate:
    """The things that permissions are about, by ARN."""

    stack_id: str
    table: str
    provision_queue: str
    reconcile_queue: str
    node_roles: tuple[str, ...]
    """Every role that may be given to a node."""


def notify(estate: Estate) -> list[iam.PolicyStatement]:
    """Checks a token and hints."""
    return [
        may.items(estate.table, ["GetItem"], ["CLUSTERS"]),
        may.send(estate.provision_queue, estate.reconcile_queue),
    ]


def tick(estate: Estate) -> list[iam.PolicyStatement]:
    """Lists the clusters and hints at each."""
    return [may.items(estate.table, ["Query"], ["CLUSTERS"]), may.send(estate.reconcile_queue)]


def provision(estate: Estate) -> list[iam.PolicyStatement]:
    """Plans and launches; whatever it makes must carry our tag."""
    return [
        may.items(estate.table, _READ_AND_WRITE),
        may.send(estate.provision_queue),
        may.look_up("Instances", "Subnets", "SecurityGroups", "LaunchTemplates"),
        *may.launch(estate.stack_id),
        may.pass_roles(estate.node_roles),
        *may.instance_profiles(estate.stack_id, profile_path(estate.stack_id)),
        may.public_parameters(),
        may.describe_clusters(),
    ]


def reconcile(estate: Estate) -> list[iam.PolicyStatement]:
    """Keeps claims true; ends instances, but only ours."""
    return [
        may.items(estate.table, _READ_AND_WRITE),
        may.send(estate.provision_queue, estate.reconcile_queue),
        may.look_up("Instances"),
        may.label_instances(estate.stack_id, "Name", "karpenter.sh/nodeclaim"),
        may.terminate_instances(estate.stack_id),
        may.describe_clusters(),
    ]


def refresh(estate: Estate) -> list[iam.PolicyStatement]:
    """Reads the catalogue of AWS and stores it; never looks at claims."""
    networks = ("Subnets", "SecurityGroups", "Images", "LaunchTemplates")
    return [
        may.items(estate.table, _READ_AND_WRITE, ["CLUSTERS", f"REGION#{Aws.REGION}"]),
        may.look_up("InstanceTypes", "InstanceTypeOfferings", "SpotPriceHistory", *networks),
        may.delete_launch_templates(estate.stack_id),
        may.price_list(),
        may.public_parameters(),
        may.describe_clusters(),
    ]


PERMISSIONS: Mapping[str, Callable[[Estate], list[iam.PolicyStatement]]] = {
    "notify": notify,
    "provision": provision,
    "reconcile": reconcile,
    "refresh": refresh,
    "tick": tick,
}
