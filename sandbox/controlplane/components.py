"""The command lines of the control plane's components, and the files they read."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox.controlplane.binaries import Binaries
from sandbox.controlplane.pki import Authority, Certificate, signing_key

ADMIN = "admin"
SCHEDULER = "system:kube-scheduler"
CONTROLLER_MANAGER = "system:kube-controller-manager"
KWOK = "kwok"
# A Node is KWOK's to keep alive only if it is *created* with this annotation; added later, KWOK does not see it.
KWOK_ANNOTATION = "kwok.x-k8s.io/node"
SERVICE_CIDR = "10.100.0.0/16"
POD_CIDR = "100.64.0.0/10"


@dataclass(frozen=True, slots=True)
class Pace:
    """How many calls a second a controller makes of the API server, and how many at once."""

    calls: int
    burst: int


# The defaults (20 a second for the controller manager, 50 for the scheduler) make 1,000 pods take 50 seconds to exist.
FAST, DEFAULT_PACE = Pace(1000, 2000), Pace(20, 30)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where one control plane keeps its files and listens."""

    folder: Path
    etcd_port: int
    peer_port: int
    api_port: int

    @property
    def url(self) -> str:
        """The API server's address."""
        return f"https://127.0.0.1:{self.api_port}"

    def kubeconfig(self, user: str) -> Path:
        """The kubeconfig of one of the users below."""
        return self.folder / f"{user.removeprefix('system:')}.kubeconfig"

    def file(self, name: str) -> str:
        """A file as a component's flag wants it."""
        return str(self.folder / name)


