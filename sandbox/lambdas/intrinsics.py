"""CloudFormation's intrinsic functions, as far as finding out which resource a property means."""

import re

from sandbox.lambdas.outcome import Json


class UnreadableTemplateError(ValueError):
    """The template says something this sandbox does not understand; the message names resource and property."""


def referenced(value: Json, where: str) -> str:
    """The logical id of the one resource that `value` refers to, by Ref, GetAtt, Join or Sub."""
    found = sorted(set(_references(value)))
    if len(found) != 1:
        raise UnreadableTemplateError(
            f"{where}: expected a reference to exactly one resource of this template, found {found or value!r}"
        )
    return found[0]


def text(value: Json, where: str) -> str:
    """A plain string; the sandbox reads no computed ones here."""
    if not isinstance(value, str):
        raise UnreadableTemplateError(f"{where}: expected a plain string, found {value!r}")
    return value


def whole(value: Json, where: str) -> int:
    """A whole number; CloudFormation also takes it as text."""
    try:
        return int(value)
    except (TypeError, ValueError):
        raise UnreadableTemplateError(f"{where}: expected a whole number, found {value!r}") from None


def _references(value: Json) -> list[str]:
    if isinstance(value, list):
        return [name for item in value for name in _references(item)]
    if not isinstance(value, dict):
        return []
    if "Ref" in value:
        return _own([str(value["Ref"])])
    if "Fn::GetAtt" in value:
        attribute = value["Fn::GetAtt"]
        return [attribute.split(".")[0] if isinstance(attribute, str) else str(attribute[0])]
    if "Fn::Sub" in value:
        return _substituted(value["Fn::Sub"])
    return [name for item in value.values() for name in _references(item)]


def _substituted(value: Json) -> list[str]:
    template, given = (value, {}) if isinstance(value, str) else (value[0], value[1])
    names = [name.split(".")[0] for name in re.findall(r"\$\{([^!}]+)}", template)]
    return _own([name for name in names if name not in given]) + _references(list(given.values()))


def _own(names: list[str]) -> list[str]:
    return [name for name in names if not name.startswith("AWS::")]
