"""`nodewright status [CLUSTER]`: pools and their limits, nodes, what isn't bought now, and recent decisions."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from nodewright.cli.status_json import status_json
from nodewright.cli.status_tables import show_status
from nodewright.wiring.cli import standings


def status(
    cluster: Annotated[str, typer.Argument(help="One cluster; all when left out.")] = "",
    stack: Annotated[str, typer.Option(help="Name of the deployed Nodewright stack.")] = "Nodewright",
    kubeconfig: Annotated[
        Path | None,
        typer.Option(help="Ask the cluster by this instead of your AWS identity.", exists=True, dir_okay=False),
    ] = None,
    output: Annotated[Literal["table", "json"], typer.Option(help="For people or for programs.")] = "table",
) -> None:
    """What is known of the connected clusters."""
    if kubeconfig is not None and not cluster:
        raise typer.BadParameter("it is of one cluster: name that, too", param_hint="--kubeconfig")
    found = standings(stack, cluster, kubeconfig, datetime.now(UTC))
    if output == "json":
        typer.echo(json.dumps({each.cluster.name: status_json(each) for each in found}, indent=2))
        return
    console = Console()
    if not found:
        console.print("no cluster is connected; run: nodewright connect CLUSTER")
    for each in found:
        show_status(each, console)
