"""A cluster is connected: it may call us, we may call it, and its nodes may join.

Every step may be done again without harm, so a connect that died half-way is simply run once more.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from nodewright.application.errors import NotFoundError, RefusedError
from nodewright.application.ports import ClusterDirectory, Ledger
from nodewright.application.refresh import PARTS, Refresh
from nodewright.domain.clusters import ConnectedCluster, token_hash
from nodewright.domain.money import show_usd

Manifest = Mapping[str, object]
"""One Kubernetes object, as JSON has it."""


class AccessEntries(Protocol):
    """Who an IAM role is inside a cluster (EKS access entries)."""

    def ensure(self, cluster: str, principal_arn: str, groups: Sequence[str], kind: str) -> None:
        """Make or update the entry; `kind` STANDARD or EC2_LINUX."""
        ...

    def remove(self, cluster: str, principal_arn: str) -> None:
        """Take it away; nothing where there is none."""
        ...


class Administrator(Protocol):
    """The cluster with the rights of whoever connects it."""

    def apply(self, manifest: Manifest) -> None:
        """Server-side apply, as field manager nodewright."""
        ...

    def exists(self, manifest: Manifest) -> bool:
        """Whether an object of this kind and name is there."""
        ...

    def delete(self, manifest: Manifest) -> None:
        """Nothing where it isn't there."""
        ...

    def release_node(self, name: str) -> None:
        """Take our finalizer off a Node; nothing where it hasn't one, or isn't there."""
        ...


@dataclass(frozen=True, slots=True)
class StackFacts:
    """What the deployed stack says of itself."""

    webhook_url: str
    """Without a trailing slash."""
    roles: Mapping[str, str]
    """Kubernetes group → ARN of the function role that belongs to it."""
    node_role_arns: tuple[str, ...]
    """Roles whose instances may join: the stack's, and those the cluster's classes name."""


@dataclass(frozen=True, slots=True)
class Installation:
    """The objects we put into a cluster."""

    crds: Sequence[Manifest]
    rbac: Sequence[Manifest]
    webhooks: Callable[[str], Manifest]
    """By the full URL, token included."""


@dataclass(frozen=True, slots=True)
class Brakes:
    """What is asked of a cluster's ceilings; what isn't, stays as it was."""

    limit_usd_per_hour: int | None = None
    """Nanodollars."""
    without_usd_limit: bool = False
    launches_per_hour: int | None = None

    def on(self, cluster: ConnectedCluster) -> ConnectedCluster:
        """The cluster with them."""
        usd = cluster.limit_usd_per_hour if self.limit_usd_per_hour is None else self.limit_usd_per_hour
        return replace(
            cluster,
            limit_usd_per_hour=None if self.without_usd_limit else usd,
            launches_per_hour=self.launches_per_hour or cluster.launches_per_hour,
        )


NO_CHANGE = Brakes()


