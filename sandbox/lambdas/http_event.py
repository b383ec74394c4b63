"""A request as the event of an HTTP API, and a function's answer as its response: payload format 2.0.

https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import parse_qsl

from sandbox.lambdas.outcome import Json
from sandbox.lambdas.specs import Route

_TEXT = ("text/", "application/json", "application/javascript", "application/xml")


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request; `headers` have lower-case names and repeated ones joined by commas."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    source_ip: str
    received: datetime
    request_id: str


@dataclass(frozen=True, slots=True)
class Response:
    """What goes back to the client."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def message(status: int, text: str) -> Response:
    """API Gateway's own answers."""
    return Response(status, {"Content-Type": "application/json"}, json.dumps({"message": text}).encode())


def http_event(request: Request, route: Route, parameters: Mapping[str, str], account: str, api_id: str) -> Json:
    """The event for the function behind a route."""
    headers = {name: value for name, value in request.headers.items() if name != "cookie"}
    event: Json = {
        "version": "2.0",
        "routeKey": route.key,
        "rawPath": request.path,
        "rawQueryString": request.query,
        "headers": headers,
        "requestContext": _context(request, route, account, api_id),
        "isBase64Encoded": False,
    }
    if "cookie" in request.headers:
        event["cookies"] = [cookie.strip() for cookie in request.headers["cookie"].split(";")]
    if request.query:
        event["queryStringParameters"] = _query(request.query)
    if parameters:
        event["pathParameters"] = dict(parameters)
    if request.body:
        event |= _body(request)
    return event


def response(payload: Json) -> Response:
    """A function's answer; without a `statusCode` the whole of it is the JSON body of a 200."""
    if not isinstance(payload, dict) or "statusCode" not in payload:
        whole = payload if isinstance(payload, str) else json.dumps(payload)
        return Response(200, {"Content-Type": "application/json"}, whole.encode())
    raw = payload.get("body") or ""
    text = raw if isinstance(raw, str) else json.dumps(raw)
    body = base64.b64decode(text) if payload.get("isBase64Encoded") else text.encode()
    headers = {str(name): str(value) for name, value in (payload.get("headers") or {}).items()}
    if body and not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = "text/plain; charset=utf-8"
    return Response(int(payload["statusCode"]), headers, body)


def _context(request: Request, route: Route, account: str, api_id: str) -> Json:
    return {
        "accountId": account,
        "apiId": api_id,
        "domainName": request.headers.get("host", ""),
        "domainPrefix": api_id,
        "http": {
            "method": request.method,
            "path": request.path,
            "protocol": "HTTP/1.1",
            "sourceIp": request.source_ip,
            "userAgent": request.headers.get("user-agent", ""),
        },
        "requestId": request.request_id,
        "routeKey": route.key,
        "stage": "$default",
        "time": request.received.astimezone(UTC).strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "timeEpoch": int(request.received.timestamp() * 1000),
    }


def _query(query: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        values[name] = f"{values[name]},{value}" if name in values else value
    return values


def _body(request: Request) -> Json:
    if request.headers.get("content-type", "").startswith(_TEXT):
        try:
            return {"body": request.body.decode()}
        except UnicodeDecodeError:
            pass
    return {"body": base64.b64encode(request.body).decode(), "isBase64Encoded": True}
