"""Our side of the comparison: plans the workload on standard input in a process of its own, and tells what it took.

Reading isn't timed, as setting up isn't on the other side. Time is this process's CPU time: what else the machine
does is not the planner's.
"""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from nodewright.adapters.catalogue_files import catalogue_of
from nodewright.domain.plans import Plan
from nodewright.domain.scheduling import AT_ONCE, Budget, solve
from nodewright.domain.snapshot import Snapshot
from nodewright.wiring.planning import plan_objects

NANOS = 1_000_000_000
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    snapshot = snapshot_of(sys.stdin.buffer.read())
    fast, fast_seconds = _timed(snapshot, AT_ONCE)
    whole, whole_seconds = _timed(snapshot, Budget())
    print(
        json.dumps(
            {
                "fastSeconds": fast_seconds,
                "fastCost": fast.cost / NANOS,
                "seconds": whole_seconds,
                "cost": whole.cost / NANOS,
                "bound": None if whole.bound is None else whole.bound / NANOS,
                "nodes": sum(len(launch.nodes) for launch in whole.launches),
                "unschedulable": len(whole.unschedulable),
                "peakBytes": _peak(),
            }
        )
    )


def snapshot_of(encoded: bytes) -> Snapshot:
    """Of a workload."""
    given = json.loads(encoded)
    catalogue = catalogue_of(json.dumps(given["catalogue"]).encode(), "workload")
    pool = node_pool(given["capacityTypes"], given["preferences"])
    # Planned once with few pods, so that what Python imports late isn't in the figures.
    plan_objects([pool, NODE_CLASS, *given["pods"][:50]], catalogue, NOW)
    return plan_objects([pool, NODE_CLASS, *given["pods"]], catalogue, NOW).snapshot


def _timed(snapshot: Snapshot, budget: Budget) -> tuple[Plan, float]:
    start = time.process_time()
    plan = solve(snapshot, budget)
    return plan, time.process_time() - start


def _peak() -> int:
    """As the other side tells it. What getrusage tells counts the process that started this one, too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def node_pool(capacity_types: Sequence[str], preferences: str) -> Mapping[str, object]:
    """One pool, without limits."""
    wanted = {"key": "karpenter.sh/capacity-type", "operator": "In", "values": list(capacity_types)}
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "default", "annotations": {"nodewright.dev/preferences": preferences.lower()}},
        "spec": {"template": {"spec": {"nodeClassRef": reference, "requirements": [wanted]}}},
    }


NODE_CLASS: Mapping[str, object] = {
    "apiVersion": "karpenter.k8s.aws/v1",
    "kind": "EC2NodeClass",
    "metadata": {"name": "default"},
    "spec": {
        "amiSelectorTerms": [{"alias": "al2023@latest"}],
        "role": "nodes",
        "subnetSelectorTerms": [{"tags": {"discovery": "cluster"}}],
        "securityGroupSelectorTerms": [{"tags": {"discovery": "cluster"}}],
    },
}


if __name__ == "__main__":
    main()
