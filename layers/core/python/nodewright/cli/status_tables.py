"""A cluster's standing for people."""

from collections.abc import Iterator
from datetime import datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nodewright.application.standing import Standing
from nodewright.domain.claims import NodeClaim
from nodewright.domain.limits import NODES, PRICE, Limits
from nodewright.domain.money import show_usd
from nodewright.domain.quantities import CPU, MEMORY, Resources, format_amount
from nodewright.domain.usage import WHOLE_CLUSTER

#: Shown of every pool, limited or not.
_ALWAYS = (NODES, PRICE, CPU, MEMORY)
#: From this share of a limit on, it is worth a look.
_NEARLY = 0.9


def show_status(standing: Standing, console: Console) -> None:
    """What there is to say; nothing of what there is none of."""
    console.print(Text(_heading(standing), style="bold"))
    for table in (_pools(standing), _nodes(standing), _aside(standing), _unavailable(standing), _decisions(standing)):
        if table.row_count:
            console.print(table)
    if standing.limits_unknown:
        console.print(Text(f"limits of pools are not known: {standing.limits_unknown}", style="yellow"))


def _heading(standing: Standing) -> str:
    cluster, claims = standing.cluster, standing.claims
    price = show_usd(sum(claim.price for claim in claims))
    told = [f"{cluster.name}: {len(claims)} nodes, {price} USD/h"]
    if cluster.paused:
        told.append("paused")
    if cluster.unreachable_until is not None:
        told.append(f"its API server didn't answer: left alone until {_clock(cluster.unreachable_until)}")
    return "; ".join(told)


def _pools(standing: Standing) -> Table:
    table = _table("pool", "resource", ">in use", ">limit", ">used")
    pools = sorted({*standing.usage, *standing.limits} - {WHOLE_CLUSTER})
    for pool in [*pools, *([WHOLE_CLUSTER] if standing.limits[WHOLE_CLUSTER] or len(pools) > 1 else [])]:
        title = "all pools" if pool == WHOLE_CLUSTER else pool
        for row in _usage(standing.usage.get(pool, Resources()), standing.limits.get(pool)):
            table.add_row(title, *row)
            title = ""
        table.add_section()
    return table


def _usage(in_use: Resources, limits: Limits | None) -> Iterator[tuple[str | Text, ...]]:
    limited, no_limit = dict(limits or {}), "?" if limits is None else "-"
    for name in (*_ALWAYS, *(each for each in limited if each not in _ALWAYS)):
        amount, most = in_use.get(name), limited.get(name)
        if most is not None:
            yield _title(name), _amount(name, amount), _amount(name, most), _share(amount, most)
        elif amount:
            yield _title(name), _amount(name, amount), no_limit, ""


def _title(name: str) -> str:
    return "USD/h" if name == PRICE else name


def _amount(name: str, amount: int) -> str:
    return show_usd(amount) if name == PRICE else format_amount(name, amount)


def _share(amount: int, most: int) -> Text:
    """In red where there is hardly any room left."""
    share = amount / most if most > 0 else 1.0
    return Text(f"{share:.0%}", style="red" if share >= _NEARLY else "")


def _nodes(standing: Standing) -> Table:
    table = _table("node", "state", "pool", "type", "zone", "capacity", ">USD/h")
    for claim in standing.claims:
        table.add_row(
            claim.node_name or claim.id,
            _state(claim),
            claim.pool,
            claim.instance_type or "-",
            claim.zone or "-",
            claim.capacity_type,
            show_usd(claim.price),
        )
    return table


def _state(claim: NodeClaim) -> str:
    retirement = claim.retirement
    if retirement is None:
        return claim.state.value
    return f"leaving: {retirement.reason}, {retirement.step.value}"


def _aside(standing: Standing) -> Table:
    table = _table("nothing is bought for pods like", ">nodes in vain", "until, UTC", "kube-scheduler says")
    for shape in standing.aside:
        table.add_row(shape.example or shape.shape, str(shape.nodes), _clock(shape.until), Text(shape.message))
    return table


def _unavailable(standing: Standing) -> Table:
    table = _table("not asked for", "zone", "capacity", "until, UTC", "because")
    for offering in standing.unavailable:
        table.add_row(
            offering.instance_type, offering.zone, offering.capacity_type, _clock(offering.until), Text(offering.reason)
        )
    return table


def _decisions(standing: Standing) -> Table:
    table = _table("decided, UTC", "by", "what")
    for decision in standing.decisions:
        table.add_row(_clock(decision.time), decision.kind, Text(decision.summary))
    return table


def _table(*columns: str) -> Table:
    """`>` before a column's name: numbers, to the right."""
    table = Table(header_style="bold")
    for column in columns:
        name, numbers = column.removeprefix(">"), column.startswith(">")
        table.add_column(name, justify="right" if numbers else "left", overflow="fold", no_wrap=name.endswith("UTC"))
    return table


def _clock(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"
