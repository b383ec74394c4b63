"""What a CapacityBuffer's status says: whether it could be read, and whether there is room for its units.

Types and reasons of the conditions are Karpenter's (1.14), the fields SIG Autoscaling's (autoscaling.x-k8s.io).
"""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from nodewright.domain.headroom import buffer_of
from nodewright.domain.plans import Foresight
from nodewright.domain.pods import PodKey

READY: Final = "ReadyForProvisioning"
PROVISIONING: Final = "Provisioning"
#: Ours alone: marks of what we said last, by which we know it though another autoscaler has written over it.
TOLD: Final = "nodewright.dev/Told"
#: Why a buffer is ready; any other reason says why it isn't.
RESOLVED: Final = "Resolved"
_MARKS: Final = re.compile(r"(\w+)=(\w+)")


@dataclass(frozen=True, slots=True)
class Condition:
    """One of a status; `generation` is that of the object it was said of."""

    type: str
    status: str
    """True | False | Unknown."""
    reason: str
    message: str
    since: datetime
    generation: int | None = None


@dataclass(frozen=True, slots=True)
class BufferStatus:
    """A whole status, conditions of others included."""

    conditions: tuple[Condition, ...] = ()
    replicas: int | None = None
    """Units that are wanted."""
    template: str = ""
    """The PodTemplate, where the buffer refers to one."""
    template_generation: int | None = None
    strategy: str = ""

    def condition(self, kind: str) -> Condition | None:
        """The one of this type."""
        return next((each for each in self.conditions if each.type == kind), None)

    def says(self, kind: str) -> bool:
        """Whether it is True."""
        found = self.condition(kind)
        return found is not None and found.status == "True"


@dataclass(frozen=True, slots=True)
class BufferReading:
    """What came of reading a buffer that is ours to carry out."""

    key: PodKey
    generation: int
    version: str
    """resourceVersion of what was read."""
    reason: str
    message: str
    wanted: BufferStatus
    """But for conditions."""
    told: BufferStatus
    """What its status says so far."""

    @property
    def ready(self) -> bool:
        """Whether its units can be planned."""
        return self.reason == RESOLVED


@dataclass(frozen=True, slots=True)
class UnitRoom:
    """Of how many of its units what is known."""

    there: int = 0
    """They fit on nodes that are ready."""
    left: int = 0
    """No node is bought for them."""
    why: str = ""


def unit_rooms(headroom: Foresight, ready: Collection[str]) -> Mapping[PodKey, UnitRoom]:
    """By buffer; `ready` are nodes that pods can run on now, unlike those on their way."""
    sent = (unit for each in headroom.nominations if each.node in ready for unit in each.pods)
    there = Counter(map(buffer_of, sent))
    left = Counter(buffer_of(each.pod) for each in headroom.left)
    why = {buffer_of(each.pod): f"{each.reason}: {each.message}" for each in reversed(headroom.left)}
    return {key: UnitRoom(there[key], left[key], why.get(key, "")) for key in {*there, *left}}


def status_of(reading: BufferReading, room: UnitRoom | None, now: datetime) -> BufferStatus:
    """What its status should say. Without `room` it isn't known what becomes of its units: that stays as it was told.

    It is what is told already until we have something else to say than we said last. So who writes over it, as
    Karpenter and cluster-autoscaler do whenever it isn't theirs, has the last word until then, and nobody is fought.
    """
    ready = _said(reading, READY, "True" if reading.ready else "False", reading.reason, reading.message, now)
    provisioning = _provisioning(reading, room, now)
    ours = {each.type: each for each in (ready, provisioning) if each is not None}
    before = _marks(reading.told)
    marks = {**before, **{kind: _mark(each, reading.wanted) for kind, each in ours.items()}}
    if marks == before:
        return reading.told
    listed = ", ".join(f"{kind}={mark}" for kind, mark in sorted(marks.items()))
    mark = _said(reading, TOLD, "True", "Told", f"said last by Nodewright: {listed}", now)
    kept = tuple(ours.pop(each.type, each) for each in reading.told.conditions if each.type != TOLD)
    return replace(reading.wanted, conditions=(*kept, *ours.values(), mark))


def _provisioning(reading: BufferReading, room: UnitRoom | None, now: datetime) -> Condition | None:
    units = reading.wanted.replicas or 0
    if not reading.ready:
        return _said(reading, PROVISIONING, "False", "NotReadyForProvisioning", "the buffer can't be read", now)
    if not units:
        return _said(reading, PROVISIONING, "False", "BufferEmpty", "the buffer wants no units", now)
    if room is None:
        return None
    if room.there >= units:
        message = f"all units ({units}) fit on nodes that are there"
        return _said(reading, PROVISIONING, "True", "FitsExistingCapacity", message, now)
    return _said(reading, PROVISIONING, "False", "RequiresNewCapacity", _short(units, room), now)


def _short(units: int, room: UnitRoom) -> str:
    coming = units - room.there - room.left
    parts = [f"{room.there} of {units} units fit on nodes that are there"]
    parts += [f"{coming} on nodes that are coming"] if coming > 0 else []
    parts += [f"nothing is bought for {room.left}: {room.why}"] if room.left else []
    return ", ".join(parts)


def _said(reading: BufferReading, kind: str, status: str, reason: str, message: str, now: datetime) -> Condition:
    told = reading.told.condition(kind)
    since = told.since if told is not None and told.status == status else now.replace(microsecond=0)
    return Condition(kind, status, reason, message, since, reading.generation)


def _mark(condition: Condition, wanted: BufferStatus) -> str:
    """The same for what means the same: since when doesn't count."""
    meant = (condition.status, condition.reason, condition.message, condition.generation, wanted)
    return hashlib.sha256(repr(meant).encode()).hexdigest()[:12]


def _marks(told: BufferStatus) -> Mapping[str, str]:
    """By type of the condition that they are of."""
    found = told.condition(TOLD)
    return {} if found is None else dict(_MARKS.findall(found.message))
