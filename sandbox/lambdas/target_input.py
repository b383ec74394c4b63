"""What a rule's target receives: the event, a constant, a part of the event, or a template filled from it.

https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-transform-target-input.html
"""

import json
import re

from sandbox.lambdas.outcome import Json
from sandbox.lambdas.specs import Target


def target_input(target: Target, event: Json, rule_name: str, rule_arn: str) -> Json:
    """The input as a value; a template that gives no JSON is text."""
    if target.input is not None:
        return json.loads(target.input)
    if target.input_path is not None:
        return _at(event, target.input_path)
    if target.input_template is None:
        return event
    values = {name: _at(event, path) for name, path in target.input_paths.items()} | {
        "aws.events.rule-name": rule_name,
        "aws.events.rule-arn": rule_arn,
        "aws.events.event": event,
        "aws.events.event.json": event,
        "aws.events.event.ingestion-time": event.get("time"),
    }
    return _parsed(_filled(target.input_template, values))


def _filled(template: str, values: dict[str, Json]) -> str:
    """Inside a JSON string a variable becomes part of its text, elsewhere it stands as a JSON value."""
    pieces = re.split(r"(<[A-Za-z0-9_.-]+>)", template)
    inside, filled = False, ""
    for piece in pieces:
        name = piece[1:-1]
        if piece.startswith("<") and name in values:
            encoded = json.dumps(values[name])
            filled += encoded.strip('"') if inside and isinstance(values[name], str) else _text(encoded, inside)
        else:
            filled += piece
            inside ^= len(re.findall(r'(?<!\\)"', piece)) % 2 == 1
    return filled


def _text(encoded: str, inside: bool) -> str:
    return json.dumps(encoded)[1:-1] if inside else encoded


def _parsed(filled: str) -> Json:
    try:
        return json.loads(filled)
    except json.JSONDecodeError:
        return filled


def _at(event: Json, path: str) -> Json:
    """The value at a path such as `$.detail.instance-id` or `$.resources[0]`; None where there is none."""
    value = event
    for name, index in re.findall(r"\.([A-Za-z0-9_-]+)|\[(\d+)]", path):
        try:
            value = value[name] if name else value[int(index)]
        except (KeyError, IndexError, TypeError):
            return None
    return value
