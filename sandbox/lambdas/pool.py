"""All environments of one function: reused while warm, a new one when all are busy, up to a cap."""

import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from sandbox.lambdas.deployed import DeployedFunction
from sandbox.lambdas.environment import ExecutionEnvironment, Machine
from sandbox.lambdas.logs import Logs
from sandbox.lambdas.outcome import Json, Outcome


class StoppedError(RuntimeError):
    """The sandbox was stopped while a call waited for an environment."""


class Pool:
    """At the cap a call waits, where Lambda would answer with a throttle: this machine has its own limit."""

    def __init__(self, function: DeployedFunction, machine: Machine, logs: Logs, concurrency: int) -> None:
        self.function = function
        self.concurrency = min(concurrency, function.spec.reserved_concurrency or concurrency)
        self._machine = machine
        self._logs = logs
        self._changed = threading.Condition()
        self._idle: list[ExecutionEnvironment] = []
        self._all: set[ExecutionEnvironment] = set()
        self._kills: deque[float] = deque()
        self._stopped = False

    def run(self, request_id: str, payload: bytes, trace_header: str) -> Outcome:
        """Serve one event on a free environment."""
        with self._environment() as environment:
            if environment.fresh:
                error = environment.start()
                if error is not None:
                    return Outcome(request_id, error, failed=True, duration_ms=0.0, init_ms=None)
            return environment.invoke(request_id, payload, trace_header, self._take_kill())

    def kill_next(self, after: float) -> None:
        """SIGKILL the next invocation that begins, `after` seconds into it."""
        with self._changed:
            self._kills.append(after)

    def warm(self, number: int) -> list[Json]:
        """Start environments until there are `number`; the errors of those that failed to."""
        with ThreadPoolExecutor(max_workers=max(number, 1)) as threads:
            return [error for error in threads.map(lambda _: self._start_one(), range(number)) if error is not None]

    def settle(self, seconds: float) -> None:
        """Wait until no invocation is under way; kill those that take longer. No kill is asked for any more."""
        with self._changed:
            self._kills.clear()
            if self._changed.wait_for(lambda: len(self._idle) == len(self._all), seconds):
                return
            busy = self._all.difference(self._idle)
            self._all -= busy
        for environment in busy:
            environment.stop()

    def recycle(self) -> None:
        """End all environments; the next call starts cold."""
        with self._changed:
            ended, self._all, self._idle = self._all, set(), []
            self._changed.notify_all()
        if ended:
            with ThreadPoolExecutor(max_workers=len(ended)) as threads:
                list(threads.map(ExecutionEnvironment.stop, ended))

    def stop(self) -> None:
        """End all environments for good."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self.recycle()

    @contextmanager
    def _environment(self) -> Iterator[ExecutionEnvironment]:
        environment = self._acquire()
        try:
            yield environment
        finally:
            self._release(environment)

    def _acquire(self) -> ExecutionEnvironment:
        with self._changed:
            while True:
                if self._stopped:
                    raise StoppedError(f"{self.function.name}: the sandbox was stopped")
                while self._idle:
                    # The one used last is the warmest; one that died meanwhile is replaced as it turns up.
                    environment = self._idle.pop()
                    if environment.alive:
                        return environment
                    self._all.discard(environment)
                if len(self._all) < self.concurrency:
                    return self._new()
                self._changed.wait()

    def _new(self) -> ExecutionEnvironment:
        log = self._logs.stream(self.function.spec.logical_id)
        environment = ExecutionEnvironment(self.function, self._machine, log)
        self._all.add(environment)
        return environment

    def _release(self, environment: ExecutionEnvironment) -> None:
        with self._changed:
            if environment in self._all and environment.alive:
                self._idle.append(environment)
            else:
                self._all.discard(environment)
                environment.kill()
            self._changed.notify_all()

    def _start_one(self) -> Json:
        with self._changed:
            if len(self._all) >= self.concurrency:
                return None
            environment = self._new()
        try:
            return environment.start(ahead=True)
        finally:
            self._release(environment)

    def _take_kill(self) -> float | None:
        with self._changed:
            return self._kills.popleft() if self._kills else None
