"""The functions of a deployed stack, running here with everything that wakes them."""

import logging
import os
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from sandbox.lambdas.api_gateway import MAXIMUM_EVENT_BYTES, ApiGateway, Tls
from sandbox.lambdas.deployed import DeployedFunction, Deployment, look_up
from sandbox.lambdas.environment import Machine, encode
from sandbox.lambdas.eventbridge import EventBridge
from sandbox.lambdas.interpreter import Runtime, prepare_runtime
from sandbox.lambdas.lineage import Trace
from sandbox.lambdas.logs import Logs
from sandbox.lambdas.outcome import Json, Outcome
from sandbox.lambdas.pool import Pool, StoppedError
from sandbox.lambdas.sources import Poller
from sandbox.lambdas.specs import Assembly, FunctionSpec
from sandbox.lambdas.template import read_assembly

_log = logging.getLogger(__name__)

_ROOT = Path(__file__).resolve().parents[2]
# Lambda tries an asynchronous event three times: https://docs.aws.amazon.com/lambda/latest/dg/invocation-async.html
_RETRY_SECONDS = (60.0, 120.0)


class Lambdas:
    """Start it when the stack is deployed. A function is named by its logical id, its name, or a unique part of one."""

    def __init__(
        self,
        assembly: Assembly,
        deployment: Deployment,
        machine: Machine,
        *,
        concurrency: int = 4,
        speed: float = 1.0,
        tls: Tls | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.deployment = deployment
        self._speed = speed
        self._logs = Logs(machine.work_dir / "logs")
        self._pools = {
            name: Pool(function, machine, self._logs, concurrency) for name, function in deployment.functions.items()
        }
        self._pollers = [
            Poller(source, deployment, machine.endpoint, self._pools[source.function].concurrency, self._invoke)
            for source in assembly.queue_sources
        ]
        self._events = EventBridge(assembly.rules, deployment, machine.endpoint, speed, self.invoke_async)
        self._api = ApiGateway(
            assembly.routes, assembly.throttle, deployment.account, self._invoke_from_api, host=host, port=port, tls=tls
        )
        self._asynchronous = ThreadPoolExecutor(max_workers=16, thread_name_prefix="async-invoke")
        self._stopping = threading.Event()

    @classmethod
    def from_assembly(  # noqa: PLR0913 - each is a fact of its own
        cls,
        cdk_out: Path,
        stack: str,
        endpoint: str,
        credentials: Callable[[str], Mapping[str, str]],
        work_dir: Path,
        *,
        region: str = "us-east-1",
        runtime: Runtime | None = None,
        concurrency: int = 4,
        speed: float = 1.0,
        tls: Tls | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> Self:
        """Read the assembly, look its stack up at `endpoint`, prepare an interpreter with the locked dependencies.

        `credentials` gives a role's `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN` by the role's
        ARN, for each new environment. `speed` compresses schedules and retry pauses, nothing that is measured.
        """
        assembly = read_assembly(cdk_out.resolve(), stack)
        deployment = look_up(assembly, endpoint, region)
        runtime = runtime or prepare_runtime(_ROOT, _layers(assembly), os.environ)
        machine = Machine(runtime, endpoint, credentials, work_dir.resolve())
        return cls(assembly, deployment, machine, concurrency=concurrency, speed=speed, tls=tls, host=host, port=port)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def api_url(self) -> str:
        """Where the HTTP API listens, without a trailing slash."""
        return self._api.url

    @property
    def functions(self) -> Mapping[str, FunctionSpec]:
        """What runs here, by logical id."""
        return {name: function.spec for name, function in self.deployment.functions.items()}

    def start(self) -> None:
        """Poll the queues, serve the API, run the schedules. Environments start when first needed."""
        self._api.start()
        self._events.start()
        for poller in self._pollers:
            poller.start()

    def stop(self) -> None:
        """End everything; invocations under way are killed, and their messages come back as they would on AWS."""
        self._stopping.set()
        pollers, pools = ([each.stop for each in these] for these in (self._pollers, self._pools.values()))
        _at_once([self._api.stop, self._events.stop, *pollers, *pools])
        self._asynchronous.shutdown(wait=True, cancel_futures=True)

    def invoke(self, function: str, event: Json) -> Outcome:
        """Invoke and wait, as RequestResponse does."""
        return self._invoke(self.find(function).spec.logical_id, event, None)

    def invoke_async(self, function: str, event: Json) -> None:
        """Invoke as EventBridge does: at once, and twice more after errors, a minute and two minutes later."""
        name = self.find(function).spec.logical_id
        self._asynchronous.submit(self._try_thrice, name, event)

    def put_event(self, event: Json) -> list[str]:
        """An AWS event (`source`, `detail-type`, `detail`, perhaps `resources`) to the rules; those it hit."""
        return self._events.put(event)

    def fire(self, rule: str) -> None:
        """Fire a scheduled rule, by logical id, now."""
        self._events.fire(rule)

    def kill_next(self, function: str, after: float = 0.0) -> None:
        """SIGKILL the function's next invocation `after` seconds into it."""
        self._pool(function).kill_next(after)

    def kill(self, function: str) -> None:
        """SIGKILL whatever of the function is up, at work or not."""
        self._pool(function).recycle()

    def warm(self, function: str, number: int = 1) -> None:
        """Start environments ahead of their first event; raises if the function doesn't start."""
        errors = self._pool(function).warm(number)
        if errors:
            raise RuntimeError(f"{function} does not start: {errors[0]}")

    @contextmanager
    def held(self, patience_seconds: float = 1.5) -> Iterator[None]:
        """No queue wakes a function inside the block, and none is at work; what runs longer is killed."""
        with ThreadPoolExecutor(max_workers=max(len(self._pollers), 1)) as threads:
            holding = [threads.submit(poller.hold) for poller in self._pollers]
            _at_once([partial(pool.settle, patience_seconds) for pool in self._pools.values()])
            for done in holding:
                done.result()
        try:
            yield
        finally:
            for poller in self._pollers:
                poller.release()

    def recycle(self) -> None:
        """End all environments, so that nothing a function remembers reaches the next test."""
        _at_once([pool.recycle for pool in self._pools.values()])

    def logs(self, function: str) -> list[str]:
        """Every line the function printed, with START, END and REPORT."""
        return self._logs.lines(self.find(function).spec.logical_id)

    def log_records(self, function: str) -> list[dict[str, Json]]:
        """Its structured log lines."""
        return self._logs.records(self.find(function).spec.logical_id)

    def invocations(self, function: str) -> int:
        """How often it was invoked since the sandbox started."""
        return sum(line.startswith("START ") for line in self.logs(function))

    def loops_stopped(self, function: str) -> int:
        """How many messages the recursion guard kept from the function."""
        name = self.find(function).spec.logical_id
        return sum(poller.passed_over for poller in self._pollers if poller.source.function == name)

    def find(self, function: str) -> DeployedFunction:
        """A function by its logical id, its name, or a part of them that only it has."""
        functions = self.deployment.functions
        if function in functions:
            return functions[function]
        wanted = function.lower()
        found = [each for name, each in functions.items() if wanted in name.lower() or wanted in each.name.lower()]
        if len(found) != 1:
            raise LookupError(f"{function!r} names {len(found)} functions of {sorted(functions)}")
        return found[0]

    def _pool(self, function: str) -> Pool:
        return self._pools[self.find(function).spec.logical_id]

    def _invoke(self, name: str, event: Json, trace: Trace | None) -> Outcome:
        return self._run(name, encode(event), trace)

    def _invoke_from_api(self, name: str, event: Json) -> Outcome | None:
        payload = encode(event)
        return self._run(name, payload, None) if len(payload) <= MAXIMUM_EVENT_BYTES else None

    def _run(self, name: str, payload: bytes, trace: Trace | None) -> Outcome:
        pool, request = self._pools[name], uuid.uuid4()
        chain = trace or Trace(f"1-{request.hex[:8]}-{request.hex[8:]}", {})
        return pool.run(str(request), payload, chain.through(pool.function.arn).header)

    def _try_thrice(self, name: str, event: Json) -> None:
        try:
            for pause in (*_RETRY_SECONDS, None):
                outcome = self._invoke(name, event, None)
                if not outcome.failed:
                    return
                if pause is None:
                    _log.error("%s: asynchronous event given up after three errors: %s", name, outcome.payload)
                elif self._stopping.wait(pause / self._speed):
                    return
        except StoppedError:
            return


def _layers(assembly: Assembly) -> list[Path]:
    return sorted({layer for function in assembly.functions.values() for layer in function.layer_dirs})


def _at_once(calls: list[Callable[[], None]]) -> None:
    with ThreadPoolExecutor(max_workers=max(len(calls), 1)) as threads:
        for done in [threads.submit(call) for call in calls]:
            done.result()
