"""The `nodewright` command: one verb a file, `--output json` where something is shown."""

import sys

import typer

from nodewright.application.errors import OutsideError
from nodewright.cli.connect import connect, disconnect
from nodewright.cli.convert import convert
from nodewright.cli.explain import explain
from nodewright.cli.plan import plan
from nodewright.cli.status import status

app = typer.Typer(
    name="nodewright",
    help="Nodes for Kubernetes clusters on AWS, with nothing running on a node.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(plan)
app.add_typer(explain, name="explain")
app.command()(convert)
app.command()(connect)
app.command()(disconnect)
app.command()(status)


def main() -> None:
    """Entry point: what went wrong outside is one line, not a trace."""
    try:
        app()
    except OutsideError as error:
        typer.secho(f"nodewright: {error}", fg="red", err=True)
        sys.exit(1)
