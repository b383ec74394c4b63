"""A Kubernetes control plane of one's own: the real programs, on free local ports, gone when the block ends."""

import contextlib
import os
import random
import shutil
import ssl
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import urllib3

from sandbox.controlplane import binaries, components
from sandbox.controlplane.authenticator import Authenticator, Verify
from sandbox.controlplane.client import ApiError, Client, NotFoundError, Object, wait_until
from sandbox.controlplane.inventory import inventory
from sandbox.controlplane.nudging import Nudger
from sandbox.controlplane.pki import Authority
from sandbox.controlplane.processes import Processes, free_ports, own_environment
from sandbox.controlplane.reset import reset

# For what never comes up: a component that ends is noticed at once, and a busy machine may take a minute and more.
_START_SECONDS = 300.0
_FOREVER_SECONDS = 100_000_000


class ControlPlane:
    """etcd, kube-apiserver, kube-scheduler, kube-controller-manager and KWOK, with no node to begin with.

    Without `controllers` the last two are missing: nothing but the scheduler changes what was written. Without
    `preemption` no pod is ever deleted to make room for another. `pace` is that of each controller.

    With `verify`, bearer tokens are checked by that function through a token webhook, as EKS does. The function is
    first called when the first token comes, so what it asks may start later than the control plane.
    """

    def __init__(
        self,
        *,
        verify: Verify | None = None,
        folder: Path | None = None,
        node_grace_seconds: int = 25,
        controllers: bool = True,
        preemption: bool = True,
        pace: components.Pace = components.FAST,
    ) -> None:
        self._verify = verify
        self._given_folder = folder
        self._node_grace_seconds = node_grace_seconds
        self._controllers = controllers
        self._preemption = preemption
        self._pace = pace
        self._stack = contextlib.ExitStack()
        self._kept: frozenset[str] = frozenset()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> Self:
        """Build what is missing, start everything and wait until pods could be created."""
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End and reap every process; may be called twice."""
        self._stack.close()

    @property
    def url(self) -> str:
        """Where the API server listens."""
        return self._layout.url

    @property
    def ca_pem(self) -> bytes:
        """What clients trust: an EKS cluster's `certificateAuthority.data` is base64 of this."""
        return self.authority.ca_pem

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self._layout.kubeconfig(components.ADMIN)

    @property
    def kubectl(self) -> Path:
        """A kubectl of the same release."""
        return self._binaries["kubectl"]

    @property
    def logs(self) -> Path:
        """The folder that holds a log of each component."""
        return self._layout.folder

    def pids(self) -> dict[str, int]:
        """The process id of each component."""
        return self._processes.pids()

    def wait(self) -> None:
        """Wait for as long as every component lives: until one of them fails, or ctrl-c."""
        while True:
            self._processes.check()
            time.sleep(0.5)

    def silence(self, node: str) -> None:
        """Let a node's kubelet die: KWOK loses the node's lease for good, and the node lifecycle controller notices.

        KWOK minds a node's annotation only when the node is created, so taking that away would change nothing.
        """
        uid = self.client.get("v1", "Node", node)["metadata"]["uid"]
        owner = {"apiVersion": "v1", "kind": "Node", "name": node, "uid": uid}
        taken = {
            # A lease left by an earlier node of that name would be collected, and KWOK would make another.
            "metadata": {"ownerReferences": [owner]},
            "spec": {
                "holderIdentity": "nobody",
                "leaseDurationSeconds": _FOREVER_SECONDS,
                # The controller gives no node up whose lease has changed since the last renewal it saw (1.37).
                "renewTime": _now().isoformat(timespec="microseconds"),
            },
        }
        wait_until(lambda: self._take_lease(node, taken), f"KWOK to lease node {node}")

    def checkpoint(self) -> None:
        """Make what is in the cluster now part of what reset() returns to; changes to these objects aren't undone."""
        self._kept = frozenset(item.uid for item in inventory(self.client))

    def reset(self) -> None:
        """Delete all that has come since the last checkpoint: nodes, pods, custom resources, webhooks, namespaces.

        Events about what is being deleted may still come in for some seconds afterwards.
        """
        self._processes.check()
        reset(self.client, self._kept)

    def _start(self) -> None:
        self._binaries = binaries.ensure(os.environ, say)
        self._layout = self._prepare_folder()
        self.authority = Authority("nodewright-sandbox", _now())
        components.write_files(self._layout, self.authority, preemption=self._preemption)
        self._processes = Processes(self._layout.folder)
        self._stack.callback(self._processes.stop)
        self._start_storage_and_api()
        self.client = self._stack.enter_context(Client(self.url, self._admin_tls()))
        self._wait_for("kube-apiserver", self._api_is_ready)
        self.version = self.client.version()
        self._run("kube-scheduler", components.scheduler(self._binaries, self._layout))
        if self._controllers:
            self._start_controllers()
            self._wait_for("kube-controller-manager", self._pods_may_come)
        self.checkpoint()

    def _prepare_folder(self) -> components.Layout:
        if self._given_folder is None:
            folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="nodewright-controlplane-")))
        else:
            folder = self._given_folder.absolute()
            folder.mkdir(parents=True, exist_ok=True)
            # What an earlier control plane stored there was signed by another authority.
            shutil.rmtree(folder / "etcd", ignore_errors=True)
        return components.Layout(folder, *free_ports(3, random.SystemRandom()))

    def _start_storage_and_api(self) -> None:
        if self._verify is not None:
            serving = self.authority.serving(["127.0.0.1"])
            authenticator = self._stack.enter_context(Authenticator(self._verify, serving))
            components.write_token_webhook(self._layout, authenticator.url, self.ca_pem)
        self._run("etcd", components.etcd(self._binaries, self._layout))
        command = components.apiserver(self._binaries, self._layout, token_webhook=self._verify is not None)
        self._run("kube-apiserver", command)

    def _start_controllers(self) -> None:
        manager = components.controller_manager(self._binaries, self._layout, self._node_grace_seconds, self._pace)
        self._run("kube-controller-manager", manager)
        self._run("kwok", components.kwok(self._binaries, self._layout))
        nudger = Nudger(self.client)
        nudger.start()
        self._stack.callback(nudger.stop)

    def _run(self, name: str, command: list[str]) -> None:
        self._processes.start(name, command, own_environment(self._layout.folder))

    def _admin_tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cadata=self.ca_pem.decode())
        certificate = self.authority.client(components.ADMIN, ["system:masters"])
        pair = self._layout.folder / "admin.pem"
        components.write_secret(pair, certificate.key_pem + certificate.certificate_pem)
        context.load_cert_chain(pair)
        return context

    def _wait_for(self, name: str, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not ready():
            self._processes.check()
            if time.monotonic() > deadline:
                raise self._processes.failure(name, f"{name} wasn't ready after {_START_SECONDS:g} s")
            time.sleep(0.05)

    def _api_is_ready(self) -> bool:
        try:
            return self.client.text("/readyz") == "ok"
        except (ApiError, urllib3.exceptions.HTTPError):
            return False

    def _take_lease(self, node: str, taken: Object) -> bool:
        try:
            self.client.patch("coordination.k8s.io/v1", "Lease", node, taken, "kube-node-lease")
        except NotFoundError:
            return False
        return True

    def _pods_may_come(self) -> bool:
        return all(
            self.client.find("v1", "ServiceAccount", "default", namespace) is not None
            for namespace in ("default", "kube-system")
        )


def _now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - certificates and leases are of the real clock


def say(text: str) -> None:
    """Progress goes to standard error, so that what is printed can be piped."""
    print(f"control plane: {text}", file=sys.stderr, flush=True)
