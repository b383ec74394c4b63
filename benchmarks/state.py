"""What a launch costs in DynamoDB: calls and items that each function reads and writes until its nodes are initialized.

Counted where moto takes a call, so an SDK's own retries count too, as they would on the bill.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from moto.dynamodb.responses import DynamoHandler

from benchmarks import fleets
from benchmarks.tables import show
from sandbox.aws.patches import Patches
from sandbox.aws.protocol import SCOPE
from sandbox.world import World

# A request or an answer of DynamoDB: JSON as it comes.
Body = Mapping[str, Any]

BOOT_SECONDS = 2.0

# Operation → items its request or answer is about.
READS: Mapping[str, Callable[[Body, Body], int]] = {
    "GetItem": lambda _, __: 1,
    "BatchGetItem": lambda asked, _: sum(len(keys["Keys"]) for keys in asked["RequestItems"].values()),
    "Query": lambda _, answer: int(answer.get("ScannedCount", 0)),
    "Scan": lambda _, answer: int(answer.get("ScannedCount", 0)),
}
WRITES: Mapping[str, Callable[[Body], int]] = {
    "PutItem": lambda _: 1,
    "UpdateItem": lambda _: 1,
    "DeleteItem": lambda _: 1,
    "BatchWriteItem": lambda asked: sum(len(requests) for requests in asked["RequestItems"].values()),
    "TransactWriteItems": lambda asked: len(asked["TransactItems"]),
}


@dataclass(slots=True)
class Traffic:
    """By function; a call is one request, whatever number of items it is about."""

    read_calls: Counter[str] = field(default_factory=Counter)
    items_read: Counter[str] = field(default_factory=Counter)
    write_calls: Counter[str] = field(default_factory=Counter)
    items_written: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def add(self, function: str, operation: str, asked: Body, answer: Body) -> None:
        """Count a call, of whichever thread."""
        with self._lock:
            if operation in READS:
                self.read_calls[function] += 1
                self.items_read[function] += READS[operation](asked, answer)
            elif operation in WRITES:
                self.write_calls[function] += 1
                self.items_written[function] += WRITES[operation](asked)

    def row(self, functions: Sequence[str]) -> tuple[int, ...]:
        """Read calls, items read, write calls, items written."""
        counters = (self.read_calls, self.items_read, self.write_calls, self.items_written)
        return tuple(sum(counter[function] for function in functions) for counter in counters)


def main(launches: Sequence[int]) -> None:
    with World(boot_seconds=BOOT_SECONDS) as world:
        rows = []
        for nodes in launches:
            traffic, seconds = _launch(world, nodes)
            every = sorted({*traffic.read_calls, *traffic.write_calls})
            rows += [(f"{nodes} nodes, {function}", *traffic.row([function])) for function in every]
            total = traffic.row(every)
            rows.append((f"{nodes} nodes, all", *total))
            rows.append((f"{nodes} nodes, all, a node", *(round(n / nodes, 1) for n in total)))
            print(
                f"{nodes} nodes: {world.aws.calls.count('ec2', 'CreateFleet')} CreateFleet, {seconds:.0f} s", flush=True
            )
        show(("launch", "read calls", "items read", "write calls", "items written"), rows)


def _launch(world: World, nodes: int) -> tuple[Traffic, float]:
    """From the first manifest until each pod runs and each node is initialized."""
    begin = time.monotonic()
    with _counted(world) as traffic:
        fleets.launch(world, nodes)
        fleets.until(lambda: _initialized(world) == nodes, f"{nodes} nodes to be initialized")
    return traffic, time.monotonic() - begin


def _initialized(world: World) -> int:
    return len(world.control_plane.client.objects("v1", "Node", labels="karpenter.sh/initialized=true"))


@contextmanager
def _counted(world: World) -> Iterator[Traffic]:
    traffic, patches = Traffic(), Patches()

    def call_action(handler: Any) -> Any:
        answer = original(handler)
        traffic.add(_function(world, handler), handler._get_action(), handler.body, _read(answer))  # noqa: SLF001
        return answer

    original = patches.replace(DynamoHandler, "call_action", call_action)
    try:
        yield traffic
    finally:
        patches.undo()


def _function(world: World, handler: Any) -> str:
    """By the role that signed the call: `Nodewright-ProvisionRole…`."""
    scope = SCOPE.search(handler.headers.get("Authorization", ""))
    role = world.aws.credentials.role(scope["key"]) if scope else None
    return role.split("-")[1].partition("Role")[0].lower() if role else "administrator"


def _read(answer: tuple[int, Body, str | bytes]) -> Body:
    return dict(json.loads(answer[2] or "{}"))
