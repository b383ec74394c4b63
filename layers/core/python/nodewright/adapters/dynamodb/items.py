"""Items: native attributes where a condition or query needs them, a JSON `body` for the rest."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

import msgspec

from nodewright.application.errors import RefusedError
from nodewright.domain.quantities import Resources

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

Item = dict[str, "AttributeValueTypeDef"]
"""As read and as written."""

T = TypeVar("T")


class UnreadableItemError(RefusedError):
    """An item of the table doesn't hold what it should."""


def text(value: str) -> "AttributeValueTypeDef":
    """A string attribute."""
    return {"S": value}


def number(value: int) -> "AttributeValueTypeDef":
    """A number attribute."""
    return {"N": str(value)}


def moment(value: datetime) -> "AttributeValueTypeDef":
    """A moment as microseconds since 1970: compares as time, exact."""
    return number(microseconds(value))


def expiry(value: datetime) -> "AttributeValueTypeDef":
    """A moment as DynamoDB's time to live wants it: whole seconds since 1970."""
    return number(microseconds(value) // 1_000_000)


def microseconds(value: datetime) -> int:
    """Since 1970, exactly."""
    since = value - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def body(value: object) -> "AttributeValueTypeDef":
    """The value's fields as JSON."""
    return text(encode(value).decode())


def encode(value: object) -> bytes:
    """JSON of any value of ours; mappings and sets in a fixed order, so equal values are equal bytes."""
    return _JSON.encode(value)


def read_text(item: Mapping[str, object], name: str) -> str:
    """A string attribute, or UnreadableItemError."""
    return _read(item, name, "S")


def read_number(item: Mapping[str, object], name: str) -> int:
    """A whole-number attribute, or UnreadableItemError."""
    value = _read(item, name, "N")
    try:
        return int(value)
    except ValueError:
        raise unreadable(item, name, f"{value!r} is not a whole number") from None


def read_bytes(item: Mapping[str, object], name: str) -> bytes:
    """A binary attribute, or UnreadableItemError."""
    attribute = item.get(name)
    value = attribute.get("B") if isinstance(attribute, dict) else None
    if not isinstance(value, bytes):
        raise unreadable(item, name, "missing, or not of DynamoDB's type B")
    return value


def read_moment(item: Mapping[str, object], name: str) -> datetime:
    """What `moment` wrote."""
    seconds, micros = divmod(read_number(item, name), 1_000_000)
    try:
        return datetime.fromtimestamp(seconds, UTC).replace(microsecond=micros)
    except (OverflowError, ValueError) as error:
        raise unreadable(item, name, str(error)) from None


def read_body(item: Mapping[str, object], kind: type[T], defaults: Mapping[str, object]) -> T:
    """What `body` wrote, by this or another release.

    Unknown fields are ignored; of `defaults` is taken what the field table gained since.
    """
    raw = read_text(item, "body")
    try:
        fields: object = msgspec.json.decode(raw)
        if not isinstance(fields, dict):
            raise unreadable(item, "body", "not a JSON object")
        return msgspec.convert({**defaults, **fields}, kind, dec_hook=to_domain)
    except (msgspec.DecodeError, msgspec.ValidationError, ValueError) as error:
        raise unreadable(item, "body", str(error)) from error


def unreadable(item: Mapping[str, object], name: str, problem: str) -> UnreadableItemError:
    """The error for an attribute of an item; says which, and the fix."""
    where = f"{_plain(item, 'pk')} / {_plain(item, 'sk')}"
    return UnreadableItemError(f"table item {where}, attribute {name}: {problem}; repair or delete the item")


def to_plain(value: object) -> object:
    """Msgspec's hook: what it doesn't know becomes something it does."""
    if isinstance(value, Mapping):
        return dict(value)
    raise NotImplementedError(f"{type(value).__name__} has no place in the table")


def to_domain(kind: type, value: object) -> object:
    """Msgspec's hook, the other way."""
    if kind is Resources and isinstance(value, Mapping):
        return Resources(value)
    if kind is object:
        return value
    raise NotImplementedError(f"{kind.__name__} has no place in the table")


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_JSON = msgspec.json.Encoder(enc_hook=to_plain, order="deterministic")


def _read(item: Mapping[str, object], name: str, kind: str) -> str:
    value = _plain(item, name, kind)
    if value is None:
        raise unreadable(item, name, f"missing, or not of DynamoDB's type {kind}")
    return value


def _plain(item: Mapping[str, object], name: str, kind: str = "S") -> str | None:
    attribute = item.get(name)
    value = attribute.get(kind) if isinstance(attribute, dict) else None
    return value if isinstance(value, str) else None
