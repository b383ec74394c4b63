"""What the region has left to sell: unlimited, but for what a test takes away."""

from dataclasses import dataclass, field
from threading import Lock

from sandbox.aws.faults import Faults
from sandbox.aws.protocol import AwsError

ANY = "*"
# Wordings as EC2 gives them.
MESSAGES = {
    "InsufficientInstanceCapacity": "We currently do not have sufficient {type} capacity in the Availability Zone you "
    "requested ({zone}). Our system will be working on provisioning additional capacity.",
    "UnfulfillableCapacity": "Unable to fulfill capacity due to your request configuration. Please adjust your request "
    "and try again.",
    "MaxSpotInstanceCountExceeded": "Max spot instance count exceeded",
    "VcpuLimitExceeded": "You have requested more vCPU capacity than your current vCPU limit allows for the instance "
    "bucket that the specified instance type belongs to.",
}


@dataclass(frozen=True, slots=True)
class Offering:
    """A type in a zone, bought in one of two ways: `spot` or `on-demand`."""

    instance_type: str
    zone: str
    capacity_type: str

    def matches(self, pattern: "Offering") -> bool:
        """Whether a pattern, in which `*` stands for anything, covers this offering."""
        mine = (self.instance_type, self.zone, self.capacity_type)
        theirs = (pattern.instance_type, pattern.zone, pattern.capacity_type)
        return all(other in (ANY, own) for own, other in zip(mine, theirs, strict=True))


@dataclass(slots=True)
class _Limit:
    pattern: Offering
    remaining: int
    code: str


@dataclass(slots=True)
class Capacity:
    """Shortages on demand. Launching uses up what a limit leaves; nothing is given back by terminating."""

    _faults: Faults
    _limits: list[_Limit] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def exhaust(self, instance_type: str = ANY, zone: str = ANY, capacity_type: str = ANY) -> None:
        """No more of it: InsufficientInstanceCapacity."""
        self.limit(instance_type, zone, capacity_type, 0)

    def limit(self, instance_type: str, zone: str, capacity_type: str, n: int) -> None:
        """Only `n` more instances of it, then InsufficientInstanceCapacity."""
        self._add(Offering(instance_type, zone, capacity_type), n, "InsufficientInstanceCapacity")

    def refuse(self, code: str, capacity_type: str = ANY, after: int = 0) -> None:
        """Refuse the account more than `after` instances, with MaxSpotInstanceCountExceeded, VcpuLimitExceeded, …"""
        self._add(Offering(ANY, ANY, capacity_type), after, code)

    def throttle(self, n: int, code: str = "RequestLimitExceeded") -> None:
        """Throttle the next `n` CreateFleet requests, the SDK's own retries included."""
        self._faults.fail("ec2", "CreateFleet", code, times=n)

    def restore(self) -> None:
        """Everything can be had again."""
        with self._lock:
            self._limits.clear()

    def take(self, offering: Offering) -> AwsError | None:
        """Use up one instance's worth; the error says why there is none."""
        with self._lock:
            covering = [limit for limit in self._limits if offering.matches(limit.pattern)]
            for limit in covering:
                if limit.remaining <= 0:
                    return shortage(limit.code, offering)
            for limit in covering:
                limit.remaining -= 1
            return None

    def _add(self, pattern: Offering, remaining: int, code: str) -> None:
        with self._lock:
            self._limits = [one for one in self._limits if (one.pattern, one.code) != (pattern, code)]
            self._limits.append(_Limit(pattern, remaining, code))


def shortage(code: str, offering: Offering) -> AwsError:
    """The error EC2 gives for an offering it can't sell."""
    template = MESSAGES.get(code, f"{code}: asked for by the sandbox")
    return AwsError(code, template.format(type=offering.instance_type, zone=offering.zone))
