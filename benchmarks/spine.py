"""A pending pod becomes a running one, through the deployed functions on the sandbox's real control plane.

Everything shares this machine's cores, so the times are upper bounds. Karpenter can't run here; of it the
structure of its own wait is printed.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import urllib3
import yaml

from benchmarks.spread import spread
from benchmarks.tables import show
from sandbox.world import World

# A Kubernetes object: JSON as it comes.
Object = dict[str, Any]

SEED = Path(__file__).parents[1] / "sandbox/seeds/one"
WEBHOOKS = ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "nodewright")

BOOT_SECONDS = 2.0
ROUNDS = 5
PODS = 12
BURST = 1000
REPEATED_CALLS = 300
SENDING_CALLS = 30
PATIENCE_SECONDS = 300.0

KARPENTER = """Karpenter waits until no pod came for 1 s, 10 s at most, then solves and launches (BATCH_IDLE_DURATION,
BATCH_MAX_DURATION). Here the planner waits until the hint's second is over, and longer only while pods keep coming."""


def main() -> None:
    with World(boot_seconds=BOOT_SECONDS) as world:
        for function in ("notify", "provision", "reconcile"):
            world.lambdas.warm(function)
        _time_notify(world)
        _time_rounds(world)
        _time_burst(world)


def _time_notify(world: World) -> None:
    """Alone: the queues are held, so nothing else runs."""
    rows = []
    with world.lambdas.held(), _caller(world) as call:
        call("events")
        for what, calls in (("sends a hint", _sending), ("hint sent before", _repeating)):
            with _reported(world) as own_ms:
                trips_ms = [_timed(call, resource) for resource in calls()]
            rows.append((what, len(trips_ms), *spread(own_ms), *spread(trips_ms)))
    print(
        "notify, warm, milliseconds: its own time as Lambda reports it (budget 15), and the caller's HTTPS round trip"
    )
    show(("call", "calls", "own p50", "p90", "max", "trip p50", "p90", "max"), rows)


def _sending() -> Iterator[str]:
    """Each in a second of its own for its duty, so each goes to a queue."""
    for number in range(SENDING_CALLS):
        time.sleep(0.5 - time.time() % 0.5 + 0.01)
        yield ("events", "nodes")[number % 2]


def _repeating() -> Iterator[str]:
    return iter(["events"] * REPEATED_CALLS)


def _timed(call: Callable[[str], None], resource: str) -> float:
    begin = time.perf_counter()
    call(resource)
    return (time.perf_counter() - begin) * 1000


@contextmanager
def _caller(world: World) -> Iterator[Callable[[str], None]]:
    """Calls the webhook as an API server does, over one connection."""
    url = world.control_plane.client.get(*WEBHOOKS)["webhooks"][0]["clientConfig"]["url"]
    with urllib3.PoolManager(ca_certs=str(world.folder / "webhook-ca.pem"), retries=False, timeout=5.0) as pool:

        def call(resource: str) -> None:
            request = {"uid": "benchmark", "resource": {"resource": resource}}
            review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
            answer = pool.request("POST", f"{url}?timeout=1s", json=review)
            if answer.status != 200:
                raise SystemExit(f"the webhook answers {answer.status}: {answer.data.decode()}")

        yield call


@contextmanager
def _reported(world: World) -> Iterator[list[float]]:
    """Milliseconds of notify's runs inside the block, by its REPORT lines."""
    milliseconds: list[float] = []
    before = len(world.lambdas.logs("notify"))
    yield milliseconds
    reports = (
        re.search(r"^REPORT .*?\tDuration: ([0-9.]+) ms", line) for line in world.lambdas.logs("notify")[before:]
    )
    milliseconds.extend(float(report[1]) for report in reports if report)


@dataclass(frozen=True, slots=True)
class Course:
    """Seconds from the first event of a pod that doesn't fit."""

    first_fleet: float
    last_fleet: float
    running: float
    fleets: int


