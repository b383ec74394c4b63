"""AWS's errors in the application's words; the one place that knows their codes."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    HTTPClientError,
)
from botocore.exceptions import (
    ConnectionError as BotoConnectionError,
)
from botocore.parsers import ResponseParserError

from nodewright.application.errors import (
    ConflictError,
    NotFoundError,
    OutsideError,
    RefusedError,
    UnavailableError,
)


@dataclass(frozen=True, slots=True)
class CancellationReason:
    """What one item of a write had to do with its being cancelled."""

    code: str
    """`None`, in words, where it had nothing."""
    item: Mapping[str, object]
    """As it was, where that was asked for."""

    @property
    def unmet(self) -> bool:
        """Whether its condition didn't hold."""
        return self.code == _UNMET


class UnmetConditionsError(ConflictError):
    """A write was cancelled by conditions of its items."""

    def __init__(self, text: str, reasons: tuple[CancellationReason, ...]) -> None:
        super().__init__(text)
        self.reasons = reasons
        """In the order of its items."""


class CollisionError(UnavailableError):
    """Somebody wrote the same item at the same moment: nothing was written, the same again will do."""


THROTTLES = frozenset(
    {
        "BandwidthLimitExceeded",
        "EC2ThrottledException",
        "LimitExceededException",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestResourceCountExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "TooManyRequestsException",
    }
)


@contextmanager
def outside(what: str) -> Iterator[None]:
    """Run calls to AWS; what goes wrong is raised in the words of application/errors.py.

    `what` says what was being done, for the message.
    """
    try:
        yield
    except ClientError as error:
        raise translate(error, what) from error
    except (BotoConnectionError, HTTPClientError, ResponseParserError) as error:
        raise UnavailableError(f"{what}: {error}") from error
    except BotoCoreError as error:
        raise RefusedError(f"{what}: {error}") from error


def translate(error: ClientError, what: str) -> OutsideError:
    """The application's word for an answer that isn't a success."""
    code = error_code(error)
    text = f"{what}: {code}: {error.response['Error'].get('Message', '')}"
    if code == "TransactionCanceledException":
        return _cancelled(error, text)
    if code == "TransactionConflictException":
        return CollisionError(text)
    if code == f"{_UNMET}Exception":
        return UnmetConditionsError(text, (_reason(_UNMET, error.response.get("Item")),))
    return _word(code, _status(error))(text)


def error_code(error: ClientError) -> str:
    """AWS's code; botocore gives the HTTP status where the answer had none."""
    return error.response["Error"].get("Code", "")


def is_throttle(error: ClientError) -> bool:
    """Whether it says "too fast" and nothing else."""
    return error_code(error) in THROTTLES or _status(error) == 429


def _word(code: str, status: int) -> type[OutsideError]:
    """Error class for a code and its HTTP status."""
    if code in THROTTLES or code in _UNCLEAR or status >= 500 or status == 429:
        return UnavailableError
    if code in _MISSING or code.endswith((".NotFound", ".NotFoundException", "NotFoundException")):
        return NotFoundError
    return RefusedError


#: Not throttles, but the same call later may succeed.
_UNCLEAR = frozenset(
    {
        "InternalError",
        "InternalFailure",
        "InternalServerError",
        "RequestExpired",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServerException",
        "ServiceUnavailable",
        "ServiceUnavailableException",
        "TransactionInProgressException",
        "Unavailable",
    }
)

_UNMET = "ConditionalCheckFailed"

_MISSING = frozenset({"NoSuchEntity", "AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"})


def _cancelled(error: ClientError, text: str) -> OutsideError:
    """A cancelled transaction: by a condition (somebody was first), by a collision (again), or refused."""
    reasons = _reasons(error.response)
    codes = {reason.code for reason in reasons}
    if any(reason.unmet for reason in reasons):
        return UnmetConditionsError(text, reasons)
    if codes & {"ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded"}:
        return UnavailableError(text)
    return CollisionError(text) if "TransactionConflict" in codes else RefusedError(text)


def _reasons(response: Mapping[str, object]) -> tuple[CancellationReason, ...]:
    """One for each item of the transaction."""
    found = response.get("CancellationReasons")
    return tuple(
        _reason(reason.get("Code", ""), reason.get("Item"))
        for reason in (found if isinstance(found, list) else [])
        if isinstance(reason, dict)
    )


def _reason(code: object, item: object) -> CancellationReason:
    return CancellationReason(str(code), item if isinstance(item, dict) else {})


def _status(error: ClientError) -> int:
    """HTTP status; 0 where botocore doesn't know it."""
    return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
