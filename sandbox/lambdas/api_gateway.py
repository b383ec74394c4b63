"""API Gateway's HTTP API before the functions: routes, limits and TLS."""

import re
import ssl
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast
from urllib.parse import unquote

from sandbox.lambdas.http_event import Request, Response, http_event, message, response
from sandbox.lambdas.one_send import OneSendHandler, OneSendServer
from sandbox.lambdas.outcome import Json, Outcome
from sandbox.lambdas.specs import Route, Throttle

# Quota of HTTP APIs: 10 MB a request.
MAXIMUM_BODY_BYTES = 10 * 1024 * 1024
# Lambda takes 6 MB in a synchronous invocation; API Gateway passes its refusal on as a 413.
MAXIMUM_EVENT_BYTES = 6 * 1024 * 1024

_API_ID = "sandbox"


@dataclass(frozen=True, slots=True)
class Tls:
    """Files in PEM with the certificate (chain) and key to serve with."""

    certificate: Path
    key: Path


class ApiGateway:
    """Serves the routes; `invoke` takes a function's logical id and an event, None when the event is too large."""

    def __init__(
        self,
        routes: Sequence[Route],
        throttle: Throttle | None,
        account: str,
        invoke: Callable[[str, Json], Outcome | None],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: Tls | None = None,
    ) -> None:
        self._routes = [(_expression(route.path), route) for route in sorted(routes, key=_generality)]
        self._bucket = None if throttle is None else _Bucket(throttle)
        self._account = account
        self._invoke = invoke
        self._server = _Server(self, host, port, None if tls is None else _context(tls))
        self.url = f"{'http' if tls is None else 'https'}://{host}:{self._server.server_port}"

    def start(self) -> None:
        """Begin to serve."""
        self._server.start()

    def stop(self) -> None:
        """End all connections."""
        self._server.close()

    def answer(self, request: Request) -> Response:
        """One request, from its route to the function's response."""
        if self._bucket is not None and not self._bucket.take():
            return message(429, "Too Many Requests")
        found = self._match(request)
        if found is None:
            return message(404, "Not Found")
        route, parameters = found
        outcome = self._invoke(route.function, http_event(request, route, parameters, self._account, _API_ID))
        if outcome is None:
            return message(413, "Request Entity Too Large")
        return message(500, "Internal Server Error") if outcome.failed else response(outcome.payload)

    def _match(self, request: Request) -> tuple[Route, Mapping[str, str]] | None:
        for expression, route in self._routes:
            found = expression.fullmatch(request.path)
            if found and route.method in {"ANY", request.method}:
                return route, _parameters(route.path, found)
        return None


class _Bucket:
    """The token bucket of a stage's throttle."""

    def __init__(self, throttle: Throttle) -> None:
        self._throttle = throttle
        self._tokens = float(throttle.burst)
        self._at = time.monotonic()
        self._lock = threading.Lock()

    def take(self) -> bool:
        with self._lock:
            now = time.monotonic()
            self._tokens = min(self._throttle.burst, self._tokens + (now - self._at) * self._throttle.rate)
            self._at = now
            if self._tokens < 1:
                return False
            self._tokens -= 1
            return True


class _Server(OneSendServer):
    def __init__(self, gateway: ApiGateway, host: str, port: int, tls: ssl.SSLContext | None) -> None:
        super().__init__(host, port, _Handler, tls)
        self.gateway = gateway


class _Handler(OneSendHandler):
    def _serve(self) -> None:
        given = self._response()
        self.reply(given.status, {"Apigw-Requestid": uuid.uuid4().hex, **given.headers}, given.body)

    # The base class looks for a method of each verb's name.
    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _serve  # noqa: N815

    def _response(self) -> Response:
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not length.isdigit():
            self.close_connection = True
            return message(411, "Length Required")
        if int(length) > MAXIMUM_BODY_BYTES:
            # The body is not read, so nothing can follow on this connection.
            self.close_connection = True
            return message(413, "Request Entity Too Large")
        return cast("_Server", self.server).gateway.answer(self._request())

    def _request(self) -> Request:
        path, _, query = self.path.partition("?")
        headers: dict[str, str] = {}
        for name, value in self.headers.items():
            lower = name.lower()
            headers[lower] = f"{headers[lower]},{value}" if lower in headers else value
        return Request(
            method=self.command,
            path=path,
            query=query,
            headers=headers,
            body=self.read_body(),
            source_ip=self.client_address[0],
            received=datetime.fromtimestamp(time.time(), UTC),
            request_id=uuid.uuid4().hex,
        )


def _context(tls: Tls) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.certificate, tls.key)
    return context


def _generality(route: Route) -> tuple[bool, bool, int, bool]:
    """The most specific route wins: full paths before greedy ones, a method before ANY, `$default` last."""
    return route.path == "$default", "+}" in route.path, route.path.count("{"), route.method == "ANY"


def _expression(path: str) -> re.Pattern[str]:
    if path == "$default":
        return re.compile(".*")
    pieces = re.split(r"(\{[^}]+})", path)
    return re.compile("".join(_piece(piece) for piece in pieces))


def _piece(piece: str) -> str:
    if not piece.startswith("{"):
        return re.escape(piece)
    return "(.+)" if piece.endswith("+}") else "([^/]+)"


def _parameters(path: str, found: re.Match[str]) -> dict[str, str]:
    names = [name.rstrip("+") for name in re.findall(r"\{([^}]+)}", path)]
    return {name: unquote(value) for name, value in zip(names, found.groups(), strict=True)}
