"""One execution environment: a process with AWS's own runtime client, which serves one invocation at a time."""

import contextlib
import json
import math
import os
import shutil
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sandbox.lambdas.deployed import DeployedFunction
from sandbox.lambdas.interpreter import Runtime
from sandbox.lambdas.logs import LogStream
from sandbox.lambdas.outcome import Json, Outcome, error_payload
from sandbox.lambdas.runtime_api import Answer, Invocation, RuntimeApi
from sandbox.lambdas.variables import process_variables

# Lambda gives an import 10 s and then once more the function's timeout; here many programs share few cores.
INIT_SECONDS = 60.0

Credentials = Callable[[str], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Machine:
    """What all environments of a sandbox share; `credentials` gives a role's AWS_… variables by the role's ARN."""

    runtime: Runtime
    endpoint: str
    credentials: Credentials
    work_dir: Path


class ExecutionEnvironment:
    """Started cold, kept warm: the same process serves one invocation after the other until it dies or is stopped."""

    def __init__(self, function: DeployedFunction, machine: Machine, log: LogStream) -> None:
        self.function = function
        self._machine = machine
        self._log = log
        self._api = RuntimeApi()
        self._home = machine.work_dir / "environments" / uuid.uuid4().hex
        self._init_ms: float | None = None
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher: threading.Thread | None = None
        self._dead = False

    @property
    def fresh(self) -> bool:
        """Whether it still has to be started."""
        return self._process is None

    @property
    def alive(self) -> bool:
        """Whether it can serve another invocation."""
        return self._process is not None and not self._dead and self._process.poll() is None

    def start(self, *, ahead: bool = False) -> Json:
        """Start the process and import the handler; None, or the error payload of a failed start.

        A start `ahead` of its first event is nobody's waiting time, so no call reports it.
        """
        began = time.monotonic()
        with self._lock:
            if self._dead:
                return error_payload("Sandbox.Stopped", f"{self.function.name} was stopped before it started")
            self._process = self._spawn()
            self._watcher = threading.Thread(target=self._watch, args=(self._process,), daemon=True)
            self._watcher.start()
        error = self._api.initialised(INIT_SECONDS)
        self._init_ms = None if ahead else (time.monotonic() - began) * 1000
        if error is not None:
            self.kill()
        return error

    def invoke(self, request_id: str, payload: bytes, trace_header: str, kill_after: float | None = None) -> Outcome:
        """Serve one event within the function's timeout; `kill_after` seconds SIGKILL it in the middle."""
        spec = self.function.spec
        self._log.write(f"START RequestId: {request_id} Version: $LATEST")
        deadline = int((time.time() + spec.timeout_seconds) * 1000)
        invocation = Invocation(request_id, payload, self.function.arn, deadline, trace_header)
        began = time.monotonic()
        with self._killer(kill_after):
            answer = self._api.invoke(invocation, spec.timeout_seconds)
        duration_ms = (time.monotonic() - began) * 1000
        memory_mb = self._peak_memory_mb()
        if answer is None:
            answer = self._time_out(request_id)
        return self._report(answer, request_id, duration_ms, memory_mb)

    def kill(self) -> None:
        """SIGKILL, as when the machine under it dies; it serves nothing any more."""
        with self._lock:
            self._dead = True
            if self._process is not None and self._process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def stop(self) -> None:
        """Kill it and wait until nothing of it is left."""
        self.kill()
        if self._watcher is not None:
            self._watcher.join()

    def _spawn(self) -> subprocess.Popen[bytes]:
        credentials = self._machine.credentials(self.function.role_arn)
        self._home.mkdir(parents=True)
        variables = process_variables(
            self.function,
            self._machine.runtime,
            api_address=self._api.start(),
            endpoint=self._machine.endpoint,
            credentials=credentials,
            log_stream=self._log.path.stem,
            home=self._home,
        )
        command = [str(self._machine.runtime.python), "-m", "awslambdaric", self.function.spec.handler]
        with self._log.path.open("ab") as output:
            return subprocess.Popen(
                command,
                cwd=self.function.spec.code_dir,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        code = process.wait()
        how = f"signal: {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        self._dead = True
        self._api.exited(f"Runtime exited with error: {how}")
        self._api.close()
        shutil.rmtree(self._home, ignore_errors=True)

    @contextlib.contextmanager
    def _killer(self, seconds: float | None) -> Iterator[None]:
        if seconds is None:
            yield
            return
        timer = threading.Timer(seconds, self.kill)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _time_out(self, request_id: str) -> Answer:
        self.kill()
        seconds = self.function.spec.timeout_seconds
        error = error_payload(
            "Sandbox.Timedout", f"RequestId: {request_id} Error: Task timed out after {seconds:.2f} seconds"
        )
        self._log.write(f"{datetime.fromtimestamp(time.time(), UTC):%Y-%m-%dT%H:%M:%S}Z {error['errorMessage']}")
        return Answer(request_id, error, failed=True)

    def _report(self, answer: Answer, request_id: str, duration_ms: float, memory_mb: int) -> Outcome:
        init_ms, self._init_ms = self._init_ms, None
        self._log.write(f"END RequestId: {request_id}")
        parts = [
            f"REPORT RequestId: {request_id}",
            f"Duration: {duration_ms:.2f} ms",
            f"Billed Duration: {math.ceil(duration_ms + (init_ms or 0))} ms",
            f"Memory Size: {self.function.spec.memory_mb} MB",
            f"Max Memory Used: {memory_mb} MB",
        ]
        if init_ms is not None:
            parts.append(f"Init Duration: {init_ms:.2f} ms")
        self._log.write("\t".join(parts))
        return Outcome(request_id, answer.payload, answer.failed, duration_ms, init_ms)

    def _peak_memory_mb(self) -> int:
        """The process's peak resident set; 0 where the system doesn't tell or the process is gone."""
        if self._process is None:
            return 0
        try:
            status = Path(f"/proc/{self._process.pid}/status").read_text()
        except OSError:
            return 0
        kilobytes = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
        return math.ceil(int(kilobytes[0]) / 1024) if kilobytes else 0


def encode(event: Json) -> bytes:
    """An event as the bytes the function's runtime decodes."""
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode()
