"""The WSGI application in front of moto: who may call, what fails, what is answered here, what moto answers."""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sandbox.aws.calls import Calls
from sandbox.aws.faults import Faults
from sandbox.aws.iam import Iam
from sandbox.aws.protocol import AwsError, Call, Environ, answer, read, refuse

_log = logging.getLogger(__name__)

StartResponse = Callable[..., Any]
WsgiApplication = Callable[[Environ, StartResponse], Iterable[bytes]]
Operation = Callable[[Call], object]
# (service, operation) → what answers it instead of moto.
Operations = Mapping[tuple[str, str], Operation]


class PassOn(Exception):  # noqa: N818  not an error: the operation leaves this call to moto
    """Raised by an operation to let moto answer."""


class Gateway:
    """Records, refuses, breaks and answers calls; whatever is left goes to moto untouched."""

    def __init__(self, moto: WsgiApplication, *, calls: Calls, faults: Faults, iam: Iam, enforce: bool) -> None:
        self._moto = moto
        self._operations: dict[tuple[str, str], Operation] = {}
        self._calls = calls
        self._faults = faults
        self._iam = iam
        self.enforce = enforce

    def install(self, operations: Operations) -> None:
        """Answer these operations here from now on."""
        self._operations.update(operations)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Serve one request, as WSGI has it."""
        call = read(environ)
        if call is None:
            return self._moto(environ, start_response)
        try:
            return self._serve(call, environ, start_response)
        except AwsError as error:
            return refuse(call, error)(environ, start_response)
        except Exception as error:  # noqa: BLE001  whatever it is, the caller gets an error of its protocol
            _log.exception("%s:%s", call.service, call.operation)
            return refuse(call, AwsError("InternalError", f"the sandbox: {error!r}", 500))(environ, start_response)

    def _serve(self, call: Call, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        role = self._calls.record(call)
        if self.enforce and role is not None:
            self._iam.demand(role, call)
        # An answer that is to be lost must not have begun: its start is held until the faults have had their say.
        started: list[tuple[Any, ...]] = []
        with self._faults.around(call):
            body = self._answer(call, environ, lambda *start: started.append(start))
        start_response(*started[-1])
        return body

    def _answer(self, call: Call, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        operation = self._operations.get((call.service, call.operation))
        if operation is not None:
            try:
                return answer(call, operation(call))(environ, start_response)
            except PassOn:
                pass
        return self._moto(environ, start_response)
