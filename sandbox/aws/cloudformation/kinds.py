"""What a resource type is to CloudFormation: how it is made, changed and removed, and what Ref and GetAtt give."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Properties = dict[str, Any]
# A boto3 client of the sandbox, by service name.
Clients = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Made:
    """A resource that exists: Ref, and GetAtt by name."""

    reference: str
    attributes: Mapping[str, str] = field(default_factory=dict)


Create = Callable[[Clients, str, Properties], Made]
Update = Callable[[Clients, Made, Properties], Made]
Delete = Callable[[Clients, Made, Properties], None]


@dataclass(frozen=True, slots=True)
class Kind:
    """One resource type. Without an update it is replaced: made anew, the old one removed."""

    create: Create
    update: Update | None = None
    delete: Delete | None = None
    name_property: str = ""
    attributes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ApiKind:
    """A type whose properties are the parameters of one operation, as most are."""

    service: str
    create: str
    # The member of the answer, or else the property, that Ref gives.
    reference: str
    # What identifies the resource to update and delete: parameter → property, or REFERENCE.
    keys: Mapping[str, str]
    update: str = ""
    delete: str = ""
    name_property: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[Properties], Properties] = dict

    def kind(self) -> Kind:
        """The same, as something that does it."""
        return Kind(
            create=self._create,
            update=self._update if self.update else None,
            delete=self._delete if self.delete else None,
            name_property=self.name_property,
            attributes=tuple(self.attributes),
        )

    def _create(self, clients: Clients, name: str, properties: Properties) -> Made:
        named = {self.name_property: name, **properties} if self.name_property else properties
        answer = _call(clients(self.service), self.create, self.prepare(named))
        return self._made({**named, **answer})

    def _update(self, clients: Clients, made: Made, properties: Properties) -> Made:
        known = self._identifiers(made, properties)
        answer = _call(clients(self.service), self.update, {**self.prepare(properties), **known})
        return self._made({**properties, **known, **answer})

    def _delete(self, clients: Clients, made: Made, properties: Properties) -> None:
        _call(clients(self.service), self.delete, self._identifiers(made, properties))

    def _identifiers(self, made: Made, properties: Properties) -> Properties:
        return {key: made.reference if source == REFERENCE else properties[source] for key, source in self.keys.items()}

    def _made(self, known: Mapping[str, Any]) -> Made:
        reference = str(known[self.reference])
        filled = {key: value.format(reference=reference, **known) for key, value in self.attributes.items()}
        return Made(reference, filled)


REFERENCE = "Ref"


def _call(client: Any, operation: str, parameters: Properties) -> dict[str, Any]:
    """Call with those parameters the operation has; templates may say more than an API takes."""
    members = client.meta.service_model.operation_model(operation).input_shape.members
    method = next(python for python, api in client.meta.method_to_api_mapping.items() if api == operation)
    answer: dict[str, Any] = getattr(client, method)(**{k: v for k, v in parameters.items() if k in members})
    return answer
