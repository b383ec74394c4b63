"""Looks at the running system from outside and tells what changed: pods, functions' logs, nodes."""

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from sandbox.demo.timeline import Timeline
from sandbox.world import World

WATCHED = ("notify", "interrupt", "disrupt", "provision", "reconcile", "retire")

# Log records and Kubernetes objects: JSON as it comes.
Record = Mapping[str, Any]


@dataclass(slots=True)
class Observer:
    """A thread that looks ten times a second while the block lasts."""

    world: World
    timeline: Timeline
    namespace: str = "default"
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _read: Counter[str] = field(default_factory=Counter)
    _hints: int = 0
    _calls: int = 0
    _running: int = -1
    _nodes: set[str] = field(default_factory=set)

    def __enter__(self) -> Self:
        self._skip_what_was()
        self._thread = threading.Thread(target=self._run, name="demo-observer", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self.look()

    def look(self) -> None:
        """One look at everything, told in the order in which it happens."""
        self._look_at_webhooks()
        for function in WATCHED:
            for record in self._new_records(function):
                self._tell(record)
        self._look_at_nodes()
        self._look_at_pods()

    def pods(self) -> Sequence[Record]:
        """The demo's pods."""
        return self.world.control_plane.client.objects("v1", "Pod", self.namespace)

    def _run(self) -> None:
        while not self._stop.wait(0.1):
            self.look()

    def _skip_what_was(self) -> None:
        for function in WATCHED:
            self._read[function] = len(self.world.lambdas.log_records(function))
        self._hints, self._calls = self._starts("provision"), self._starts("notify")

    def _starts(self, function: str) -> int:
        return sum(line.startswith("START ") for line in self.world.lambdas.logs(function))

    def _look_at_webhooks(self) -> None:
        """Told when a hint arrives, with the calls that became it."""
        hints, calls = self._starts("provision"), self._starts("notify")
        if hints > self._hints and calls > self._calls:
            told = f"{_count(calls - self._calls, 'call')} → {_count(hints - self._hints, 'planning run')}"
            self.timeline.tell("webhook", told)
            self._hints, self._calls = hints, calls

    def _new_records(self, function: str) -> Iterator[Record]:
        records = self.world.lambdas.log_records(function)
        yield from records[self._read[function] :]
        self._read[function] = len(records)

    def _tell(self, record: Record) -> None:
        message = record.get("message")
        if message == "plan" and record["launches"]:
            self.timeline.tell("plan", plan_line(record))
        elif message == "fleet":
            self.timeline.tell("fleet", fleet_line(record))
        elif message == "initialized":
            self.timeline.tell("node", f"{record['node']} initialized")
        elif message == "disrupted":
            self.timeline.tell("retire", f"{', '.join(record['nodes'])} may go: {record['reason']}")
        elif message == "retiring":
            self.timeline.tell("retire", retire_line(record))
        elif message == "problem" or record.get("level") in {"ERROR", "CRITICAL"}:
            reason = record.get("reason") or record.get("errorMessage") or record.get("exception") or record
            self.timeline.tell("problem", f"{record.get('what', message)}: {str(reason).strip().splitlines()[-1]}")

    def _look_at_nodes(self) -> None:
        nodes = self.world.control_plane.client.objects("v1", "Node")
        for name in self._nodes - {node["metadata"]["name"] for node in nodes}:
            self._nodes.remove(name)
            self.timeline.tell("node", f"{name} is gone")
        for node in nodes:
            name, labels = node["metadata"]["name"], node["metadata"]["labels"]
            if name not in self._nodes:
                self._nodes.add(name)
                kind, arch = labels["node.kubernetes.io/instance-type"], labels["kubernetes.io/arch"]
                self.timeline.tell("node", f"{name} joined ({kind}, {arch}, {labels['topology.kubernetes.io/zone']})")

    def _look_at_pods(self) -> None:
        pods = self.pods()
        running = sum(pod["status"].get("phase") == "Running" for pod in pods)
        if pods and running != self._running:
            self._running = running
            waiting = f", {len(pods) - running} pending" if running < len(pods) else ""
            self.timeline.tell("pods", f"{running} of {len(pods)} running{waiting}, {_count(len(self._nodes), 'node')}")


def plan_line(record: Record) -> str:
    """`12 pods → 3 × t4g.medium spot at 0.0126; 0.0378 USD/h (at least 0.0361: gap 4.5 %)`."""
    parts = [
        f"{launch['nodes']} × {launch['instance_types'][0]} {launch['capacity_type']} at {launch['price']}"
        for launch in record["launches"]
    ]
    return f"{record['pods']} pods → {', '.join(parts)}; {record['price']} USD/h{_proven(record)}"


def _proven(record: Record) -> str:
    if not record.get("bound") or not float(record["price"]):
        return ""
    gap = 100 - 100 * float(record["bound"]) / float(record["price"])
    return f" (at least {record['bound']}: gap {gap:.1f} %)"


def retire_line(record: Record) -> str:
    """`ip-10-0-0-4…: drain (spot-interruption), 6 pods to go`."""
    note = f", {record['note']}" if record.get("note") else ""
    return f"{record['node'] or record['node_claim']}: {record['step']} ({record['reason']}){note}"


def fleet_line(record: Record) -> str:
    """`3 instances: t4g.medium in ap-northeast-2a, -2b`."""
    instances, errors = record["instances"], record["errors"]
    types = ", ".join(
        f"{count} × {name}" for name, count in sorted(Counter(i["instance_type"] for i in instances).items())
    )
    zones = ", ".join(sorted({i["zone"] for i in instances}))
    failed = f"; {', '.join(sorted({e['code'] for e in errors}))}" if errors else ""
    return f"{_count(len(instances), 'instance')}: {types or 'none'} in {zones or 'no zone'}{failed}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
