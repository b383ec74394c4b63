"""Child processes that never outlive us: logged to files, ended with their parent however it ends."""

import contextlib
import os
import random
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

# Ends the process ids it was told once its standard input closes, which happens however the parent dies.
# PR_SET_PDEATHSIG would fire when the starting *thread* ends, and exists on Linux only.
_WATCHDOG = 'pids=; while read -r pid; do pids="$pids $pid"; done; [ -z "$pids" ] || kill -KILL $pids'
_TAIL_LINES = 25


class ProcessError(RuntimeError):
    """A component ended or didn't become ready; the message carries the end of its log."""


class Processes:
    """The running components of one control plane, by name, in order of their start."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._watchdog: subprocess.Popen[bytes] | None = None

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start one component in a session of its own, so that a ctrl-c at the terminal reaches only us."""
        with self.log(name).open("ab") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=dict(environment),
                cwd=self._logs,
                start_new_session=True,
            )
        self._running[name] = process
        self._tell_watchdog(process.pid)

    def log(self, name: str) -> Path:
        """The file that holds the component's output."""
        return self._logs / f"{name}.log"

    def pids(self) -> dict[str, int]:
        """The process id of each component."""
        return {name: process.pid for name, process in self._running.items()}

    def check(self) -> None:
        """Raise ProcessError for the first component that has ended by itself."""
        for name, process in self._running.items():
            if process.poll() is not None:
                raise self.failure(name, f"{name} ended with code {process.returncode}")

    def failure(self, name: str, what: str) -> ProcessError:
        """An error that says what went wrong, with the end of that component's log."""
        lines = self.log(name).read_text(errors="replace").splitlines() if self.log(name).exists() else []
        tail = "\n".join(lines[-_TAIL_LINES:]) or "(its log is empty)"
        return ProcessError(f"{what}. The end of {self.log(name)}:\n{tail}")

    def stop(self) -> None:
        """Kill and reap every component. Nothing of theirs is to survive, so none is given time to tidy up."""
        for process in self._running.values():
            process.kill()
        for process in self._running.values():
            process.wait()
        self._running.clear()
        if self._watchdog is not None:
            self._watchdog.kill()
            self._watchdog.communicate()
            self._watchdog = None

    def _tell_watchdog(self, pid: int) -> None:
        if self._watchdog is None:
            self._watchdog = subprocess.Popen(
                ["/bin/sh", "-c", _WATCHDOG],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                bufsize=0,
            )
        pipe = self._watchdog.stdin
        if pipe is None:
            raise ProcessError("the watchdog has no pipe")
        pipe.write(f"{pid}\n".encode())


def free_ports(count: int, chance: random.Random) -> list[int]:
    """Ports nobody listens on now, below the range from which outgoing connections take theirs (32768 on Linux)."""
    with contextlib.ExitStack() as held:
        ports: list[int] = []
        while len(ports) < count:
            port = chance.randrange(20_000, 32_000)
            listener = held.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                listener.bind(("127.0.0.1", port))
                ports.append(port)
        return ports


def own_environment(home: Path) -> dict[str, str]:
    """What a component sees of our environment: enough to run, no proxies, credentials or kubeconfigs."""
    return {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(home), "TMPDIR": str(home)}
