"""A Kubernetes API server that answers as a test tells it, and remembers what it was asked."""

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qsl, urlsplit


class Call(NamedTuple):
    """One request."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


Answer = tuple[int, object]
"""Status, and what is sent: JSON, or bytes as they are."""


class ApiServer(AbstractContextManager["ApiServer"]):
    """Serves plain HTTP on a free local port while it is entered; what it has no answer for is 404."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._answers: dict[tuple[str, str], Callable[[Call], Answer]] = {}
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.api = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def on(self, method: str, path: str, *answers: Answer) -> None:
        """Answer these one after the other, the last one from then on."""
        left = list(answers)
        self.ask(method, path, lambda _: left.pop(0) if len(left) > 1 else left[0])

    def ask(self, method: str, path: str, answer: Callable[[Call], Answer]) -> None:
        """Let a function answer."""
        self._answers[method, path] = answer

    def made(self, method: str) -> list[Call]:
        """The calls with this method."""
        return [call for call in self.calls if call.method == method]

    def answer(self, call: Call) -> Answer:
        self.calls.append(call)
        answer = self._answers.get((call.method, call.path))
        return answer(call) if answer else failure(404, f"{call.path} not found")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def failure(status: int, message: str) -> Answer:
    """As Kubernetes says no."""
    return status, {"kind": "Status", "status": "Failure", "message": message, "code": status}


def page(*items: object, token: str = "") -> Answer:
    """A page of a list."""
    return 200, {"metadata": {"resourceVersion": "7", "continue": token}, "items": list(items)}


def group(*versions: str) -> Answer:
    """What discovery says of an API group; the first version is preferred, the rest in another order."""
    listed = [{"groupVersion": f"g/{v}", "version": v} for v in versions[::-1]]
    return 200, {"kind": "APIGroup", "preferredVersion": {"version": versions[0]}, "versions": listed}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    api: ApiServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _any(self) -> None:
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        call = Call(
            self.command, url.path, dict(parse_qsl(url.query)), dict(self.headers), json.loads(body) if body else None
        )
        status, answer = self.server.api.answer(call)
        payload = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _any  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Silent."""
