"""Resources of our kinds, as moto's stacks want to see them."""

from dataclasses import dataclass
from typing import Any

from moto.cloudformation.exceptions import UnformattedGetAttTemplateException

from sandbox.aws.cloudformation.kinds import Clients, Kind, Made, Properties


class Resource:
    """One resource. moto adds its type and logical id."""

    def __init__(self, kind: Kind, clients: Clients, made: Made, properties: Properties) -> None:
        self._kind = kind
        self._clients = clients
        self._made = made
        self._properties = properties

    @property
    def physical_resource_id(self) -> str:
        """What Ref gives."""
        return self._made.reference

    def get_cfn_attribute(self, name: str) -> str:
        """What GetAtt gives."""
        if name not in self._made.attributes:
            raise UnformattedGetAttTemplateException
        return self._made.attributes[name]

    @staticmethod
    def is_created() -> bool:
        """Nothing here takes time."""
        return True

    def change(self, name: str, properties: Properties) -> None:
        """Give it other properties: in place, or by a new one in its place."""
        if self._kind.update is not None:
            self._made = self._kind.update(self._clients, self._made, properties)
        else:
            self.delete()
            self._made = self._kind.create(self._clients, name, properties)
        self._properties = properties

    def delete(self, *_: object) -> None:
        """Remove it; account and region, which moto says, are the sandbox's only ones."""
        if self._kind.delete is not None:
            self._kind.delete(self._clients, self._made, self._properties)


@dataclass(frozen=True, slots=True)
class ResourceType:
    """Stands where moto expects a model's class."""

    kind: Kind
    clients: Clients

    def create_from_cloudformation_json(self, name: str, described: Any, *_: object, **__: object) -> Resource:
        """Make a resource from its part of the template."""
        properties = described["Properties"]
        return Resource(self.kind, self.clients, self.kind.create(self.clients, name, properties), properties)

    def has_cfn_attr(self, name: str) -> bool:
        """Whether GetAtt knows the name."""
        return name in self.kind.attributes
