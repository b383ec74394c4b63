"""One pod and the nodes that are there: which of them fall to which rule."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from nodewright.domain.host_ports import conflicts
from nodewright.domain.pods import Pod
from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirements
from nodewright.domain.scheduling.arrays import Bools
from nodewright.domain.scheduling.company import Company
from nodewright.domain.scheduling.explanations import Rule
from nodewright.domain.scheduling.sieves import Stage, Tell, nothing
from nodewright.domain.snapshot import Room
from nodewright.domain.taints import untolerated

_SHOWN = 3


def room_stages(rooms: Sequence[Room], free: Sequence[Resources], pod: Pod, company: Company) -> Iterator[Stage]:
    """Every rule in turn; `free` is what the plan's other pods leave of each."""
    told = [_Told(room, left, pod, company) for room, left in zip(rooms, free, strict=True)]
    for rule in _RULES:
        objections = [each(rule) for each in told]
        keeps = np.array([not objection for objection in objections], dtype=np.bool_)
        nearest = _smallest_gap(rooms, free, pod) if rule is Rule.SIZE else nothing
        yield Stage(rule, keeps, _some(rooms, objections), nearest)


def objection(room: Room, free: Resources, pod: Pod, company: Company) -> tuple[Rule, str] | None:
    """The first rule that keeps a pod off one node, and what it says."""
    told = _Told(room, free, pod, company)
    return next(((rule, why) for rule in _RULES if (why := told(rule))), None)


_RULES: Final = (
    Rule.TAINTS,
    Rule.LABELS,
    Rule.VOLUMES,
    Rule.SIZE,
    Rule.ATTACHMENTS,
    Rule.HOST_PORTS,
    Rule.COMPANY,
)


class _Told:
    """What a rule has against a pod on one node; empty where nothing."""

    def __init__(self, room: Room, free: Resources, pod: Pod, company: Company) -> None:
        self._room = room
        self._free = free
        self._pod = pod
        self._company = company

    def __call__(self, rule: Rule) -> str:
        room, pod = self._room, self._pod
        if rule is Rule.TAINTS:
            return ", ".join(map(str, untolerated(pod.tolerations, room.taints)))
        if rule is Rule.LABELS:
            return "" if any(each.admits(room.labels) for each in pod.alternatives) else self._labels()
        if rule is Rule.VOLUMES:
            return "" if any(each.admits(room.labels) for each in pod.volume_nodes) else "its volumes are elsewhere"
        if rule is Rule.SIZE:
            short = pod.requests.short(self._free)
            return f"{short} short" if short else ""
        return self._more(rule)

    def _more(self, rule: Rule) -> str:
        room, pod = self._room, self._pod
        if rule is Rule.ATTACHMENTS:
            return self._attachments()
        if rule is Rule.HOST_PORTS:
            clash = next(conflicts(pod.host_ports, room.host_ports), None)
            return f"hostPort {clash[0]} is taken" if clash else ""
        return str(self._company.objection(room.labels) or "")

    def _labels(self) -> str:
        labels = self._room.labels
        failed = ([r for r in each.values() if not Requirements([r]).admits(labels)] for each in self._pod.alternatives)
        return " or ".join(", ".join(map(str, each)) for each in failed) or "its terms match no node"

    def _attachments(self) -> str:
        attached = self._room.all_attached | self._pod.attachments
        for driver, most in self._room.attachable.items():
            count = sum(each.driver == driver for each in attached)
            if count > most and any(each.driver == driver for each in self._pod.attachments):
                return f"{count} volumes of at most {most}"
        return ""


def _some(rooms: Sequence[Room], objections: Sequence[str]) -> Tell:
    """The objections of those that were left, some by name."""

    def tell(rows: Bools) -> str:
        said = [(rooms[row].name, objections[row]) for row in np.flatnonzero(rows).tolist() if objections[row]]
        more = len(said) - _SHOWN
        return "; ".join(f"{name}: {why}" for name, why in said[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")

    return tell


def _smallest_gap(rooms: Sequence[Room], free: Sequence[Resources], pod: Pod) -> Tell:
    """The node that lacks least, relative to what is asked for."""

    def gap(row: int) -> float:
        short = pod.requests.short(free[row])
        return sum(amount / pod.requests.get(name) for name, amount in short.items())

    def tell(rows: Bools) -> str:
        row = min(np.flatnonzero(rows).tolist(), key=lambda each: (gap(each), rooms[each].name))
        return f"{rooms[row].name} lacks {pod.requests.short(free[row])}"

    return tell
