"""A plan for people: what is launched and at what price, what goes to nodes that are there, what waits and why."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from nodewright.application.plan import Planned
from nodewright.cli.constraint_words import priced, unpriced
from nodewright.domain.gaps import gap
from nodewright.domain.money import show_usd
from nodewright.domain.plans import Content, Foresight, Launch, Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.scheduling.constraint_costs import ConstraintCosts
from nodewright.domain.scheduling.type_choices import TypeChoices
from nodewright.domain.scheduling.type_words import why_this_type

HOURS_A_MONTH: Final = 730
MOST_REASONS: Final = 5
"""Types of a pool of which it is told why."""
MOST_NAMES: Final = 4
"""Workloads of a row that are named; of the others their number is told."""


def show_plan(planned: Planned, console: Console, costs: ConstraintCosts | None = None) -> None:
    """Print it; reasons and warnings are never cut, and lines are not broken where nobody looks at a terminal."""
    page = _Page(console, _Workloads((*planned.snapshot.pods, *planned.snapshot.expected)))
    page.summary(planned)
    page.launches(planned)
    page.nominations(planned.plan)
    page.foreseen(planned.plan)
    page.waiting(planned)
    page.preferences(planned.plan)
    if costs is not None:
        page.constraint_costs(costs)
    page.warnings(planned)


class _Workloads:
    """Pods by what they belong to: `3 web` says more than three names."""

    def __init__(self, pods: Iterable[Pod]) -> None:
        self._names = {pod.key: pod.owner.name if pod.owner else _NUMBER.sub("", pod.key.name) for pod in pods}
        self._one_namespace = len({key.namespace for key in self._names}) == 1

    def shown(self, keys: Iterable[PodKey]) -> str:
        """`3 web, 1 api`; with namespaces where there are several."""
        counted = Counter(self._name(key) for key in keys)
        ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
        named = ranked if len(ranked) <= MOST_NAMES + 1 else ranked[:MOST_NAMES]
        parts = [f"{count} {name}" for name, count in named]
        if rest := ranked[len(named) :]:
            parts.append(f"{sum(count for _, count in rest)} of {len(rest)} other workloads")
        return ", ".join(parts)

    def _name(self, key: PodKey) -> str:
        name = self._names.get(key, key.name)
        return name if self._one_namespace else f"{key.namespace}/{name}"


_NUMBER: Final = re.compile(r"-[0-9]+$")


class _Page:
    """The parts of what is shown, one below the other."""

    def __init__(self, console: Console, workloads: _Workloads) -> None:
        self._console = console
        self._workloads = workloads

    def summary(self, planned: Planned) -> None:
        """One line for whoever reads no more."""
        plan = planned.plan
        count = sum(len(launch.nodes) for launch in plan.launches)
        placed = sum(len(each.pods) for each in plan.nominations)
        line = Text()
        if count:
            line.append(f"{_count(count, 'node')} to launch for {show_usd(plan.cost)} USD/h", style="bold green")
            line.append(f", about {plan.cost * HOURS_A_MONTH / 10**9:,.2f} USD a month")
        else:
            line.append("No node to launch", style="bold green")
        if placed:
            line.append(f"; {_count(placed, 'pod')} {_fit(placed)} on nodes that are there")
        if plan.unschedulable:
            line.append(f"; {_count(len(plan.unschedulable), 'pod')} can't be placed", style="bold red")
        if not (planned.snapshot.pods or count):
            line.append(": no pod of the input waits for one")
        self._print(line)
        if bound := _bound(plan, ruled=any(map(_is_ruled, planned.snapshot.pods))):
            self._print(Text(bound, style="dim"))

    def launches(self, planned: Planned) -> None:
        """A table a pool, with a row for each price, whatever the pods, and why these types."""
        plan, choices = planned.plan, TypeChoices(planned.snapshot, planned.plan)
        for pool in dict.fromkeys(launch.pool for launch in plan.launches):
            table = _table("nodes", "type", "bought as", "USD/h", "zones", "pods")
            for column in table.columns[:4]:
                column.no_wrap = True
            table.columns[0].justify = table.columns[3].justify = "right"
            rows = list(_alike(launch for launch in plan.launches if launch.pool == pool))
            for same in rows:
                table.add_row(*self._row(same))
            self._section(f"Launch from pool {pool}", table)
            self._reasons([same[0] for same in rows], choices)

    def _row(self, same: Sequence[Launch]) -> Iterator[str | Text]:
        first = same[0]
        yield str(sum(len(launch.nodes) for launch in same))
        yield Text.assemble((first.instance_types[0], "bold"), _choice(same))
        yield first.capacity_type
        yield show_usd(first.price)
        yield _zones(same)
        yield self._contents([content for launch in same for content in launch.contents])

    def _contents(self, contents: Sequence[Content]) -> str:
        """`3 web, 5 web expected, 2 of headroom`."""
        pods = self._workloads.shown(key for each in contents for key in each.pods)
        expected = self._workloads.shown(key for each in contents for key in each.expected)
        headroom = sum(len(each.headroom) for each in contents)
        parts = (pods, f"{expected} expected" if expected else "", f"{headroom} of headroom" if headroom else "")
        return ", ".join(filter(None, parts))

    def _reasons(self, launches: Sequence[Launch], choices: TypeChoices) -> None:
        """Of the dearest rows, in the rows' order; what is the same for several once."""
        ranked = sorted(range(len(launches)), key=lambda i: -launches[i].price * len(launches[i].nodes))
        dearest = [launches[i] for i in sorted(ranked[:MOST_REASONS])]
        shown = dict.fromkeys("; ".join(why_this_type(launch, choices.of(launch))) for launch in dearest)
        for why in filter(None, shown):
            self._print(Text(f"  {why}", style="dim"))

    def constraint_costs(self, costs: ConstraintCosts) -> None:
        """What each rule adds to the price."""
        self._title("What constraints cost")
        for subject, rule, price in priced(costs):
            self._entry(Text.assemble((subject, "bold"), f" {rule}"), price)
        for line in unpriced(costs):
            self._print(Text(f"  {line}", style="dim"))

    def nominations(self, plan: Plan) -> None:
        """What needs no new node."""
        if plan.nominations:
            table = _table("node", "pods")
            for each in plan.nominations:
                table.add_row(each.node, self._workloads.shown(each.pods))
            self._section("Goes to nodes that are there", table)

    def foreseen(self, plan: Plan) -> None:
        """Pods that aren't there, in numbers."""
        for title, noun, each in (("Expected pods", "pod", plan.expected), ("Headroom", "unit", plan.headroom)):
            if each:
                self._title(title)
                self._print(Text(f"  {_whereabouts(each, noun)}"))
                for reason, message in dict.fromkeys((left.reason, left.message) for left in each.left):
                    self._entry(Text(reason, style="red"), message)

    def waiting(self, planned: Planned) -> None:
        """Pods by reason."""
        plan = planned.plan
        groups: defaultdict[tuple[str, str], list[PodKey]] = defaultdict(list)
        for each in plan.unschedulable:
            groups[each.reason, each.message].append(each.pod)
        if groups:
            self._title("Waits")
        for (reason, message), keys in groups.items():
            self._entry(
                Text.assemble((self._workloads.shown(keys), "bold"), ": ", (reason, "red")),
                message.replace(*_no_pool(planned)),
            )
        if groups:
            example = plan.unschedulable[0].pod
            self._print(Text(f"More of one: nodewright explain pod {example}, with the same options.", style="dim"))

    def preferences(self, plan: Plan) -> None:
        """Those that not all pods have."""
        if plan.relaxed:
            self._title("Preferences not kept")
        for each in plan.relaxed:
            who = str(each.example) if each.pods == 1 else f"{_count(each.pods, 'pod')} like {each.example}"
            self._entry(Text.assemble((who, "bold"), " ", each.preference), each.reason)

    def warnings(self, planned: Planned) -> None:
        """Objects that are told the same, together."""
        groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for warning in planned.warnings:
            groups[warning.path, warning.message].append(warning.object)
        if groups:
            self._title("Warnings")
        for (path, message), objects in groups.items():
            shown = ", ".join(objects[:MOST_NAMES])
            more = f" and {len(objects) - MOST_NAMES} more" if len(objects) > MOST_NAMES else ""
            self._entry(Text.assemble((shown, "bold"), more, f" {path}" if path else "", style="yellow"), message)

    def _section(self, title: str, table: Table) -> None:
        self._title(title)
        self._console.print(table)

    def _title(self, title: str) -> None:
        self._console.print()
        self._print(Text(title, style="bold underline"))

    def _entry(self, head: Text, message: str) -> None:
        if self._console.is_terminal:
            lines = Text(message.replace("; pool ", "\npool "))
            self._console.print(Padding(head, (0, 0, 0, 2)), Padding(lines, (0, 0, 0, 6)), sep="")
        else:
            self._print(Text.assemble("  ", head, ": ", message))

    def _print(self, text: Text) -> None:
        self._console.print(text, soft_wrap=not self._console.is_terminal)


