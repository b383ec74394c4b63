import pytest
from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
)
from botocore.parsers import ResponseParserError

from nodewright.adapters.aws_errors import CollisionError, UnmetConditionsError, outside, translate
from nodewright.application.errors import ConflictError, NotFoundError, OutsideError, RefusedError, UnavailableError


def refused(code: str, status: int = 400, reasons: tuple[str, ...] = ()) -> ClientError:
    response = {
        "Error": {"Code": code, "Message": "because"},
        "ResponseMetadata": {"HTTPStatusCode": status},
        "CancellationReasons": [{"Code": reason} for reason in reasons],
    }
    return ClientError(response, "Operation")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "status", "word"),
    [
        ("RequestLimitExceeded", 503, UnavailableError),
        ("Throttling", 400, UnavailableError),
        ("ThrottlingException", 400, UnavailableError),
        ("TooManyRequestsException", 429, UnavailableError),
        ("ProvisionedThroughputExceededException", 400, UnavailableError),
        ("RequestThrottled", 403, UnavailableError),
        ("TransactionInProgressException", 400, UnavailableError),
        ("TransactionConflictException", 400, CollisionError),
        ("InternalServerError", 500, UnavailableError),
        ("NobodyKnows", 500, UnavailableError),
        ("ServiceUnavailable", 400, UnavailableError),
        ("ConditionalCheckFailedException", 400, UnmetConditionsError),
        ("ResourceNotFoundException", 400, NotFoundError),
        ("InvalidInstanceID.NotFound", 400, NotFoundError),
        ("InvalidLaunchTemplateName.NotFoundException", 400, NotFoundError),
        ("NoSuchEntity", 404, NotFoundError),
        ("AWS.SimpleQueueService.NonExistentQueue", 400, NotFoundError),
        ("UnauthorizedOperation", 403, RefusedError),
        ("ValidationException", 400, RefusedError),
        ("NobodyKnows", 400, RefusedError),
    ],
)
def test_a_code_becomes_our_word_and_says_what_was_being_done(code: str, status: int, word: type[OutsideError]) -> None:
    error = translate(refused(code, status), "launch l1")
    assert type(error) is word
    assert str(error) == f"launch l1: {code}: because"


@pytest.mark.parametrize(
    ("reasons", "word"),
    [
        (("None", "ConditionalCheckFailed"), UnmetConditionsError),
        (("TransactionConflict", "ConditionalCheckFailed"), UnmetConditionsError),
        (("TransactionConflict", "None"), CollisionError),
        (("TransactionConflict", "ThrottlingError"), UnavailableError),
        (("ThrottlingError",), UnavailableError),
        (("ProvisionedThroughputExceeded",), UnavailableError),
        (("ItemCollectionSizeLimitExceeded",), RefusedError),
        (("ValidationError",), RefusedError),
        ((), RefusedError),
    ],
)
def test_a_cancelled_transaction_is_judged_by_its_reasons(reasons: tuple[str, ...], word: type[OutsideError]) -> None:
    assert type(translate(refused("TransactionCanceledException", 400, reasons), "writing")) is word


def test_unmet_conditions_say_which_and_whoever_asks_no_more_hears_a_conflict() -> None:
    error = translate(refused("TransactionCanceledException", 400, ("None", "ConditionalCheckFailed")), "writing")
    assert isinstance(error, ConflictError)
    assert isinstance(error, UnmetConditionsError)
    assert [reason.unmet for reason in error.reasons] == [False, True]


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (ReadTimeoutError(endpoint_url="http://x"), UnavailableError),
        (ConnectTimeoutError(endpoint_url="http://x"), UnavailableError),
        (EndpointConnectionError(endpoint_url="http://x"), UnavailableError),
        (ResponseParserError("HTML, not XML"), UnavailableError),
        (NoCredentialsError(), RefusedError),
        (refused("Throttling"), UnavailableError),
    ],
)
def test_nothing_foreign_gets_out(error: Exception, word: type[OutsideError]) -> None:
    with pytest.raises(word, match=r"^reading the table: ") as caught, outside("reading the table"):
        raise error
    assert caught.value.__cause__ is error


def test_our_own_words_pass_unchanged() -> None:
    with pytest.raises(RefusedError, match=r"^no$"), outside("reading the table"):
        raise RefusedError("no")
