"""Puts the parts together: control plane and synthesis side by side, then deploy, run, connect."""

import base64
import contextlib
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

from sandbox import deploy
from sandbox.aws.account import Account, BuiltAccount
from sandbox.aws.bootstrap import bootstrap
from sandbox.aws.server import SandboxAws
from sandbox.controlplane.components import FAST, Pace
from sandbox.controlplane.controlplane import ControlPlane
from sandbox.lambdas import moto_patch
from sandbox.lambdas.api_gateway import Tls
from sandbox.lambdas.lambdas import Lambdas
from sandbox.nodes.agent import ClusterToJoin, NodeAgent
from sandbox.world.webhooks import Webhooks

STACK = "Nodewright"
CLUSTER = "my-cluster"
SERVICE_CIDR = "10.96.0.0/16"
KUBERNETES = "1.37"

Say = Callable[[str], None]


def _silent(_: str) -> None:
    """Tell nobody."""


class World:
    """Everything, up while the block lasts. `boot_seconds` is how long an instance takes to join.

    `pace` is that of Kubernetes' controllers.
    """

    def __init__(
        self,
        *,
        boot_seconds: float = 2.0,
        speed: float = 1.0,
        account: Account | None = None,
        say: Say = _silent,
        pace: Pace = FAST,
    ) -> None:
        self.boot_seconds = boot_seconds
        self._speed = speed
        self._account = account or Account.for_seed_one() + Account.for_seed_two()
        self._say = say
        self._pace = pace
        self._stack = contextlib.ExitStack()
        self._called: dict[str, set[str]] = defaultdict(set)
        self.aws: SandboxAws
        self.control_plane: ControlPlane
        self.lambdas: Lambdas
        self.agent: NodeAgent
        self.webhooks: Webhooks
        self.account: BuiltAccount
        self.outputs: dict[str, str]

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def folder(self) -> Path:
        """Logs, certificates and the like of this run."""
        return self._folder

    def connect(self) -> str:
        """Run the real `nodewright connect`, as whoever installs it would; what it printed."""
        self.webhooks.forget()
        return self.cli(
            "connect",
            CLUSTER,
            "--kubeconfig",
            str(self.control_plane.kubeconfig),
            "--webhook-url",
            self.lambdas.api_url,
            "--webhook-ca",
            str(self._folder / "webhook-ca.pem"),
            *(argument for arn in self.account.node_role_arns for argument in ("--node-role", arn)),
        )

    def cli(self, *arguments: str) -> str:
        """Run `nodewright` against this AWS; raises with its words when it fails."""
        command = [str(Path(sys.executable).parent / "nodewright"), *arguments]
        environment = {**os.environ, **self.aws.environment(), "NO_COLOR": "1", "COLUMNS": "140"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"nodewright {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def disconnect(self) -> str:
        """Run `nodewright disconnect`; what it printed."""
        self.webhooks.forget()
        return self.cli("disconnect", CLUSTER, "--kubeconfig", str(self.control_plane.kubeconfig))

    def reset(self) -> None:
        """As it was when just connected: no nodes, pods or instances, the stack deployed and the cluster connected.

        Functions stay warm. Only where somebody has connected or disconnected since is the command run again.
        """
        self.webhooks.off()
        with self.lambdas.held():
            self._note_calls()
            self.aws.sweep(templates=False)
            self.agent.forget()
            self.control_plane.reset()
        if self.webhooks.saved:
            self.webhooks.on()
        else:
            self.connect()
            self._checkpoint()

    def called(self) -> Mapping[str, frozenset[str]]:
        """Role ARN → the IAM actions its calls needed since the start, resets or not."""
        self._note_calls()
        return {role: frozenset(actions) for role, actions in self._called.items()}

    def _note_calls(self) -> None:
        for role, actions in self.aws.calls.by_role().items():
            self._called[role] |= actions

    def _checkpoint(self) -> None:
        """What is there now is what a reset leaves, webhooks aside: those are off while it cleans."""
        self.control_plane.checkpoint()
        self.aws.checkpoint()
        self.webhooks.save()

    def _start(self) -> None:
        self._folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="nodewright-sandbox-")))
        self.aws = SandboxAws()
        with ThreadPoolExecutor(max_workers=2) as side_by_side:
            assembly = side_by_side.submit(deploy.assembly, self._context())
            self.control_plane = self._stack.enter_context(ControlPlane(verify=self.aws.tokens.verify, pace=self._pace))
            self._say(f"Kubernetes {self.control_plane.version} is up, with no node")
            moto_patch.install()
            self._stack.enter_context(self.aws)
            self._prepare_account()
            self._deploy(assembly.result())
        self._run_functions(assembly.result())
        self._start_agent()
        for line in self.connect().splitlines():
            self._say(line.strip())
        self._checkpoint()

    def _context(self) -> dict[str, str]:
        return {"nodeRoles": ",".join(role.name for role in self._account.node_roles), "retainState": "false"}

    def _prepare_account(self) -> None:
        self.account = self._account.build(self.aws)
        authority = base64.b64encode(self.control_plane.ca_pem).decode()
        self.aws.eks.publish(CLUSTER, self.control_plane.url, authority, KUBERNETES, SERVICE_CIDR)

    def _deploy(self, assembly: Path) -> None:
        environment = self.aws.environment()
        bootstrap(self.aws)
        self.outputs = deploy.deploy(environment, assembly)
        self.aws.enforce()
        self._say(f"stack {STACK} deployed by cdk: {len(self.outputs)} outputs")

    def _run_functions(self, assembly: Path) -> None:
        self.lambdas = Lambdas.from_assembly(
            assembly,
            STACK,
            self.aws.endpoint,
            self.aws.credentials_for,
            self._folder / "lambdas",
            region=self.aws.region,
            speed=self._speed,
            tls=self._webhook_certificate(),
        )
        self.aws.events.delivers = False
        self.aws.events.on_put(self._carry)
        self._stack.enter_context(self.lambdas)
        self.webhooks = Webhooks(self.control_plane.client, lambda: self.lambdas.invocations("notify"))

    def _carry(self, event: dict[str, Any]) -> None:
        self.lambdas.put_event(event)

    def _webhook_certificate(self) -> Tls:
        authority = self.control_plane.authority
        certificate = authority.serving(["127.0.0.1", "localhost"])
        chain, key, ca = (self._folder / name for name in ("webhook.pem", "webhook-key.pem", "webhook-ca.pem"))
        chain.write_bytes(certificate.certificate_pem)
        key.write_bytes(certificate.key_pem)
        ca.write_bytes(authority.ca_pem)
        return Tls(chain, key)

    def _start_agent(self) -> None:
        authority = base64.b64encode(self.control_plane.ca_pem).decode()
        self.agent = NodeAgent(
            clients=_cached(self.aws.client),
            kubernetes=self.control_plane.client,
            cluster=ClusterToJoin(CLUSTER, self.control_plane.url, authority),
            boot_seconds=lambda _: self.boot_seconds,
            region=self.aws.region,
        )
        self.agent.start()
        self._stack.callback(self.agent.stop)


def _cached(make: Callable[[str], Any]) -> Callable[[str], Any]:
    made: dict[str, Any] = {}

    def client(service: str) -> Any:
        if service not in made:
            made[service] = make(service)
        return made[service]

    return client
