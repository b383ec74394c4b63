"""A controller makes a thousand pods at Kubernetes' own pace, through the whole sandbox: looked ahead, and not.

The controller manager creates 20 pods a second, as it does by default; the scheduler, the webhooks, the deployed
functions and simulated EC2 are the sandbox's. Beside what was bought stands the plan of all pods at once.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from typing import Final

import yaml

from benchmarks import fleets
from benchmarks.fleets import NODE_CLASS, Object
from benchmarks.tables import show
from nodewright.adapters.clock import SystemClock
from nodewright.adapters.dynamodb.ledger import DynamoLedger
from nodewright.adapters.packaged_catalogue import packaged_catalogue
from nodewright.domain.claims import NodeClaim
from nodewright.domain.scheduling import solve
from nodewright.wiring.planning import plan_objects
from sandbox.aws.defaults import REGION
from sandbox.controlplane.components import DEFAULT_PACE
from sandbox.world import World
from sandbox.world.world import CLUSTER

BOOT_SECONDS: Final = 30.0
LOOK_SECONDS: Final = 1.0
COLUMNS: Final = (
    "look-ahead",
    "pods there s",
    "all bound s",
    "all run s",
    "provision runs",
    "that bought",
    "CreateFleet",
    "nodes",
    "USD/h",
    "÷ at once",
    "empty nodes",
    "pods left",
)
_NANOS: Final = 1_000_000_000
_NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)

POOL: Final[Object] = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "any-size"},
    "spec": {
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": [
                    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
                    {"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64", "amd64"]},
                    {"key": "karpenter.k8s.aws/instance-category", "operator": "In", "values": ["c", "m", "r"]},
                ],
            }
        },
        # What was bought stays as it came.
        "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "Never"},
    },
}


@dataclass(frozen=True, slots=True)
class Course:
    """What came of one burst; times in seconds from the Deployment's creation."""

    there: float
    """When all pods existed."""
    bound: float
    running: float
    """KWOK starts fifty pods a second on a busy machine."""
    runs: int
    """Of provision, stale hints among them."""
    bought: int
    """Runs that bought anything."""
    fleets: int
    nodes: int
    price: float
    """USD per hour of all nodes."""
    over: float
    """Times the price of all pods planned at once."""
    empty: int
    left: int
    """Pods that don't run."""


def main(pods: int) -> None:
    at_once, nodes = _planned_at_once(pods)
    print(f"{pods} pods of 900m and 1Gi, planned at once: {nodes} nodes for {at_once:.3f} USD/h", flush=True)
    rows = []
    with World(boot_seconds=BOOT_SECONDS, pace=DEFAULT_PACE) as world:
        for function in ("notify", "provision", "reconcile"):
            world.lambdas.warm(function)
        for look_ahead in ("on", "off"):
            rows.append((look_ahead, *map(_shown, astuple(_course(world, pods, look_ahead, at_once)))))
            print(*rows[-1], file=sys.stderr, flush=True)
    show(COLUMNS, rows)


def _shown(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _planned_at_once(pods: int) -> tuple[float, int]:
    """USD per hour, and nodes, by the solver alone."""
    objects = [POOL, yaml.safe_load(NODE_CLASS.read_text()), _deployment(pods, "off")]
    plan = solve(plan_objects(objects, packaged_catalogue(REGION), _NOW).snapshot)
    return plan.cost / _NANOS, sum(len(launch.nodes) for launch in plan.launches)


def _course(world: World, pods: int, look_ahead: str, at_once: float) -> Course:
    world.reset()
    before = _counts(world)
    world.control_plane.client.apply(NODE_CLASS.read_text(), POOL)
    begin = time.monotonic()
    world.control_plane.client.apply(_deployment(pods, look_ahead))
    there = _when(world, pods, "status.phase!=Failed", begin)
    bound = _when(world, pods, "spec.nodeName!=", begin)
    running = _when(world, pods, "status.phase=Running", begin)
    fleets.until(lambda: all(claim.node_name for claim in _claims(world)), "all nodes to join")
    after, claims = _counts(world), _claims(world)
    price = sum(claim.price for claim in claims) / _NANOS
    return Course(
        there=there,
        bound=bound,
        running=running,
        runs=after["runs"] - before["runs"],
        bought=after["bought"] - before["bought"],
        fleets=after["fleets"] - before["fleets"],
        nodes=len(claims),
        price=price,
        over=price / at_once,
        empty=_empty(world, claims),
        left=pods - fleets.running(world),
    )


def _when(world: World, pods: int, fields: str, begin: float) -> float:
    """Until so many pods are as the field selector says, or patience is over: what is missing is told in the table."""
    deadline = begin + fleets.PATIENCE_SECONDS
    while len(world.control_plane.client.objects("v1", "Pod", "default", fields=fields)) < pods:
        if time.monotonic() > deadline:
            break
        time.sleep(LOOK_SECONDS)
    return time.monotonic() - begin


def _empty(world: World, claims: Sequence[NodeClaim]) -> int:
    taken = {pod["spec"].get("nodeName") for pod in world.control_plane.client.objects("v1", "Pod", "default")}
    return sum(claim.node_name not in taken for claim in claims)


def _claims(world: World) -> tuple[NodeClaim, ...]:
    client = world.aws.client("dynamodb")
    table = world.outputs["TableName"]
    ledger = DynamoLedger(client, table, region=world.aws.region, clock=SystemClock(), report=print)
    return ledger.claims(CLUSTER)


def _counts(world: World) -> Mapping[str, int]:
    plans = [each for each in world.lambdas.log_records("provision") if each.get("message") == "plan"]
    return {
        "runs": sum(line.startswith("START ") for line in world.lambdas.logs("provision")),
        "bought": sum(bool(each["launches"]) for each in plans),
        "fleets": world.aws.calls.count("ec2", "CreateFleet"),
    }


def _deployment(replicas: int, look_ahead: str) -> Object:
    labels = {"app": "burst"}
    container = {"name": "main", "image": "nginx", "resources": {"requests": {"cpu": "900m", "memory": "1Gi"}}}
    annotations = {} if look_ahead == "on" else {"nodewright.dev/look-ahead": look_ahead}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "burst", "annotations": annotations},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }
