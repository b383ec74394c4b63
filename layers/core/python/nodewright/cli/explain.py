"""`nodewright explain pod|node|pool NAME`: why a plan is as it is."""

import difflib
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from nodewright.application.plan import BadInputError, Planned
from nodewright.cli.explain_json import Explanation, explanation_json
from nodewright.cli.explain_table import show_explanation
from nodewright.cli.plan import BAD_INPUT, Output
from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling.explaining import explain_node, explain_pod, explain_pool
from nodewright.domain.scheduling.plan_views import PlanView
from nodewright.wiring.planning import catalogue, plan_sources

explain = typer.Typer(
    help="Why a pod goes where it goes or waits, what a node is for, what a pool can sell.", no_args_is_help=True
)

Name = Annotated[str, typer.Argument(help="Its name.")]
Files = Annotated[
    list[str],
    typer.Option("--filename", "-f", help="A file, a directory (.yaml, .yml, .json), or - for stdin; repeat it."),
]
CatalogueFile = Annotated[
    Path | None, typer.Option("--catalogue", help="Instance types and prices of yours, as JSON or YAML.")
]
Region = Annotated[str, typer.Option(help="Whose packaged prices count; see `nodewright plan --help`.")]
Shown = Annotated[Output, typer.Option("--output", "-o", help="How it is shown.")]


@explain.command()
def pod(
    name: Annotated[
        str, typer.Argument(help="NAMESPACE/NAME, or NAME alone. A Deployment's pods are NAME-0, NAME-1 …")
    ],
    files: Files,
    catalogue_file: CatalogueFile = None,
    region: Region = "",
    output: Shown = Output.TABLE,
) -> None:
    """Where a pod goes and why there; or why it waits, which rule ruled out how much, and what would help."""
    _explain(files, catalogue_file, region, output, lambda planned: _pod(planned, name))


@explain.command()
def node(
    name: Annotated[str, typer.Argument(help="A node that is there, or new-1, new-2 … as a plan buys them.")],
    files: Files,
    catalogue_file: CatalogueFile = None,
    region: Region = "",
    output: Shown = Output.TABLE,
) -> None:
    """What a node has room for and gets, and why the other pods don't go there."""
    _explain(files, catalogue_file, region, output, lambda planned: _node(planned, name))


@explain.command()
def pool(
    name: Name,
    files: Files,
    catalogue_file: CatalogueFile = None,
    region: Region = "",
    output: Shown = Output.TABLE,
) -> None:
    """What a pool can sell, what is bought of it, and why pods that wait find nothing there."""
    _explain(files, catalogue_file, region, output, lambda planned: _pool(planned, name))


def _explain(
    files: list[str],
    catalogue_file: Path | None,
    region: str,
    output: Output,
    ask: Callable[[Planned], Explanation],
) -> None:
    try:
        planned = plan_sources(files, sys.stdin.buffer, catalogue(catalogue_file, region), datetime.now(UTC))
        told = ask(planned)
    except BadInputError as error:
        typer.secho(f"nodewright: {error}", fg="red", err=True)
        raise typer.Exit(BAD_INPUT) from None
    if output is Output.JSON:
        typer.echo(explanation_json(told))
    else:
        show_explanation(told, Console(highlight=False))


def _pod(planned: Planned, name: str) -> Explanation:
    view = PlanView(planned.snapshot, planned.plan)
    return explain_pod(view, _key(planned, name))


def _key(planned: Planned, name: str) -> PodKey:
    """The pending pod that is meant. BadInputError says why there is none."""
    pending = [pod.key for pod in planned.snapshot.pods]
    found = [key for key in pending if name in {str(key), key.name}]
    if len(found) == 1:
        return found[0]
    if found:
        raise BadInputError(f"there are several pods {name}; say which: {', '.join(map(str, found))}")
    for room in (*planned.snapshot.rooms, *planned.snapshot.bystanders):
        if any(name in {str(each.key), each.key.name} for each in room.pods):
            raise BadInputError(f"pod {name} runs on node {room.name}; try: nodewright explain node {room.name}")
    told = [f"{each.path}: {each.message}" for each in planned.warnings if each.object.endswith(f"/{name}")]
    if told:
        raise BadInputError(f"pod {name} is not planned: {'; '.join(told)}")
    raise BadInputError(
        f"no pod {name} waits for a node (bound, finished and gated ones and those of DaemonSets don't)"
        + _instead(name, map(str, pending))
    )


def _node(planned: Planned, name: str) -> Explanation:
    view = PlanView(planned.snapshot, planned.plan)
    try:
        return explain_node(view, name)
    except KeyError:
        known = [room.name for room in (*planned.snapshot.rooms, *planned.snapshot.bystanders)]
        new = [new for new, _, _ in view.new_nodes()]
        raise BadInputError(f"there is no node {name}" + _instead(name, (*known, *new))) from None


def _pool(planned: Planned, name: str) -> Explanation:
    try:
        return explain_pool(PlanView(planned.snapshot, planned.plan), name)
    except KeyError:
        told = [f"{each.path}: {each.message}" for each in planned.warnings if each.object.endswith(f"/{name}")]
        if told:
            raise BadInputError(f"pool {name} is left out: {'; '.join(told)}") from None
        known = (options.pool.name for options in planned.snapshot.pools)
        raise BadInputError(f"there is no pool {name}" + _instead(name, known)) from None


def _instead(name: str, known: Iterable[str]) -> str:
    """Names that may have been meant: similar ones, else the first few."""
    names = list(known)
    short = {each.rpartition("/")[2]: each for each in names}
    close = [short[each] for each in difflib.get_close_matches(name.rpartition("/")[2], short, n=3)]
    shown = close or names[:_SHOWN]
    if not shown:
        return "; there are none"
    return ("; did you mean " if close else "; there are ") + ", ".join(shown) + ("?" if close else "")


_SHOWN = 5
