"""A plan for people."""

from rich.console import Console

from nodewright.application.plan import Planned
from nodewright.domain.money import show_usd


def show_plan(planned: Planned, console: Console) -> None:
    """What is launched, what goes where, what waits and why."""
    plan = planned.plan
    for launch in plan.launches:
        console.print(f"{len(launch.nodes)} × {launch.instance_types[0]} {show_usd(launch.price)}")