def write_files(layout: Layout, authority: Authority, *, preemption: bool = True) -> None:
    """Certificates, keys, kubeconfigs and the scheduler's configuration."""
    hosts = ["127.0.0.1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "10.100.0.1"]
    serving, signing = authority.serving(hosts), signing_key()
    write_secret(layout.folder / "ca.crt", authority.ca_pem)
    write_secret(layout.folder / "apiserver.crt", serving.certificate_pem)
    write_secret(layout.folder / "apiserver.key", serving.key_pem)
    write_secret(layout.folder / "service-accounts.key", signing.private_pem)
    write_secret(layout.folder / "service-accounts.pub", signing.public_pem)
    groups: dict[str, Sequence[str]] = {ADMIN: ["system:masters"], KWOK: ["system:masters"]}
    for user in (ADMIN, KWOK, SCHEDULER, CONTROLLER_MANAGER):
        certificate = authority.client(user, groups.get(user, ()))
        write_secret(layout.kubeconfig(user), kubeconfig(layout.url, authority.ca_pem, user, certificate))
    write_secret(layout.folder / "scheduler.yaml", _as_json(_scheduler_configuration(layout, preemption)))


def kubeconfig(url: str, ca_pem: bytes, user: str, certificate: Certificate) -> bytes:
    """A kubeconfig with everything inside it. JSON, which is YAML too."""
    credentials = {
        "client-certificate-data": base64.b64encode(certificate.certificate_pem).decode(),
        "client-key-data": base64.b64encode(certificate.key_pem).decode(),
    }
    return _as_json(_kubeconfig(url, ca_pem, user, credentials))


def write_token_webhook(layout: Layout, url: str, ca_pem: bytes) -> None:
    """The kubeconfig by which kube-apiserver finds the authenticator."""
    write_secret(layout.folder / "token-webhook.kubeconfig", _as_json(_kubeconfig(url, ca_pem, "kube-apiserver", {})))


def write_secret(path: Path, content: bytes) -> None:
    """A file that is nobody else's: most of these hold private keys."""
    path.touch(mode=0o600)
    path.write_bytes(content)


def etcd(binaries: Binaries, layout: Layout) -> list[str]:
    """One member; nothing is synced to disk, for nothing here is to survive."""
    client, peer = f"http://127.0.0.1:{layout.etcd_port}", f"http://127.0.0.1:{layout.peer_port}"
    return [
        str(binaries["etcd"]),
        f"--data-dir={layout.file('etcd')}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def apiserver(binaries: Binaries, layout: Layout, *, token_webhook: bool) -> list[str]:
    """RBAC, client certificates, service account tokens and, where asked for, the token webhook."""
    command = [
        str(binaries["kube-apiserver"]),
        f"--etcd-servers=http://127.0.0.1:{layout.etcd_port}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        # The loopback address may not be an endpoint, and nothing runs inside that would need one.
        "--endpoint-reconciler-type=none",
        f"--secure-port={layout.api_port}",
        f"--client-ca-file={layout.file('ca.crt')}",
        f"--tls-cert-file={layout.file('apiserver.crt')}",
        f"--tls-private-key-file={layout.file('apiserver.key')}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-signing-key-file={layout.file('service-accounts.key')}",
        f"--service-account-key-file={layout.file('service-accounts.pub')}",
        f"--service-cluster-ip-range={SERVICE_CIDR}",
        "--authorization-mode=Node,RBAC",
        "--allow-privileged=true",
        # Only the clean-up between tests deletes whole collections.
        "--delete-collection-workers=8",
        "--profiling=false",
    ]
    if token_webhook:
        command += [
            f"--authentication-token-webhook-config-file={layout.file('token-webhook.kubeconfig')}",
            "--authentication-token-webhook-version=v1",
        ]
    return command


def scheduler(binaries: Binaries, layout: Layout) -> list[str]:
    """kube-scheduler as it is, but for its client's rate."""
    return [
        str(binaries["kube-scheduler"]),
        f"--config={layout.file('scheduler.yaml')}",
        "--secure-port=0",
    ]


def controller_manager(binaries: Binaries, layout: Layout, node_grace_seconds: int, pace: Pace = FAST) -> list[str]:
    """Every controller that is on by default; a node is given up after `node_grace_seconds` (50 by default)."""
    return [
        str(binaries["kube-controller-manager"]),
        f"--kubeconfig={layout.kubeconfig(CONTROLLER_MANAGER)}",
        "--leader-elect=false",
        "--secure-port=0",
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={layout.file('service-accounts.key')}",
        f"--root-ca-file={layout.file('ca.crt')}",
        f"--kube-api-qps={pace.calls}",
        f"--kube-api-burst={pace.burst}",
        "--node-monitor-period=1s",
        f"--node-monitor-grace-period={node_grace_seconds}s",
        "--profiling=false",
    ]


def kwok(binaries: Binaries, layout: Layout) -> list[str]:
    """KWOK plays kubelet, for the nodes that carry its annotation and no others; it renews their leases every 10 s."""
    return [
        str(binaries["kwok"]),
        f"--kubeconfig={layout.kubeconfig(KWOK)}",
        f"--config={binaries.stages}",
        f"--manage-nodes-with-annotation-selector={KWOK_ANNOTATION}=fake",
        f"--cidr={POD_CIDR}",
        "--node-lease-duration-seconds=40",
    ]


def _scheduler_configuration(layout: Layout, preemption: bool) -> dict[str, object]:
    disabled: list[dict[str, str]] = [] if preemption else [{"name": "*"}]
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(layout.kubeconfig(SCHEDULER)), "qps": FAST.calls, "burst": FAST.burst},
        "leaderElection": {"leaderElect": False},
        "enableProfiling": False,
        # Preemption is what is done after no node was found, and the only thing.
        "profiles": [{"schedulerName": "default-scheduler", "plugins": {"postFilter": {"disabled": disabled}}}],
    }


def _kubeconfig(url: str, ca_pem: bytes, user: str, credentials: dict[str, str]) -> dict[str, object]:
    cluster = {"server": url, "certificate-authority-data": base64.b64encode(ca_pem).decode()}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "sandbox", "cluster": cluster}],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": "sandbox", "context": {"cluster": "sandbox", "user": user}}],
        "current-context": "sandbox",
    }


def _as_json(value: object) -> bytes:
    return json.dumps(value, indent=2).encode()
