"""What each function may do: one row a verb, nothing it doesn't need."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aws_cdk import Aws
from aws_cdk import aws_iam as iam

from infra import statements as may
from infra.nodes import profile_path

#: What cluster state takes. A transaction is authorised as its parts.
_STATE = ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem")
#: What taking claims to their end takes: one at a time.
_ENDING = ("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem")
#: What marking claims and offerings takes; nothing is ever removed.
_MARKING = ("GetItem", "Query", "PutItem", "UpdateItem", "BatchWriteItem")
#: What storing a catalogue takes: a head, its chunks, and the old chunks to clear away.
_CATALOGUE = ("GetItem", "Query", "PutItem", "BatchWriteItem")


@dataclass(frozen=True, slots=True)
class Estate:
    """The things that permissions are about, by ARN."""

    stack_id: str
    table: str
    provision_queue: str
    reconcile_queue: str
    disrupt_queue: str
    retire_queue: str
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
    return [may.items(estate.table, _STATE), may.send(estate.provision_queue), *_buy(estate)]


def reconcile(estate: Estate) -> list[iam.PolicyStatement]:
    """Keeps claims true: finishes launches that provision left half done, names instances, ends ours alone."""
    return [
        may.items(estate.table, _STATE),
        may.send(estate.provision_queue, estate.reconcile_queue, estate.disrupt_queue, estate.retire_queue),
        *_launch(estate),
        may.label_instances(estate.stack_id, "Name", "karpenter.sh/nodeclaim"),
        may.terminate_instances(estate.stack_id),
    ]


def disrupt(estate: Estate) -> list[iam.PolicyStatement]:
    """Buys replacements as provision does, and starts retirements; ends nothing itself."""
    return [may.items(estate.table, _STATE), may.send(estate.retire_queue), *_buy(estate)]


def interrupt(estate: Estate) -> list[iam.PolicyStatement]:
    """Marks claims as retiring and offerings as short, and wakes who does something about it; ends nothing itself."""
    return [
        may.items(estate.table, _MARKING),
        may.send(estate.provision_queue, estate.reconcile_queue, estate.retire_queue),
        may.look_up("Instances"),
    ]


def retire(estate: Estate) -> list[iam.PolicyStatement]:
    """Takes one step of a node's way out, and sends itself on; ends ours alone."""
    return [
        may.items(estate.table, _ENDING),
        may.send(estate.retire_queue, estate.disrupt_queue),
        may.look_up("Instances"),
        may.terminate_instances(estate.stack_id),
    ]


def refresh(estate: Estate) -> list[iam.PolicyStatement]:
    """Reads the catalogue of AWS and stores it; never looks at claims."""
    return [
        may.items(estate.table, _CATALOGUE, ["CLUSTERS", f"REGION#{Aws.REGION}"]),
        may.look_up("InstanceTypes", "InstanceTypeOfferings", "SpotPriceHistory"),
        may.price_list(),
        may.public_parameters(),
        may.describe_clusters(),
    ]


def _buy(estate: Estate) -> list[iam.PolicyStatement]:
    """Launch by a plan of its own, with launch templates to match."""
    return [*_launch(estate), *may.make_launch_templates(estate.stack_id)]


def _launch(estate: Estate) -> list[iam.PolicyStatement]:
    """Resolve a node class and launch nodes of it, from launch templates that are there."""
    return [
        may.look_up("Instances", "Subnets", "SecurityGroups", "Images"),
        may.public_parameters(),
        *may.launch(estate.stack_id),
        may.pass_roles(estate.node_roles),
        *may.instance_profiles(estate.stack_id, profile_path(estate.stack_id)),
    ]


PERMISSIONS: Mapping[str, Callable[[Estate], list[iam.PolicyStatement]]] = {
    "disrupt": disrupt,
    "interrupt": interrupt,
    "notify": notify,
    "provision": provision,
    "reconcile": reconcile,
    "refresh": refresh,
    "retire": retire,
    "tick": tick,
}