@dataclass(frozen=True, slots=True)
class Connect:
    """The use case; yields what it has done, step by step."""

    ledger: Ledger
    directory: ClusterDirectory
    access: AccessEntries
    administrator: Administrator
    refresh: Refresh
    new_token: Callable[[], str]

    def __call__(
        self, name: str, stack: StackFacts, installation: Installation, now: datetime, brakes: Brakes = NO_CHANGE
    ) -> Iterator[str]:
        """Connect one cluster. OutsideError says which step failed and why."""
        described = self.directory.describe(name)
        yield f"cluster {name}: Kubernetes {described.version}, {described.endpoint}"
        yield from self._grant(described, stack)
        yield from self._install(installation)
        token = self.new_token()
        registered = self._register(described, token, now, brakes)
        yield f"registered, with a fresh webhook token; {_ceilings(registered)}"
        yield from self._fill_catalogue(now)
        self.administrator.apply(installation.webhooks(f"{stack.webhook_url}/v1/clusters/{name}/{token}"))
        self.ledger.put_cluster(replace(registered, token_hashes=(token_hash(token),)))
        yield "webhooks installed; older tokens no longer count"

    def _grant(self, cluster: ConnectedCluster, stack: StackFacts) -> Iterator[str]:
        if "API" not in cluster.auth_mode.split("_AND_"):
            raise RefusedError(
                f"cluster {cluster.name} has authentication mode {cluster.auth_mode}, without access entries: run"
                f" `aws eks update-cluster-config --name {cluster.name}"
                " --access-config authenticationMode=API_AND_CONFIG_MAP`"
            )
        for group, role in stack.roles.items():
            self.access.ensure(cluster.name, role, (group,), "STANDARD")
        for role in stack.node_role_arns:
            self.access.ensure(cluster.name, role, (), "EC2_LINUX")
        yield f"access entries: {len(stack.roles)} for functions, {len(stack.node_role_arns)} for nodes"

    def _install(self, installation: Installation) -> Iterator[str]:
        """A CRD that is there is somebody's: it is left as it is (architecture §6)."""
        missing = [crd for crd in installation.crds if not self.administrator.exists(crd)]
        for manifest in (*missing, *installation.rbac):
            self.administrator.apply(manifest)
        yield f"custom resources: {len(missing)} installed, {len(installation.crds) - len(missing)} were there"
        yield "RBAC applied"

    def _register(self, described: ConnectedCluster, token: str, now: datetime, brakes: Brakes) -> ConnectedCluster:
        """Old tokens count until the webhook configuration holds the new one.

        All of them: after runs that died half-way nobody knows which of them it holds.
        """
        try:
            before = self.ledger.cluster(described.name)
        except NotFoundError:
            before = described
        tokens = (token_hash(token), *before.token_hashes)
        facts = before.with_facts(described)
        registered = brakes.on(replace(facts, token_hashes=tokens, unreachable_until=None, refreshed=now))
        self.ledger.put_cluster(registered)
        return registered

    def _fill_catalogue(self, now: datetime) -> Iterator[str]:
        """A first plan must not wait for the next scheduled refresh."""
        try:
            ages = self.ledger.catalogue().ages
        except NotFoundError:
            ages = {}
        missing = [part for part in PARTS if part not in ages and part != "clusters"]
        if not missing:
            yield "catalogue is there"
            return
        results = self.refresh(missing, now)
        failed = {part: result for part, result in results.items() if result != "ok"}
        if failed:
            raise RefusedError("; ".join(f"catalogue {part}: {result}" for part, result in failed.items()))
        yield f"catalogue filled: {', '.join(missing)}"


def _ceilings(cluster: ConnectedCluster) -> str:
    usd = cluster.limit_usd_per_hour
    money = "without a limit in USD" if usd is None else f"at most {show_usd(usd)} USD/h"
    return f"{money}, at most {cluster.launches_per_hour} launches an hour"


@dataclass(frozen=True, slots=True)
class Disconnect:
    """Takes everything of ours away again but nodes and CRDs, which run and hold what is the user's own."""

    ledger: Ledger
    access: AccessEntries
    administrator: Administrator

    def __call__(self, name: str, stack: StackFacts, installation: Installation) -> Iterator[str]:
        """Webhooks first: from then on nobody calls."""
        self.administrator.delete(installation.webhooks(stack.webhook_url))
        yield "webhooks removed"
        self.ledger.remove_cluster(name)
        yield "no longer registered"
        nodes = [claim.node_name for claim in self.ledger.claims(name) if claim.node_name]
        for node in nodes:
            self.administrator.release_node(node)
        yield f"finalizer taken off nodes: {len(nodes)}; from now on nobody ends their instances but you"
        for manifest in installation.rbac:
            self.administrator.delete(manifest)
        for role in stack.roles.values():
            self.access.remove(name, role)
        yield "RBAC and access entries of the functions removed; nodes keep theirs, CRDs stay"
