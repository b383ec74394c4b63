"""Runs the demo; exit code 1 if any pod isn't running at the end."""

import json
import sys
import time
from pathlib import Path

import yaml
from rich.table import Table

from sandbox.demo.observing import Observer
from sandbox.demo.timeline import Timeline
from sandbox.world import World
from sandbox.world.world import CLUSTER

SEED_ONE = Path(__file__).parents[1] / "seeds/one"
REPLICAS = 12
BOOT_SECONDS = 12.0
GIVE_UP_SECONDS = 120.0


def main() -> int:
    """Start everything, apply the first seed's manifests as they stand, watch."""
    timeline = Timeline()
    timeline.tell("setup", "starting a Kubernetes control plane and AWS on this machine (built on first use)")
    with World(boot_seconds=BOOT_SECONDS, say=lambda line: timeline.tell("setup", line)) as world:
        start_functions(world, timeline)
        timeline.restart()
        with Observer(world, timeline) as observer:
            apply_seed_one(world)
            running = wait_until_running(observer)
        show_nodes(world, timeline)
    return 0 if running else 1


def start_functions(world: World, timeline: Timeline) -> None:
    """Cold starts before second zero: on two cores shared with a whole control plane they would drown the rest."""
    for function in ("notify", "provision", "reconcile"):
        world.lambdas.warm(function)
    timeline.tell("setup", "functions are warm")


def apply_seed_one(world: World) -> None:
    """NodePool, EC2NodeClass and nginx of the first seed; nginx scaled up."""
    client = world.control_plane.client
    for name in ("ec2nodeclass.yaml", "nodepool.yaml"):
        client.apply((SEED_ONE / name).read_text())
    nginx = yaml.safe_load((SEED_ONE / "nginx.yaml").read_text())
    nginx["spec"]["replicas"] = REPLICAS
    client.apply(nginx)


def wait_until_running(observer: Observer) -> bool:
    """Whether all pods ran before the demo's patience was over."""
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while time.monotonic() < deadline:
        phases = [pod["status"].get("phase") for pod in observer.pods()]
        if len(phases) == REPLICAS and set(phases) == {"Running"}:
            return True
        time.sleep(0.2)
    return False


def show_nodes(world: World, timeline: Timeline) -> None:
    """The closing table, from `nodewright status`."""
    claims = json.loads(world.cli("status", CLUSTER, "--output", "json"))[CLUSTER]["claims"]
    table = Table(title=f"{len(claims)} nodes for {REPLICAS} pods", title_justify="left")
    for column in ("node", "type", "zone", "capacity", "state", "USD/h"):
        table.add_column(column, justify="right" if column == "USD/h" else "left")
    for claim in claims:
        table.add_row(
            claim["node"] or claim["id"],
            claim["instanceType"],
            claim["zone"],
            claim["capacityType"],
            claim["state"],
            claim["price"],
        )
    total = sum(float(claim["price"]) for claim in claims)
    table.add_section()
    table.add_row("together", "", "", "", "", f"{total:.4f}")
    timeline.console.print(table)


if __name__ == "__main__":
    sys.exit(main())