def _time_rounds(world: World) -> None:
    courses = [_course(world, PODS) for _ in range(ROUNDS)]
    print(f"\n{PODS} pods from zero nodes, {ROUNDS} rounds warm, seconds since the first FailedScheduling event")
    show(
        ("until", "p50", "p90", "max"),
        [
            (f"{'CreateFleet (budget 2.5)':36}", *spread([course.first_fleet for course in courses], digits=2)),
            (f"all running, instances boot in {BOOT_SECONDS:.0f} s", *spread([c.running for c in courses], digits=2)),
        ],
    )
    print(KARPENTER)


def _time_burst(world: World) -> None:
    before = {function: _starts(world, function) for function in ("notify", "provision", "reconcile")}
    plans, stale = len(_plans(world)), _stale(world)
    course = _course(world, BURST)
    nodes = len(world.control_plane.client.objects("v1", "Node"))
    print(f"\na burst of {BURST} pods at once, until all run on {nodes} nodes")
    show(
        ("what", "number"),
        [
            *((f"runs of {function}", _starts(world, function) - count) for function, count in before.items()),
            ("of provision's, stale hints", _stale(world) - stale),
            ("plans with launches", len(_plans(world)) - plans),
            ("CreateFleet calls", course.fleets),
            ("seconds to the first CreateFleet", course.first_fleet),
            ("seconds to the last", course.last_fleet),
            ("seconds until all run", course.running),
        ],
    )


def _course(world: World, pods: int) -> Course:
    """One deployment from zero nodes to all pods running."""
    world.reset()
    for manifest in _manifests(pods):
        world.control_plane.client.apply(manifest)
    fleets, running = _watch(world, pods)
    told = _first_event(world)
    return Course(fleets[0] - told, fleets[-1] - told, running - told, len(fleets))


def _watch(world: World, pods: int) -> tuple[list[float], float]:
    """The moments of CreateFleet calls, and when all pods ran."""
    fleets: list[float] = []
    before, deadline = world.aws.calls.count("ec2", "CreateFleet"), time.time() + PATIENCE_SECONDS
    looked = 0.0
    while (now := time.time()) < deadline:
        fleets += [now] * (world.aws.calls.count("ec2", "CreateFleet") - before - len(fleets))
        if fleets and now - looked > 0.1 + pods / 1000:
            looked = now
            if _running(world) == pods:
                return fleets, time.time()
        time.sleep(0.005)
    told = "\n".join(world.lambdas.logs("provision")[-10:])
    raise SystemExit(f"{_running(world)} of {pods} pods run after {PATIENCE_SECONDS:.0f} s; provision said:\n{told}")


def _manifests(pods: int) -> Iterator[str | Object]:
    yield (SEED / "ec2nodeclass.yaml").read_text()
    pool = yaml.safe_load((SEED / "nodepool.yaml").read_text())
    del pool["spec"]["limits"]
    yield pool
    nginx = yaml.safe_load((SEED / "nginx.yaml").read_text())
    nginx["spec"]["replicas"] = pods
    yield nginx


def _running(world: World) -> int:
    pods = world.control_plane.client.objects("v1", "Pod", "default")
    return sum(pod["status"].get("phase") == "Running" for pod in pods)


def _first_event(world: World) -> float:
    """By the scheduler's own clock, which is this machine's."""
    events = world.control_plane.client.objects("events.k8s.io/v1", "Event", "default")
    times = [event["eventTime"] for event in events if event["reason"] == "FailedScheduling" and event["eventTime"]]
    return datetime.fromisoformat(min(times)).timestamp()


def _starts(world: World, function: str) -> int:
    return sum(line.startswith("START ") for line in world.lambdas.logs(function))


def _plans(world: World) -> list[Object]:
    records = world.lambdas.log_records("provision")
    return [record for record in records if record.get("message") == "plan" and record["launches"]]


def _stale(world: World) -> int:
    """Runs that ended at once, because a later run had looked already."""
    return sum("stale-hint" in str(record.get("report")) for record in world.lambdas.log_records("provision"))
