"""Runs the demo; exit code 1 if any pod isn't running, or any node still there, that should be otherwise."""

import sys

from rich.table import Table

from sandbox.aws.account import Account
from sandbox.demo.acts import Acts
from sandbox.demo.observing import Observer
from sandbox.demo.timeline import Timeline
from sandbox.world import World

BOOT_SECONDS = 5.0
#: Schedules run so many times faster: the minute's sweep comes every six seconds.
SPEED = 10.0
FUNCTIONS = ("notify", "provision", "reconcile", "interrupt", "retire", "disrupt")


def main() -> int:
    """Start everything, play all acts, stop at the first that fails."""
    timeline = Timeline()
    timeline.tell("setup", "starting a Kubernetes control plane and AWS on this machine (built on first use)")
    account = Account.for_seed_one() + Account.for_seed_two()

    def say(line: str) -> None:
        timeline.tell("setup", line)

    with World(boot_seconds=BOOT_SECONDS, speed=SPEED, account=account, say=say) as world:
        start_functions(world, timeline)
        timeline.restart()
        with Observer(world, timeline) as observer:
            acts = Acts(world, timeline, observer)
            for act in (acts.from_zero, acts.spot_notice, acts.scaled_to_zero, acts.second_seed):
                timeline.chapter(act.__doc__ or "")
                if not act():
                    timeline.tell("problem", "that didn't come to its end in time")
                    return 1
                observer.look()
                show_nodes(acts, timeline)
    return 0


def start_functions(world: World, timeline: Timeline) -> None:
    """Cold starts before second zero: on two cores shared with a whole control plane they would drown the rest."""
    for function in FUNCTIONS:
        world.lambdas.warm(function)
    timeline.tell("setup", "functions are warm")


def show_nodes(acts: Acts, timeline: Timeline) -> None:
    """A table of what is there after an act, from `nodewright status`."""
    claims = acts.claims()
    if not claims:
        return
    table = Table(title=f"{len(claims)} node{'s' if len(claims) > 1 else ''}", title_justify="left")
    for column in ("node", "type", "zone", "capacity", "state", "USD/h"):
        table.add_column(column, justify="right" if column == "USD/h" else "left")
    for claim in claims:
        name = claim["node"] or claim["id"]
        table.add_row(name, claim["instanceType"], claim["zone"], claim["capacityType"], claim["state"], claim["price"])
    table.add_section()
    table.add_row("together", "", "", "", "", f"{sum(float(claim['price']) for claim in claims):.4f}")
    timeline.console.print(table)


if __name__ == "__main__":
    sys.exit(main())
