"""Whether a plan comes out as planned: pods told which node was bought for them (docs/decisions/0008), and not told."""

import base64
import json
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.booting import Booting
from benchmarks.planner import NODE_CLASS, node_pool
from benchmarks.tables import show
from benchmarks.workloads import Json, Workload, peer_workloads
from nodewright.adapters.catalogue_files import catalogue_of
from nodewright.adapters.kubernetes import KubernetesClusters
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.snapshot import PoolOptions
from nodewright.wiring.planning import plan_objects
from sandbox.controlplane.controlplane import ControlPlane

WORKLOAD: Final = "generic-1000"
#: Types with no more processors than these: many small nodes, and a few large ones.
PROCESSORS: Final = (4, 32)
PATIENCE_SECONDS: Final = 600.0
COLUMNS: Final = (
    "pods",
    "seed",
    "nodes",
    "USD/h",
    "left",
    "as planned",
    "all run s",
    "last ready s",
    "extra USD/h",
    "extra %",
    "patches",
    "told in s",
)
_USER: Final = "planner"
"""His own token, too."""
_NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
_NANOS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Course:
    """What came of one plan."""

    nodes: int
    price: int
    """Of the first plan, nanodollars per hour, as `extra`, which is what was bought after it."""
    left: int
    kept: int
    seconds: float
    ready_seconds: float
    """Until the last node of the first plan was ready."""
    extra: int
    patches: int
    told_seconds: float
    """How long reconcile took at most from looking at the cluster until all pods were told."""


def main(peer: Path, seeds: int) -> None:
    workload = next(each for each in peer_workloads(peer) if each.name == WORKLOAD)
    for processors in PROCESSORS:
        print(f"\n{WORKLOAD}, types of at most {processors} vCPUs", flush=True)
        show(COLUMNS, list(_rows(workload, _options(workload, processors), seeds)))


def _rows(workload: Workload, options: tuple[PoolOptions, ...], seeds: int) -> Iterator[tuple[object, ...]]:
    for seed in range(1, seeds + 1):
        for told in (False, True):
            row = ("told" if told else "not told", seed, *_cells(play(workload.pods, options, seed, nominating=told)))
            print(*row, file=sys.stderr, flush=True)
            yield row


def _cells(course: Course) -> tuple[object, ...]:
    return (
        course.nodes,
        f"{course.price / _NANOS:.3f}",
        course.left,
        course.kept,
        course.seconds,
        course.ready_seconds,
        f"{course.extra / _NANOS:.3f}",
        f"{100 * course.extra / course.price:.2f}",
        course.patches,
        course.told_seconds,
    )


def play(pods: Sequence[Json], options: tuple[PoolOptions, ...], seed: int, *, nominating: bool) -> Course:
    """On a control plane of its own, until all pods run."""
    with ControlPlane(verify=_administrator) as plane:
        bundle = base64.b64encode(plane.ca_pem).decode()
        connected = ConnectedCluster("kept", plane.url, bundle, plane.version, "", "")
        cluster = KubernetesClusters(lambda _: _USER).open(connected)
        booting = Booting(plane.client, cluster, connected, options, Random(seed), nominating)  # noqa: S311 - drawn
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(plane.client.create, map(_unmade, pods)))
        begin = time.monotonic()
        booting.run(PATIENCE_SECONDS)
        if booting.waiting():
            raise SystemExit(f"{booting.waiting()} pods don't run after {PATIENCE_SECONDS:.0f} s")
        return _course(booting, begin)


def _course(booting: Booting, begin: float) -> Course:
    ended = time.monotonic()
    first, later = booting.bought()
    planned = {pod.name: claim.id for claim in first for pod in claim.nominated_pods}
    pods = booting.client.objects("v1", "Pod", "default")
    return Course(
        nodes=len(first),
        price=sum(claim.price for claim in first),
        left=len({pod for claim in later for pod in claim.nominated_pods}),
        kept=sum(planned.get(pod["metadata"]["name"]) == pod["spec"]["nodeName"] for pod in pods),
        seconds=ended - begin,
        ready_seconds=max(booting.ready[claim.id] for claim in first) - begin,
        extra=sum(claim.price for claim in later),
        patches=booting.patches,
        told_seconds=booting.slowest,
    )


def _options(workload: Workload, processors: int) -> tuple[PoolOptions, ...]:
    """What a pool offers of its catalogue: types with no more processors than that."""
    catalogue: dict[str, Any] = deepcopy(workload.catalogue)
    types = catalogue["instanceTypes"]
    catalogue["instanceTypes"] = [each for each in types if int(each["capacity"]["cpu"]) <= processors]
    pool = node_pool(workload.capacity_types, workload.preferences)
    sold = catalogue_of(json.dumps(catalogue).encode(), "workload")
    return plan_objects([pool, NODE_CLASS], sold, _NOW).snapshot.pools


def _unmade(pod: Json) -> dict[str, Any]:
    """As it is sent to an API server, which says of it what it has become."""
    metadata: Any = pod["metadata"]
    known = {key: value for key, value in metadata.items() if key != "uid"}
    return {key: value for key, value in pod.items() if key != "status"} | {"metadata": known}


def _administrator(token: str) -> tuple[str, list[str]] | None:
    return (_USER, ["system:masters"]) if token == _USER else None
