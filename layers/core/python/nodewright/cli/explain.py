"""`nodewright explain pod|node|pool NAME`: why a plan is as it is."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from nodewright.application.errors import NotFoundError
from nodewright.application.plan import BadInputError, Planned
from nodewright.application.ports import DecisionRecord
from nodewright.application.remembering import Memory, about_node, about_pod, about_pool
from nodewright.cli.explain_json import Explanation, explanation_json
from nodewright.cli.explain_memories import memories_json, show_memories
from nodewright.cli.explain_subjects import told_of_node, told_of_pod, told_of_pool
from nodewright.cli.explain_table import show_explanation
from nodewright.cli.plan import BAD_INPUT, Output
from nodewright.wiring.cli import decisions
from nodewright.wiring.planning import catalogue, plan_sources

explain = typer.Typer(
    help="Why a pod goes where it goes or waits, what a node is for, what a pool can sell.", no_args_is_help=True
)

Files = Annotated[
    list[str] | None,
    typer.Option("--filename", "-f", help="A file, a directory (.yaml, .yml, .json), or - for stdin; repeat it."),
]
CatalogueFile = Annotated[
    Path | None, typer.Option("--catalogue", help="Instance types and prices of yours, as JSON or YAML.")
]
Region = Annotated[str, typer.Option(help="Whose packaged prices count; see `nodewright plan --help`.")]
Cluster = Annotated[str, typer.Option(help="Instead of files: what was decided for a connected cluster in 7 days.")]
Stack = Annotated[str, typer.Option(help="Name of the deployed Nodewright stack, for --cluster.")]
Shown = Annotated[Output, typer.Option("--output", "-o", help="How it is shown.")]


@explain.command()
def pod(
    name: Annotated[
        str, typer.Argument(help="NAMESPACE/NAME, or NAME alone; a Deployment's pods are NAME-0, NAME-1 …")
    ],
    files: Files = None,
    catalogue_file: CatalogueFile = None,
    region: Region = "",
    cluster: Cluster = "",
    stack: Stack = "Nodewright",
    output: Shown = Output.TABLE,
) -> None:
    """Where a pod goes and why there; or why it waits, which rule ruled out how much, and what would help."""
    question = _Question("pod", name, told_of_pod, about_pod)
    _answer(question, _Source(files, catalogue_file, region, cluster, stack), output)


@explain.command()
def node(
    name: Annotated[str, typer.Argument(help="A node that is there, or new-1, new-2 … as a plan buys them.")],
    files: Files = None,
    catalogue_file: CatalogueFile = None,
    region: Region = "",
    cluster: Cluster = "",
    stack: Stack = "Nodewright",
    output: Shown = Output.TABLE,
) -> None:
    """What a node has room for and gets, and why the other pods don't go there."""
    question = _Question("node", name, told_of_node, about_node)
    _answer(question, _Source(files, catalogue_file, region, cluster, stack), output)


@explain.command()
def pool(
    name: Annotated[str, typer.Argument(help="Name of a NodePool or Provisioner.")],
    files: Files = None,
    catalogue_file: CatalogueFile = None,
    region: Region = "",
    cluster: Cluster = "",
    stack: Stack = "Nodewright",
    output: Shown = Output.TABLE,
) -> None:
    """What a pool can sell, what is bought of it, and why pods that wait find nothing there."""
    question = _Question("pool", name, told_of_pool, about_pool)
    _answer(question, _Source(files, catalogue_file, region, cluster, stack), output)


@dataclass(frozen=True, slots=True)
class _Question:
    kind: str
    name: str
    of_plan: Callable[[Planned, str], Explanation]
    of_decisions: Callable[[Iterable[DecisionRecord], str], tuple[Memory, ...]]


@dataclass(frozen=True, slots=True)
class _Source:
    files: list[str] | None
    catalogue_file: Path | None
    region: str
    cluster: str
    stack: str


def _answer(question: _Question, source: _Source, output: Output) -> None:
    try:
        answer = _way(source)
        answer(question, source, output)
    except BadInputError as error:
        typer.secho(f"nodewright: {error}", fg="red", err=True)
        raise typer.Exit(BAD_INPUT) from None


def _way(source: _Source) -> Callable[[_Question, _Source, Output], None]:
    """By planning what is given, or by what was decided."""
    if bool(source.files) == bool(source.cluster):
        raise BadInputError("say what to look at: manifests (-f FILE) or a connected cluster (--cluster CLUSTER)")
    return _remember if source.cluster else _explain


def _explain(question: _Question, source: _Source, output: Output) -> None:
    sold = catalogue(source.catalogue_file, source.region)
    planned = plan_sources(source.files or [], sys.stdin.buffer, sold, datetime.now(UTC))
    told = question.of_plan(planned, question.name)
    if output is Output.JSON:
        typer.echo(explanation_json(told))
    else:
        show_explanation(told, _console())


def _remember(question: _Question, source: _Source, output: Output) -> None:
    try:
        kept = decisions(source.stack, source.cluster, _LOOKED_AT)
    except NotFoundError:
        raise BadInputError(f"cluster {source.cluster} is not connected; see: nodewright status") from None
    found = question.of_decisions(kept, question.name)
    if output is Output.JSON:
        typer.echo(memories_json(found))
    elif found:
        show_memories(found, _console())
    else:
        raise BadInputError(
            f"the last {len(kept)} decisions of {source.cluster} don't name {question.kind} {question.name}; of many"
            " pods they name a few: `kubectl describe` shows a pod's events"
        )


_LOOKED_AT = 200


def _console() -> Console:
    return Console(highlight=False)
