"""HTTP API → notify: one webhook call becomes at most one hint; the answer is always quick."""

import base64
import json
from datetime import UTC, datetime
from typing import TypedDict

from nodewright.application.notify import UnreadableReviewError
from nodewright.wiring.notify import notify_function


class RawRequest(TypedDict, total=False):
    """What is read of an HTTP API event, payload format 2.0."""

    pathParameters: dict[str, str]
    body: str
    isBase64Encoded: bool


function = notify_function()


def handler(event: RawRequest, _context: object) -> dict[str, object]:
    """400 only when there is no uid to answer to."""
    path, body = event.get("pathParameters") or {}, event.get("body") or ""
    raw = base64.b64decode(body) if event.get("isBase64Encoded") else body.encode()
    with function.telemetry.recording():
        try:
            answer = function.use(path.get("cluster", ""), path.get("token", ""), raw, datetime.now(UTC))
        except UnreadableReviewError as error:
            return _response(400, {"message": str(error)})
        return _response(200, answer)


def _response(status: int, body: object) -> dict[str, object]:
    return {"statusCode": status, "headers": {"content-type": "application/json"}, "body": json.dumps(body)}