def _table(*columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), header_style="dim", show_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _whereabouts(each: Foresight, noun: str) -> str:
    """`3 pods fit on nodes that are there, 5 pods on new ones, which adds 0.12 USD/h, nothing is bought for 2 pods`."""
    adds = f"adds {show_usd(each.cost)} USD/h" if each.cost else "costs nothing more"
    parts = [f"{_count(each.placed, noun)} {_fit(each.placed)} on nodes that are there"] if each.placed else []
    parts += [f"{_count(each.bought, noun)} on new ones, which {adds}"] if each.bought else []
    parts += [f"nothing is bought for {_count(len(each.left), noun)}"] if each.left else []
    return ", ".join(parts)


def _no_pool(planned: Planned) -> tuple[str, str]:
    """What is said where no pool can be used, and what to say for it: the input names at least one."""
    left_out = {each.object: None for each in planned.warnings if "the pool is left out" in each.message}
    why = f"{', '.join(left_out)} can't be read; see Warnings" if left_out else "each is being deleted"
    return "there is no node pool; create one", f"no pool of the input can be used: {why}"


def _bound(plan: Plan, *, ruled: bool) -> str:
    if plan.bound is None or not plan.cost:
        return ""
    if plan.bound >= plan.cost:
        return "Proven: no plan for these pods costs less."
    least = f"no plan for these pods costs less than {show_usd(plan.bound)} USD/h"
    if ruled:
        return f"Proven, not counting every rule between pods: {least}; gap {gap(plan)} %."
    return f"Proven: {least}; gap {gap(plan)} %."


