"""Hooks into moto's CloudFormation: which resource types there are, and how a stack's update changes them."""

from collections.abc import Iterator
from typing import Any

from moto.cloudformation import parsing
from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.parsing import ResourceMap

from sandbox.aws.clients import client
from sandbox.aws.cloudformation.adapted_types import completions, prepared_update
from sandbox.aws.cloudformation.api_types import api_types
from sandbox.aws.cloudformation.kinds import Clients, Kind, Properties
from sandbox.aws.cloudformation.lambda_types import lambda_types
from sandbox.aws.cloudformation.policy_types import policy_types
from sandbox.aws.cloudformation.recorded_types import recorded_types
from sandbox.aws.cloudformation.resources import Resource, ResourceType
from sandbox.aws.cloudformation.secret_type import secret_type
from sandbox.aws.cloudformation.stacks import take_over_stacks
from sandbox.aws.cloudformation.table_types import table_types
from sandbox.aws.credentials import Credentials
from sandbox.aws.patches import Patches

# Whatever refers to one of these must follow when it is replaced.
REPLACED = ("AWS::Lambda::LayerVersion", "AWS::Lambda::Version")


class CloudFormation:
    """Our types and our way of updating, as long as the patches last."""

    def __init__(self, region: str, endpoint: str) -> None:
        clients = sandbox_clients(region, endpoint)
        self._types = {name: ResourceType(kind, clients) for name, kind in kinds(region).items()}
        self._completions = completions()

    def install(self, patches: Patches) -> None:
        """Take over where moto looks types up, makes, changes and compares resources."""
        self._take_over_types(patches)
        self._take_over_creation(patches)
        self._take_over_updates(patches)
        take_over_stacks(patches)

    def _take_over_types(self, patches: Patches) -> None:
        def resource_class(resource_type: str) -> Any:
            if resource_type in self._types:
                return self._types[resource_type]
            known = resource_type.startswith("Custom::") or resource_type in parsing.get_model_map()
            if not known and resource_type not in parsing.NULL_MODELS:
                raise ValidationError(
                    message=f"The sandbox's CloudFormation has no {resource_type}: see sandbox/aws/cloudformation"
                )
            return moto_class(resource_type)

        def name_property(resource_type: str) -> Any:
            ours = self._types.get(resource_type)
            return ours.kind.name_property if ours else moto_name_property(resource_type)

        moto_class = patches.replace(parsing, "resource_class_from_type", resource_class)
        moto_name_property = patches.replace(parsing, "resource_name_property_from_type", name_property)

    def _take_over_creation(self, patches: Patches) -> None:
        def create(logical_id: str, described: Any, resources: Any, **where: str) -> Any:
            resource = moto_create(logical_id, described, resources, **where)
            return resource if resource is None else self._completed(resource, described, resources)

        moto_create = patches.replace(parsing, "parse_and_create_resource", create)

    def _take_over_updates(self, patches: Patches) -> None:
        def update(logical_id: str, described: Any, resources: Any, **where: str) -> Any:
            old, properties = resources[logical_id], _properties(described, resources)
            if getattr(old, "sandbox_properties", None) == properties:
                return old
            if isinstance(old, Resource):
                _, _, name = parsing.parse_resource_and_generate_name(logical_id, described, resources)
                old.change(name, properties)
                return self._completed(old, described, resources)
            new = self._updated_by_moto(moto_update, logical_id, described, resources, where)
            return self._completed(new, described, resources)

        def difference(resources: Any, template: Any, parameters: Any = None) -> Any:
            found = moto_difference(resources, template, parameters)
            found["Modify"] += [
                one for one in _followers(template["Resources"], found["Modify"]) if one not in found["Modify"]
            ]
            return found

        moto_update = patches.replace(parsing, "parse_and_update_resource", update)
        moto_difference = patches.replace(ResourceMap, "build_resource_diff", difference)

    def _updated_by_moto(
        self, update: Any, logical_id: str, described: Any, resources: Any, where: dict[str, str]
    ) -> Any:
        """The update moto has, if it keeps the name, else a replacement."""
        cleaned = parsing.clean_json(described, resources)
        renames = described["Type"] == "AWS::Events::Rule"
        new = None if renames else update(logical_id, prepared_update(cleaned), resources, **where)
        if new is not None:
            return new
        old = resources[logical_id]
        resources._delete_resource(old, cleaned)  # noqa: SLF001  the map's own way to delete
        kept = {"Name": old.name} if renames else {}
        again = {**cleaned, "Properties": {**kept, **cleaned.get("Properties", {})}}
        return parsing.parse_and_create_resource(logical_id, again, resources, **where)

    def _completed(self, resource: Any, described: Any, resources: Any) -> Any:
        properties = _properties(described, resources)
        complete = self._completions.get(described["Type"])
        if complete is not None:
            complete(resource, properties)
        resource.sandbox_properties = properties
        resource.cf_resource_type = described["Type"]
        return resource


def kinds(region: str) -> dict[str, Kind]:
    """Every resource type done here rather than by moto."""
    groups = (
        api_types(region),
        lambda_types(),
        policy_types(),
        recorded_types(region),
        secret_type(),
        table_types(region),
    )
    return {name: kind for group in groups for name, kind in group.items()}


def sandbox_clients(region: str, endpoint: str) -> Clients:
    """Clients of the sandbox itself: CloudFormation acts as an administrator."""
    keys = Credentials.administrator()
    return lambda service: client(service, region, endpoint, keys["AWS_ACCESS_KEY_ID"], keys["AWS_SECRET_ACCESS_KEY"])


def _properties(described: Any, resources: Any) -> Properties:
    cleaned: Properties = parsing.clean_json(described.get("Properties", {}), resources)
    return cleaned


def _followers(resources: dict[str, Any], changed: list[str]) -> Iterator[str]:
    replaced = [name for name in changed if resources[name]["Type"] in REPLACED]
    for name, described in resources.items():
        if any(_refers(described, one) for one in replaced):
            yield name


def _refers(node: Any, logical_id: str) -> bool:
    if isinstance(node, dict):
        target = node.get("Ref") or (node.get("Fn::GetAtt") or [None])[0]
        return target == logical_id or any(_refers(value, logical_id) for value in node.values())
    return isinstance(node, list) and any(_refers(value, logical_id) for value in node)
