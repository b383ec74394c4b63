"""A synthesized template with its intrinsics resolved, as an account of its own would."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

_PSEUDO = {
    "AWS::Partition": "aws",
    "AWS::Region": "eu-west-1",
    "AWS::AccountId": "123456789012",
    "AWS::URLSuffix": "amazonaws.com",
}
_ARNS = {
    "AWS::DynamoDB::Table": "arn:aws:dynamodb:eu-west-1:123456789012:table/{}",
    "AWS::SQS::Queue": "arn:aws:sqs:eu-west-1:123456789012:{}",
    "AWS::IAM::Role": "arn:aws:iam::123456789012:role/{}",
    "AWS::Lambda::Function": "arn:aws:lambda:eu-west-1:123456789012:function:{}",
    "AWS::Events::Rule": "arn:aws:events:eu-west-1:123456789012:rule/{}",
    "AWS::Logs::LogGroup": "arn:aws:logs:eu-west-1:123456789012:log-group:{}:*",
}


@dataclass(frozen=True)
class Template:
    folder: Path
    raw: dict[str, Json]

    @classmethod
    def read(cls, folder: Path) -> "Template":
        (file,) = folder.glob("*.template.json")
        return cls(folder, json.loads(file.read_text()))

    def of(self, kind: str) -> dict[str, dict[str, Json]]:
        """Properties of the resources of this type, resolved, by logical id."""
        return {
            name: mapping(self.resolve(resource.get("Properties", {})))
            for name, resource in self._resources()
            if resource["Type"] == kind
        }

    def attributes(self, kind: str) -> Iterator[dict[str, Json]]:
        """The resources of this type as they are written, policies on deletion included."""
        return (resource for _, resource in self._resources() if resource["Type"] == kind)

    def function(self, verb: str) -> dict[str, Json]:
        (found,) = [
            each for each in self.of("AWS::Lambda::Function").values() if text(each["FunctionName"]).endswith(verb)
        ]
        return found

    def outputs(self) -> dict[str, str]:
        return {
            name: text(self.resolve(mapping(output)["Value"])) for name, output in mapping(self.raw["Outputs"]).items()
        }

    def resolve(self, value: Json) -> Json:
        if isinstance(value, list):
            return [self.resolve(each) for each in value]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            (name, argument) = next(iter(value.items()))
            if name == "Ref":
                return _PSEUDO.get(text(argument), f"the-{argument}")
            if name == "Fn::GetAtt":
                return self._attribute(*[text(each) for each in sequence(argument)])
            if name == "Fn::Join":
                separator, parts = sequence(argument)
                return text(separator).join(text(self.resolve(part)) for part in sequence(parts))
        return {name: self.resolve(each) for name, each in value.items()}

    def _attribute(self, resource: str, attribute: str) -> str:
        kind = text(mapping(mapping(self.raw["Resources"])[resource])["Type"])
        return _ARNS[kind].format(f"the-{resource}") if attribute == "Arn" else f"the-{resource}-{attribute}"

    def _resources(self) -> Iterator[tuple[str, dict[str, Json]]]:
        return ((name, mapping(each)) for name, each in mapping(self.raw["Resources"]).items())


def mapping(value: Json) -> dict[str, Json]:
    assert isinstance(value, dict), value
    return value


def sequence(value: Json) -> list[Json]:
    """CloudFormation writes a list of one as the one."""
    return value if isinstance(value, list) else [value]


def text(value: Json) -> str:
    assert isinstance(value, str), value
    return value
