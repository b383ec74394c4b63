"""The Lambda Runtime API (version 2018-06-01) for one execution environment.

AWS's runtime client inside the environment asks for the next invocation, waits as long as it takes, and posts the
response or the error: https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
"""

import json
import queue
import threading
from dataclasses import dataclass
from typing import cast

from sandbox.lambdas.one_send import OneSendHandler, OneSendServer
from sandbox.lambdas.outcome import Json, error_payload

_PREFIX = "/2018-06-01/runtime/"


@dataclass(frozen=True, slots=True)
class Invocation:
    """One event on its way to the function."""

    request_id: str
    payload: bytes
    function_arn: str
    deadline_ms: int
    trace_header: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: the function's response, its error, or its process's end."""

    request_id: str
    payload: Json
    failed: bool


class RuntimeApi:
    """Hands invocations to the environment that was started with its address and collects its answers."""

    def __init__(self) -> None:
        self._server: _Server | None = None
        self._invocations: queue.Queue[Invocation | None] = queue.Queue()
        self._answers: queue.Queue[Answer] = queue.Queue()
        self._initialised = threading.Event()
        self._init_error: Json = None
        self._current = ""

    def start(self) -> str:
        """Begin to serve; the address for AWS_LAMBDA_RUNTIME_API."""
        self._server = _Server(self)
        self._server.start()
        return f"127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Let the waiting environment go and stop serving."""
        self._invocations.put(None)
        if self._server is not None:
            self._server.close()

    def initialised(self, seconds: float) -> Json:
        """Wait for the environment's first question; None, or the error that kept it from asking."""
        if not self._initialised.wait(seconds):
            return error_payload("Sandbox.Timedout", f"the function did not initialise within {seconds:.0f} seconds")
        return self._init_error

    def invoke(self, invocation: Invocation, seconds: float) -> Answer | None:
        """Give one invocation to the environment; None when no answer came in time."""
        self._current = invocation.request_id
        self._invocations.put(invocation)
        try:
            return self._answers.get(timeout=seconds)
        except queue.Empty:
            return None

    def exited(self, why: str) -> None:
        """The environment's process has ended: whoever waits for it learns that."""
        error = error_payload("Runtime.ExitError", f"RequestId: {self._current} Error: {why}")
        if not self._initialised.is_set():
            self._init_error = error
            self._initialised.set()
        self._answers.put(Answer(self._current, error, failed=True))

    def take_next(self) -> Invocation | None:
        """The environment is ready for more; None tells it to go."""
        self._initialised.set()
        return self._invocations.get()

    def take_answer(self, request_id: str, payload: Json, *, failed: bool) -> bool:
        """Accept an answer to the running invocation; any other is refused."""
        if request_id != self._current:
            return False
        self._answers.put(Answer(request_id, payload, failed))
        return True

    def take_init_error(self, payload: Json) -> None:
        """The function could not be imported."""
        self._init_error = payload
        self._initialised.set()


class _Server(OneSendServer):
    def __init__(self, api: RuntimeApi) -> None:
        super().__init__("127.0.0.1", 0, _Handler)
        self.api = api


class _Handler(OneSendHandler):
    @property
    def _api(self) -> RuntimeApi:
        return cast("_Server", self.server).api

    def do_GET(self) -> None:  # noqa: N802 - the base class looks for this name
        if self.path != _PREFIX + "invocation/next":
            return self._refuse(404, "NotFound")
        invocation = self._api.take_next()
        if invocation is None:
            self.close_connection = True
            return None
        headers = {
            "Content-Type": "application/json",
            "Lambda-Runtime-Aws-Request-Id": invocation.request_id,
            "Lambda-Runtime-Deadline-Ms": str(invocation.deadline_ms),
            "Lambda-Runtime-Invoked-Function-Arn": invocation.function_arn,
            "Lambda-Runtime-Trace-Id": invocation.trace_header,
        }
        return self.reply(200, headers, invocation.payload)

    def do_POST(self) -> None:  # noqa: N802 - the base class looks for this name
        payload = json.loads(self.read_body() or b"null")
        if self.path == _PREFIX + "init/error":
            self._api.take_init_error(payload)
            return self._accept()
        request_id, _, kind = self.path.removeprefix(_PREFIX + "invocation/").partition("/")
        if kind not in {"response", "error"}:
            return self._refuse(404, "NotFound")
        if not self._api.take_answer(request_id, payload, failed=kind == "error"):
            return self._refuse(400, "InvalidRequestID")
        return self._accept()

    def _accept(self) -> None:
        self.reply(202, {"Content-Type": "application/json"}, b'{"status":"OK"}\n')

    def _refuse(self, status: int, error_type: str) -> None:
        body = json.dumps(error_payload(error_type, f"{self.command} {self.path}")).encode()
        self.reply(status, {"Content-Type": "application/json"}, body)
