"""What the stored decisions of a cluster say about one pod, node or pool.

Decisions keep a few names of many (`deciding.PODS_SHOWN`), and seven days; so silence proves nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from nodewright.application.ports import DecisionRecord

Details = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing that was decided."""

    time: datetime
    kind: str
    """provision, disrupt or retire."""
    told: str


def about_pod(decisions: Iterable[DecisionRecord], name: str) -> tuple[Memory, ...]:
    """`namespace/name`, or the name alone. Newest first, as the decisions are."""

    def tell(details: Details) -> Iterator[str]:
        for launch in _entries(details, "launches"):
            if _names(launch, name):
                yield "; ".join((f"a new node for it: {_launch(launch)}", *_texts(launch, "why")))
        for nomination in _entries(details, "nominations"):
            if _names(nomination, name):
                yield f"goes to node {nomination.get('node')}"
        for waits in _entries(details, "unschedulable"):
            if _names(waits, name):
                yield f"waits: {waits.get('reason')}: {waits.get('message')}"

    return _memories(decisions, tell)


def about_node(decisions: Iterable[DecisionRecord], name: str) -> tuple[Memory, ...]:
    """By the Node's name."""

    def tell(details: Details) -> Iterator[str]:
        for nomination in _entries(details, "nominations"):
            if nomination.get("node") == name:
                yield f"gets {', '.join(_texts(nomination, 'pods'))}"
        blocked = details.get("blocked")
        if isinstance(blocked, Mapping) and name in blocked:
            yield f"is due and stays: {blocked[name]}"
        if details.get("node") == name:
            yield f"is not retired after all: {details.get('reason')}"

    return _memories(decisions, tell)


def about_pool(decisions: Iterable[DecisionRecord], name: str) -> tuple[Memory, ...]:
    """By its name."""

    def tell(details: Details) -> Iterator[str]:
        for launch in _entries(details, "launches"):
            if launch.get("pool") == name:
                yield f"bought {launch.get('nodes')} × {_launch(launch)}"
        yield from _came(details, name)
        for waits in _entries(details, "unschedulable"):
            pods = _texts(waits, "pods")
            for part in str(waits.get("message")).split("; "):
                if part.startswith(f"pool {name}: "):
                    yield f"nothing for {', '.join(pods)}: {part.partition(': ')[2]}"
        for warning in _texts(details, "warnings"):
            if warning.startswith((f"NodePool/{name} ", f"Provisioner/{name} ")):
                yield warning

    return _memories(decisions, tell)


def _memories(decisions: Iterable[DecisionRecord], tell: Callable[[Details], Iterable[str]]) -> tuple[Memory, ...]:
    return tuple(Memory(each.time, each.kind, told) for each in decisions for told in tell(each.details))


def _entries(details: Details, key: str) -> Iterator[Details]:
    found = details.get(key)
    for entry in found if isinstance(found, Sequence) and not isinstance(found, str) else ():
        if isinstance(entry, Mapping):
            yield entry


def _texts(details: Details, key: str) -> list[str]:
    found = details.get(key)
    return [str(each) for each in found] if isinstance(found, Sequence) and not isinstance(found, str) else []


def _names(entry: Details, name: str) -> bool:
    return any(name in {pod, pod.rpartition("/")[2]} for pod in _texts(entry, "pods"))


def _came(details: Details, pool: str) -> Iterator[str]:
    """What EC2 chose from the launches' lists."""
    for each in _entries(details, "bought"):
        if each.get("pool") == pool:
            kind = f"{each.get('instanceType')}, {each.get('capacityType')}, in {each.get('zone')}"
            yield f"came as {each.get('nodes')} × {kind} at {each.get('price')} USD/h"


def _launch(launch: Details) -> str:
    types, zones = _texts(launch, "instanceTypes"), _texts(launch, "zones")
    more = f" (or {len(types) - 1} more)" if len(types) > 1 else ""
    return (
        f"{next(iter(types), '?')}{more} of pool {launch.get('pool')}, {launch.get('capacityType')},"
        f" {launch.get('price')} USD/h in {', '.join(zones)}"
    )
