"""Explanations for people."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from nodewright.cli.explain_json import Explanation
from nodewright.domain.money import show_usd
from nodewright.domain.plans import Launch
from nodewright.domain.pods import PodKey
from nodewright.domain.quantities import CPU, MEMORY, PODS, Resources
from nodewright.domain.scheduling.explanations import (
    Fallen,
    NewNodeExplanation,
    NodeExplanation,
    OnNewNode,
    OnNode,
    Outcome,
    PodExplanation,
    PoolExplanation,
    Rule,
    Verdict,
    Waits,
)

RULES: Final = {
    Rule.REQUIREMENTS: "the pool's own requirements",
    Rule.TAINTS: "taints",
    Rule.LABELS: "labels",
    Rule.VOLUMES: "volumes' zone",
    Rule.SIZE: "size",
    Rule.ATTACHMENTS: "volumes to attach",
    Rule.HOST_PORTS: "host ports",
    Rule.COMPANY: "spread and affinity",
    Rule.CAPACITY: "EC2 capacity",
    Rule.MIN_VALUES: "minValues",
    Rule.LIMITS: "limits",
    Rule.SPARED: "spared",
}


def show_explanation(explanation: Explanation, console: Console) -> None:
    """Headline first, then what was looked at, then what would help."""
    match explanation:
        case PodExplanation():
            _pod(explanation, console)
        case NodeExplanation():
            _node(explanation, console)
        case NewNodeExplanation():
            _new_node(explanation, console)
        case PoolExplanation():
            _pool(explanation, console)


def _pod(told: PodExplanation, console: Console) -> None:
    console.print(
        _headline(f"pod {told.pod}", _shown(told.outcome), "red" if isinstance(told.outcome, Waits) else "green")
    )
    if isinstance(told.outcome, Waits):
        _item(console, "reason", [_reason(told, told.outcome)])
    _item(console, "asks for", [str(told.requests), *told.constraints])
    _item(console, "why there", told.why)
    if told.nodes.candidates:
        _verdict(console, f"nodes that are there: {told.nodes.candidates}", told.nodes, "nodes")
    for pool in told.pools:
        _verdict(console, f"pool {pool.name}: {_count(pool.candidates, 'instance type')}", pool, "types")
    _item(console, "what helps", told.advice, "cyan")
    _item(console, "not met", [f"it would prefer {each}" for each in told.unmet])
    _item(console, "note", told.warnings, "yellow")


def _reason(told: PodExplanation, waits: Waits) -> str:
    """The planner's own words where what follows doesn't say it."""
    explained = told.pools and not any(pool.left for pool in told.pools)
    return waits.reason if explained else f"{waits.reason}: {waits.message}"


def _node(told: NodeExplanation, console: Console) -> None:
    where = f"of pool {told.pool}" if told.pool else "of no pool"
    verdict = (
        f"{where}, {_count(len(told.nominated), 'pod')} of this plan" if told.takes_pods else f"{where}, takes no pods"
    )
    console.print(_headline(f"node {told.node}", verdict, "green" if told.takes_pods else "yellow"))
    if not told.takes_pods:
        _item(
            console,
            "why",
            ["it is cordoned, not Ready, leaving, or another system's; its pods count for spread and affinity"],
        )
    _item(console, "free", [str(_main(told.free))])
    _item(console, "running", [_count(told.running, "pod")])
    _item(console, "taints", told.taints)
    _item(console, "gets", _names(told.nominated))
    if told.fallen:
        console.print(Padding("pods that wait or go elsewhere:", (0, 0, 0, 2)))
        _fallen(console, told.fallen)
    if told.would_do:
        _item(console, "would hold", [f"{_count(told.would_do, 'further pod')} that another node has room for"])


def _new_node(told: NewNodeExplanation, console: Console) -> None:
    launch = told.launch
    console.print(_headline(f"node {told.node}", f"to be bought of pool {launch.pool}", "green"))
    _item(console, "planned", [_launch(launch)])
    _item(console, "why that", told.why)
    if len(launch.instance_types) > 1:
        _item(console, "or", [", ".join(launch.instance_types[1:])])
    _item(console, "holds", [f"{_count(len(told.pods), 'pod')}: {_main(launch.requests)}"])
    if told.daemons:
        _item(console, "DaemonSets", [str(_main(told.daemons))])
    _item(console, "has", [str(_main(told.allocatable))])
    _item(console, "pods", _names(told.pods))
    _item(console, "expected", _names(told.expected))
    _item(console, "headroom", _names(told.headroom))


def _pool(told: PoolExplanation, console: Console) -> None:
    sold = f"weight {told.weight}, {_count(told.shelf.candidates, 'instance type')} in its class"
    console.print(_headline(f"pool {told.pool}", sold, "green" if told.shelf.left else "red"))
    _item(console, "requires", told.constraints)
    _item(console, "limits", told.limits or ["none"])
    _item(console, "DaemonSets", told.daemons)
    _verdict(console, "what it can sell:", told.shelf, "types")
    _item(console, "bought", _bought(told.bought) or ["nothing"])
    if told.waiting:
        console.print(Padding("pods that wait, by what rules out its last type:", (0, 0, 0, 2)))
        _fallen(console, told.waiting)
    if told.shelf.advice:
        _item(console, "what helps", [told.shelf.advice], "cyan")
    _item(console, "note", told.warnings, "yellow")


def _bought(launches: Sequence[tuple[str, Launch]]) -> list[str]:
    """Of each type how many, most first."""
    counted: Counter[str] = Counter()
    for _, launch in launches:
        price = show_usd(launch.price)
        counted[f"{launch.instance_types[0]}, {launch.capacity_type}, {price} USD/h"] += len(launch.nodes)
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return [f"{count} × {kind}" for kind, count in ranked[:_MOST_KINDS]] + _more(ranked, _MOST_KINDS)


def _shown(outcome: Outcome) -> str:
    match outcome:
        case OnNode(node, others):
            return f"goes to node {node}" + (f", with {_count(others, 'other')}" if others else "")
        case OnNewNode(node, launch, others):
            kind = f"goes to {node} ({launch.instance_types[0]} of pool {launch.pool})"
            return kind + (f", with {_count(others, 'other')}" if others else "")
        case Waits():
            return "waits"


def _headline(subject: str, verdict: str, colour: str) -> Text:
    return Text.assemble((subject, "bold"), " ", (verdict, colour))


def _item(console: Console, label: str, lines: Sequence[str], colour: str = "") -> None:
    """A label and its lines, which wrap beside it."""
    if not lines:
        return
    grid = Table.grid(padding=(0, 2))
    grid.add_column(width=_LABEL, no_wrap=True)
    grid.add_column(overflow="fold")
    for number, line in enumerate(lines):
        grid.add_row(Text("" if number else label, style="dim"), Text(line, style=colour))
    console.print(Padding(grid, (0, 0, 0, 2)))


def _verdict(console: Console, title: str, told: Verdict, noun: str) -> None:
    console.print(Padding(Text(title, style="bold"), (0, 0, 0, 2)))
    _fallen(console, told.fallen)
    left = f"{told.left} of {told.candidates} {noun} would do"
    if told.left:
        _line(console, "✓", f"{left}{'; the cheapest: ' if noun == 'types' else ': '}{told.best}", "green")
    elif told.nearest and (told.then or not any(each.detail.startswith(told.nearest) for each in told.fallen)):
        then = f"; and were it not for that: {told.then}" if told.then else ""
        _line(console, "✗", f"nearest: {told.nearest}{then}", "red")


def _fallen(console: Console, several: Iterable[Fallen]) -> None:
    for each in several:
        _line(console, f"−{each.count}", f"{RULES[each.rule]}" + (f": {each.detail}" if each.detail else ""))


def _line(console: Console, mark: str, text: str, colour: str = "") -> None:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=_MARK, justify="right", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(mark, style=colour), Text(text, style=colour))
    console.print(Padding(grid, (0, 0, 0, 4)))


def _launch(launch: Launch) -> str:
    kind, price = launch.instance_types[0], show_usd(launch.price)
    return f"{kind}, {launch.capacity_type}, {price} USD/h in {', '.join(launch.zones)}"


def _names(pods: Sequence[PodKey]) -> list[str]:
    return [", ".join(map(str, pods[:_MOST_PODS])), *_more(pods, _MOST_PODS)] if pods else []


def _more(things: Sequence[object], shown: int) -> list[str]:
    return [f"and {len(things) - shown} more"] if len(things) > shown else []


def _main(resources: Resources) -> Resources:
    """What people ask about first."""
    shown = {CPU, MEMORY, PODS}
    return Resources({k: v for k, v in resources.items() if k in shown or "/" in k})


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


_LABEL: Final = 10
_MARK: Final = 5
_MOST_PODS: Final = 10
_MOST_KINDS: Final = 12
