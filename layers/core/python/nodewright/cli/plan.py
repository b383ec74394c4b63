"""`nodewright plan -f FILE`: what would be launched for manifests, and why not for the rest."""

import sys
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from nodewright.application.plan import BadInputError
from nodewright.cli.plan_json import plan_json
from nodewright.cli.plan_table import show_plan
from nodewright.domain.scheduling.constraint_costs import MOST_SOLVES
from nodewright.domain.scheduling.constraint_costs import constraint_costs as costs_of
from nodewright.wiring.planning import DEFAULT_REGION, catalogue, plan_sources, regions

BAD_INPUT = 2
"""Exit code, as for an unknown option."""


class Output(StrEnum):
    """How a plan is shown."""

    TABLE = "table"
    JSON = "json"


def plan(
    files: Annotated[
        list[str],
        typer.Option("--filename", "-f", help="A file, a directory (.yaml, .yml, .json), or - for stdin; repeat it."),
    ],
    catalogue_file: Annotated[
        Path | None, typer.Option("--catalogue", help="Instance types and prices of yours, as JSON or YAML.")
    ] = None,
    region: Annotated[
        str,
        typer.Option(
            help=f"Whose packaged prices count: {' or '.join(regions())}. Unless said, that of the zones which"
            f" pools and nodes name, else {DEFAULT_REGION}."
        ),
    ] = "",
    output: Annotated[Output, typer.Option("--output", "-o", help="How it is shown.")] = Output.TABLE,
    constraint_costs: Annotated[
        bool,
        typer.Option(
            "--constraint-costs",
            help=f"Also what each rule of a workload or pool costs, by planning without it: up to {MOST_SOLVES} times.",
        ),
    ] = False,
) -> None:
    """What would be launched for manifests, at what price, and why not for the rest.

    No AWS, no cluster: it reads Nodes, Pods, Deployments, StatefulSets, Jobs,
    DaemonSets, NodePools, node classes and what belongs to them, as they are in a
    repository or as kubectl get -o yaml prints them. Subnets are assumed in every
    zone.

    Exit codes: 0 it is planned, even if some pods wait; 2 the input or an option
    is unusable.
    """
    try:
        sold = catalogue(catalogue_file, region)
        planned = plan_sources(files, sys.stdin.buffer, sold, datetime.now(UTC))
    except BadInputError as error:
        typer.secho(f"nodewright: {error}", fg="red", err=True)
        raise typer.Exit(BAD_INPUT) from None
    costs = costs_of(planned.snapshot, planned.plan) if constraint_costs else None
    if output is Output.JSON:
        typer.echo(plan_json(planned, costs))
    else:
        show_plan(planned, Console(highlight=False), costs)
