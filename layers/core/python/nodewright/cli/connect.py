"""`nodewright connect CLUSTER` and `nodewright disconnect CLUSTER`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from nodewright.application.connecting import Brakes
from nodewright.domain.money import parse_usd
from nodewright.wiring.cli import connecting, disconnecting

Cluster = Annotated[str, typer.Argument(help="Name of the EKS cluster.")]
Stack = Annotated[str, typer.Option(help="Name of the deployed Nodewright stack.")]
Kubeconfig = Annotated[
    Path | None, typer.Option(help="Use this kubeconfig instead of your AWS identity.", exists=True, dir_okay=False)
]
WebhookUrl = Annotated[str, typer.Option(help="Where the cluster reaches the API, if not at the stack's own URL.")]
WebhookCa = Annotated[
    Path | None, typer.Option(help="PEM of the CA behind --webhook-url, if no public one.", exists=True, dir_okay=False)
]
NodeRole = Annotated[
    list[str] | None, typer.Option(help="ARN of a further role your EC2NodeClasses name; its nodes may join.")
]
LimitUsdPerHour = Annotated[
    str, typer.Option(help="What all nodes together may cost in USD per hour, e.g. 12.50; `none` takes it away.")
]
LaunchesPerHour = Annotated[
    int | None, typer.Option(help="How many CreateFleet calls an hour may have; 500 unless said.", min=1)
]


def connect(
    cluster: Cluster,
    stack: Stack = "Nodewright",
    kubeconfig: Kubeconfig = None,
    webhook_url: WebhookUrl = "",
    webhook_ca: WebhookCa = None,
    node_role: NodeRole = None,
    limit_usd_per_hour: LimitUsdPerHour = "",
    launches_per_hour: LaunchesPerHour = None,
) -> None:
    """Register a cluster: access entries, CRDs, RBAC, and webhooks with a fresh token. May be repeated."""
    brakes = _brakes(limit_usd_per_hour, launches_per_hour)
    run = connecting(stack, cluster, kubeconfig, webhook_url, webhook_ca, tuple(node_role or ()), brakes)
    for step in run(datetime.now(UTC)):
        typer.echo(f"  {step}")
    typer.secho(f"{cluster} is connected", fg="green")


def disconnect(cluster: Cluster, stack: Stack = "Nodewright", kubeconfig: Kubeconfig = None) -> None:
    """Take webhooks, RBAC and access away again; nodes and custom resources stay as they are."""
    for step in disconnecting(stack, cluster, kubeconfig)():
        typer.echo(f"  {step}")
    typer.secho(f"{cluster} is disconnected", fg="green")


def _brakes(limit_usd_per_hour: str, launches_per_hour: int | None) -> Brakes:
    if limit_usd_per_hour in {"", "none"}:
        return Brakes(None, limit_usd_per_hour == "none", launches_per_hour)
    try:
        return Brakes(parse_usd(limit_usd_per_hour), launches_per_hour=launches_per_hour)
    except ValueError as error:
        raise typer.BadParameter(f"{error}; or `none`", param_hint="--limit-usd-per-hour") from None
