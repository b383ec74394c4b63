"""What the command line needs, with the rights of whoever runs it."""

import base64
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import boto3

from nodewright.adapters import aws_clients
from nodewright.adapters.clock import SystemClock
from nodewright.adapters.dynamodb.ledger import DynamoLedger
from nodewright.adapters.eks import AccessEntries, EksDirectory
from nodewright.adapters.eks_token import EksTokens
from nodewright.adapters.kubeconfig import kubeconfig_api
from nodewright.adapters.kubernetes import KubernetesCluster, KubernetesClusters
from nodewright.adapters.kubernetes_admin import KubernetesAdministrator
from nodewright.adapters.manifests.crds import crds
from nodewright.adapters.manifests.rbac import rbac
from nodewright.adapters.manifests.webhooks import webhook_configuration
from nodewright.adapters.stacks import stack_outputs
from nodewright.application.connecting import Brakes, Connect, Disconnect, Installation, StackFacts
from nodewright.application.errors import RefusedError
from nodewright.application.ports import DecisionRecord
from nodewright.application.standing import ReadPools, Standing, standing
from nodewright.telemetry import PowertoolsObserver, Telemetry
from nodewright.wiring.refresh import refreshing


@dataclass(frozen=True, slots=True)
class Operator:
    """Whoever runs the command, and the stack it is about."""

    session: boto3.Session
    region: str
    outputs: Mapping[str, str]
    ledger: DynamoLedger


def standings(stack: str, cluster: str, kubeconfig: Path | None, now: datetime) -> tuple[Standing, ...]:
    """Of one cluster; of all that are connected where none is named."""
    operator = _operator(stack)
    ledger = operator.ledger
    names = [cluster] if cluster else [each.name for each in ledger.clusters()]
    return tuple(standing(ledger, name, _pools(operator, kubeconfig), now) for name in names)


def decisions(stack: str, cluster: str, limit: int) -> tuple[DecisionRecord, ...]:
    """The newest that are kept of a connected cluster. NotFoundError where it isn't connected."""
    ledger = _operator(stack).ledger
    ledger.cluster(cluster)
    return ledger.decisions(cluster, limit)


def connecting(
    stack: str,
    cluster: str,
    kubeconfig: Path | None,
    webhook_url: str,
    webhook_ca: Path | None,
    node_roles: Sequence[str],
    brakes: Brakes,
) -> Callable[[datetime], Iterator[str]]:
    """`nodewright connect`, ready to run at a given moment."""
    operator = _operator(stack)
    eks = aws_clients.eks(operator.region)
    directory = EksDirectory(eks)
    use = Connect(
        operator.ledger,
        directory,
        AccessEntries(eks),
        _administrator(operator, directory, cluster, kubeconfig),
        refreshing(
            operator.ledger, PowertoolsObserver(Telemetry.of("connect", operator.outputs["StackId"])), operator.region
        ),
        lambda: secrets.token_urlsafe(32),
    )
    facts = _facts(operator.outputs, webhook_url, node_roles)
    return lambda now: use(cluster, facts, _installation(cluster, webhook_ca), now, brakes)


def disconnecting(stack: str, cluster: str, kubeconfig: Path | None) -> Callable[[], Iterator[str]]:
    """`nodewright disconnect`, ready to run."""
    operator = _operator(stack)
    eks = aws_clients.eks(operator.region)
    administrator = _administrator(operator, EksDirectory(eks), cluster, kubeconfig)
    use = Disconnect(operator.ledger, AccessEntries(eks), administrator)
    return lambda: use(cluster, _facts(operator.outputs, "", ()), _installation(cluster, None))


def _pools(operator: Operator, kubeconfig: Path | None) -> ReadPools:
    if kubeconfig is not None:
        return lambda cluster: KubernetesCluster(kubeconfig_api(cluster.name, kubeconfig)).node_pools()
    clusters = KubernetesClusters(EksTokens(operator.session, operator.region))
    return lambda cluster: clusters.open(cluster).node_pools()


def _operator(stack: str) -> Operator:
    session = boto3.Session()
    region = session.region_name
    if not region:
        raise RefusedError("no AWS region: set AWS_REGION or choose a profile that has one")
    outputs = stack_outputs(session, stack)
    ledger = DynamoLedger(
        aws_clients.dynamodb(region), outputs["TableName"], region=region, clock=SystemClock(), report=_ignore
    )
    return Operator(session, region, outputs, ledger)


def _ignore(_: str) -> None:
    """Unreadable items are the functions' to report; a person looks at what can be read."""


def _administrator(
    operator: Operator, directory: EksDirectory, cluster: str, kubeconfig: Path | None
) -> KubernetesAdministrator:
    if kubeconfig is not None:
        return KubernetesAdministrator.of_kubeconfig(kubeconfig)
    described = directory.describe(cluster)
    tokens = EksTokens(operator.session, operator.region)
    return KubernetesAdministrator.of_identity(
        described.endpoint, described.certificate_authority, lambda: tokens(cluster)
    )


def _facts(outputs: Mapping[str, str], webhook_url: str, node_roles: Sequence[str]) -> StackFacts:
    return StackFacts(
        webhook_url=(webhook_url or outputs["ApiUrl"]).rstrip("/"),
        roles={
            "nodewright:provision": outputs["ProvisionRoleArn"],
            "nodewright:reconcile": outputs["ReconcileRoleArn"],
            "nodewright:disrupt": outputs["DisruptRoleArn"],
            "nodewright:retire": outputs["RetireRoleArn"],
            "nodewright:interrupt": outputs["InterruptRoleArn"],
        },
        node_role_arns=(outputs["NodeRoleArn"], *node_roles),
    )


def _installation(cluster: str, webhook_ca: Path | None) -> Installation:
    bundle = base64.b64encode(webhook_ca.read_bytes()).decode() if webhook_ca else None
    return Installation(crds(), rbac(), lambda url: webhook_configuration(cluster, url, bundle))
