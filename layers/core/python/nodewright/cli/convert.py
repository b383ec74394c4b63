"""`nodewright convert -f FILE`: pools and classes of any generation as v1."""

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from nodewright.application.plan import BadInputError
from nodewright.application.ports import ManifestWarning
from nodewright.wiring.converting import convert_sources, yaml_text

LEFT = 1
"""Exit code where something could not be converted."""
BAD_INPUT = 2
"""Exit code, as for an unknown option."""


class Format(StrEnum):
    """How manifests are written."""

    YAML = "yaml"
    JSON = "json"


def convert(
    files: Annotated[
        list[str],
        typer.Option("--filename", "-f", help="A file, a directory (.yaml, .yml, .json), or - for stdin; repeat it."),
    ],
    output: Annotated[Format, typer.Option("--output", "-o", help="How it is written.")] = Format.YAML,
) -> None:
    """NodePools, Provisioners, EC2NodeClasses and AWSNodeTemplates of any generation, as v1 on stdout.

    Convert pools together with their classes: kubelet settings move from the one to the other. Other objects pass
    through as they are; comments don't. Warnings go to stderr.

    Exit codes: 0 all is converted; 1 something is left as it was, or couldn't be read; 2 there is nothing to convert.
    """
    try:
        converted = convert_sources(files, sys.stdin.buffer)
    except BadInputError as error:
        typer.secho(f"nodewright: {error}", fg="red", err=True)
        raise typer.Exit(BAD_INPUT) from None
    documents = converted.documents
    typer.echo(yaml_text(documents) if output is Format.YAML else _listed(documents), nl=output is Format.JSON)
    for warning in converted.warnings:
        typer.secho(f"warning: {_line(warning)}", fg="yellow", err=True)
    if converted.left:
        typer.secho(f"nodewright: not converted: {', '.join(converted.left)}", fg="red", err=True)
        raise typer.Exit(LEFT)


def _listed(documents: Sequence[object]) -> str:
    """One JSON document, as `kubectl get -o json` writes several objects."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": documents}, indent=2, ensure_ascii=False)


def _line(warning: ManifestWarning) -> str:
    return f"{' '.join(part for part in (warning.object, warning.path) if part)}: {warning.message}"