def _is_ruled(pod: Pod) -> bool:
    """Whether it has rules that the proof may leave out."""
    hard = any(spread.hard for spread in pod.spreads)
    return bool(hard or pod.affinity or pod.anti_affinity or pod.host_ports)


def _alike(launches: Iterable[Launch]) -> Iterator[list[Launch]]:
    """Launches of one type and price, in the order of the plan; those for one zone each are alike, too."""
    groups: defaultdict[tuple[object, ...], list[Launch]] = defaultdict(list)
    for each in launches:
        place = each.zones if len(each.zones) > 1 else ()
        groups[each.capacity_type, each.instance_types[0], each.price, place].append(each)
    return iter(groups.values())


def _choice(launches: Sequence[Launch]) -> str:
    """How many other types any of the nodes may become."""
    others = len({name for each in launches for name in each.instance_types}) - 1
    return f"\nor {others} others" if others > 1 else "\nor one other" if others else ""


def _zones(launches: Sequence[Launch]) -> str:
    """`us-east-1 abc`: any of these; `us-east-1 2a 1c`: so many nodes in each."""
    counted: Counter[str] = Counter()
    for launch in launches:
        for zone in launch.zones:
            counted[zone] += len(launch.nodes)
    pinned = len(launches[0].zones) == 1 and len(counted) > 1
    region = _REGION.match(min(counted))
    shared = region[0] if region and all(zone.startswith(region[0]) for zone in counted) else ""
    names = [f"{counted[zone] if pinned else ''}{zone.removeprefix(shared)}" for zone in sorted(counted)]
    together = "" if shared and not pinned and all(len(name) == 1 for name in names) else " "
    return f"{shared}{' ' if shared else ''}{together.join(names)}"


_REGION: Final = re.compile(r"[a-z]+(?:-[a-z]+)+-[0-9]+")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _fit(number: int) -> str:
    return "fits" if number == 1 else "fit"
