import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.controlplane.client import wait_until
from sandbox.controlplane.processes import ProcessError, Processes, free_ports, own_environment

STUBBORN = ["/bin/sh", "-c", "trap '' TERM INT HUP; while :; do sleep 0.1; done"]
PARENT = """
import sys, time
from pathlib import Path
from sandbox.controlplane.processes import Processes
processes = Processes(Path(sys.argv[1]))
processes.start("sleeper", ["/bin/sleep", "600"], {})
print(processes.pids()["sleeper"], flush=True)
time.sleep(600)
"""


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    running = Processes(tmp_path)
    yield running
    running.stop()


def chance() -> random.Random:
    return random.Random(7)


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    # Ended, but nobody has reaped it: its parent was killed, and this machine may have no init.
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_output_goes_to_a_log_of_the_component_s_name(processes: Processes) -> None:
    processes.start("talker", ["/bin/sh", "-c", "echo out; echo err >&2"], {})

    wait_until(lambda: processes.log("talker").read_text() == "out\nerr\n", "the log")


def test_a_component_that_ended_is_reported_with_the_end_of_its_log(processes: Processes) -> None:
    processes.start("etcd", ["/bin/sh", "-c", "echo address already in use; exit 3"], {})

    def fails() -> str:
        try:
            processes.check()
        except ProcessError as error:
            return str(error)
        return ""

    message = wait_until(fails, "the failure")
    assert message.startswith("etcd ended with code 3. The end of ")
    assert message.endswith("address already in use")


def test_stop_ends_and_reaps_even_what_does_not_listen(processes: Processes) -> None:
    processes.start("stubborn", STUBBORN, {})
    pid = processes.pids()["stubborn"]

    processes.stop()

    with pytest.raises(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    assert processes.pids() == {}


def test_components_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert not is_gone(pid)
        parent.send_signal(signal.SIGKILL)

    assert wait_until(lambda: is_gone(pid), "the component to end")


def test_free_ports_are_distinct_and_can_be_listened_on() -> None:
    ports = free_ports(5, chance())

    assert len(set(ports)) == 5
    for port in ports:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", port))


def test_a_port_in_use_is_not_offered() -> None:
    (taken,) = free_ports(1, chance())
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", taken))
        assert taken not in free_ports(1, chance())


def test_components_see_no_credentials_or_proxies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")

    assert set(own_environment(tmp_path)) == {"PATH", "HOME", "TMPDIR"}
