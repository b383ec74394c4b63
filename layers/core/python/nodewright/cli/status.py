"""`nodewright status [CLUSTER]`: clusters, their node claims and recent decisions."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from nodewright.application.ports import DecisionRecord, Ledger
from nodewright.domain.claims import NodeClaim
from nodewright.domain.money import show_usd
from nodewright.wiring.cli import ledger_of

DECISIONS_SHOWN = 10


def status(
    cluster: Annotated[str, typer.Argument(help="One cluster; all when left out.")] = "",
    stack: Annotated[str, typer.Option(help="Name of the deployed Nodewright stack.")] = "Nodewright",
    output: Annotated[str, typer.Option(help="table or json.")] = "table",
) -> None:
    """What is known of the connected clusters."""
    ledger = ledger_of(stack)
    names = [cluster] if cluster else [c.name for c in ledger.clusters()]
    reports = {name: _report(ledger, name) for name in names}
    if output == "json":
        typer.echo(json.dumps(reports, indent=2))
        return
    console = Console()
    if not reports:
        console.print("no cluster is connected; run: nodewright connect CLUSTER")
    for name in names:
        _show(console, name, ledger.claims(name), ledger.decisions(name, DECISIONS_SHOWN))
    _show_unavailable(console, ledger)


def _report(ledger: Ledger, name: str) -> dict[str, object]:
    ledger.cluster(name)
    return {
        "claims": [_claim(claim) for claim in ledger.claims(name)],
        "decisions": [
            {"time": d.time.isoformat(), "kind": d.kind, "summary": d.summary, "details": d.details}
            for d in ledger.decisions(name, DECISIONS_SHOWN)
        ],
    }


def _claim(claim: NodeClaim) -> dict[str, object]:
    return {
        "id": claim.id,
        "state": claim.state.value,
        "pool": claim.pool,
        "node": claim.node_name,
        "instance": claim.instance_id,
        "instanceType": claim.instance_type,
        "zone": claim.zone,
        "capacityType": claim.capacity_type,
        "price": show_usd(claim.price),
    }


def _show(console: Console, name: str, claims: Sequence[NodeClaim], decisions: Sequence[DecisionRecord]) -> None:
    total = sum(claim.price for claim in claims)
    nodes = Table(title=f"{name}: {len(claims)} nodes, {show_usd(total)} USD/h", title_justify="left")
    for column in ("node", "state", "pool", "type", "zone", "capacity", "USD/h"):
        nodes.add_column(column, justify="right" if column == "USD/h" else "left")
    for claim in claims:
        nodes.add_row(
            claim.node_name or claim.id,
            claim.state.value,
            claim.pool,
            claim.instance_type or "-",
            claim.zone or "-",
            claim.capacity_type,
            show_usd(claim.price),
        )
    console.print(nodes)
    for decision in decisions:
        console.print(f"  {decision.time:%Y-%m-%d %H:%M:%S}  {decision.kind:<10} {decision.summary}", highlight=False)


def _show_unavailable(console: Console, ledger: Ledger) -> None:
    for offering in ledger.unavailable_offerings(datetime.now(UTC)):
        console.print(
            f"  cooling down until {offering.until:%H:%M:%S}: {offering.instance_type} {offering.zone}"
            f" {offering.capacity_type} ({offering.reason})",
            highlight=False,
        )
