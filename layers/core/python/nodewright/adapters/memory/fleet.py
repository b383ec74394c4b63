"""EC2 in memory: buys once per client token, runs out where told to, loses answers where told to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from nodewright.adapters.memory.clock import VirtualClock
from nodewright.application.errors import NotFoundError, RefusedError, UnavailableError
from nodewright.application.ports import (
    FleetAnswer,
    FleetError,
    FleetOverride,
    FleetRequest,
    Instance,
    LaunchTemplateSpec,
)
from nodewright.domain.catalogue import CapacityType
from nodewright.domain.images import USER_DATA_LIMIT_BYTES

STACK_TAG = "nodewright.dev/stack"
LAUNCH_TAG = "nodewright.dev/launch"
CLUSTER_TAG = "eks:eks-cluster-name"

OfferingKey = tuple[str, str, CapacityType]


class Mishap(Enum):
    """What may go wrong with one launch call."""

    THROTTLED = "nothing was bought"
    ANSWER_LOST = "bought, but the answer never arrived"


@dataclass
class InMemoryFleet:
    """`prices` (nanodollars) choose the offering: cheapest first, then the request's own order.

    `room` limits offerings; one that isn't in it has room without end.
    """

    clock: VirtualClock
    stack_id: str
    prices: Mapping[OfferingKey, int] = field(default_factory=dict)
    room: dict[OfferingKey, int] = field(default_factory=dict)
    mishaps: list[Mishap] = field(default_factory=list)
    """Of the next calls, in order."""
    templates: dict[str, LaunchTemplateSpec] = field(default_factory=dict)
    instances: dict[str, Instance] = field(default_factory=dict)
    calls: list[FleetRequest] = field(default_factory=list)
    _answers: dict[str, tuple[FleetRequest, FleetAnswer]] = field(default_factory=dict)

    def ensure_template(self, spec: LaunchTemplateSpec) -> str:
        """Templates with the same content are one."""
        if len(spec.user_data.encode()) > USER_DATA_LIMIT_BYTES:
            raise RefusedError(f"{spec.node_class}: user data is too long, shorten spec.userData")
        for name, known in self.templates.items():
            if known == spec:
                return name
        name = f"nodewright/{len(self.templates):032x}"
        self.templates[name] = spec
        return name

    def launch(self, request: FleetRequest) -> FleetAnswer:
        """Buys; the same request again gets the same answer and buys nothing."""
        self.calls.append(request)
        mishap = self.mishaps.pop(0) if self.mishaps else None
        if mishap is Mishap.THROTTLED:
            raise UnavailableError(f"launch {request.launch_id}: RequestLimitExceeded")
        answer = self._once(request)
        if mishap is Mishap.ANSWER_LOST:
            raise UnavailableError(f"launch {request.launch_id}: read timed out")
        return answer

    def launched(self, launch_id: str) -> tuple[Instance, ...]:
        """Dead ones too."""
        return self._tagged({LAUNCH_TAG: launch_id, STACK_TAG: self.stack_id})

    def ours_among(self, instance_ids: Sequence[str]) -> tuple[Instance, ...]:
        """Dead ones too."""
        return tuple(i for i in self._tagged({STACK_TAG: self.stack_id}) if i.id in instance_ids)

    def ours(self, cluster: str) -> tuple[Instance, ...]:
        """Not terminated."""
        found = self._tagged({STACK_TAG: self.stack_id, CLUSTER_TAG: cluster})
        return tuple(instance for instance in found if instance.state != "terminated")

    def name(self, instance_id: str, tags: Mapping[str, str]) -> None:
        """NotFoundError for a stranger."""
        if instance_id not in self.instances:
            raise NotFoundError(f"tagging instance {instance_id}: InvalidInstanceID.NotFound")
        instance = self.instances[instance_id]
        self.instances[instance_id] = replace(instance, tags={**instance.tags, **tags})

    def terminate(self, instance_ids: Sequence[str]) -> None:
        """At once."""
        for instance_id in instance_ids:
            if instance_id in self.instances:
                self.instances[instance_id] = replace(self.instances[instance_id], state="terminated")

    def _once(self, request: FleetRequest) -> FleetAnswer:
        known = self._answers.get(request.launch_id)
        if known is None:
            known = self._answers[request.launch_id] = (request, self._buy(request))
        if known[0] != request:
            raise RefusedError(f"launch {request.launch_id}: IdempotentParameterMismatch")
        # EC2 repeats which instances it bought; what became of them is seen by describing.
        return replace(known[1], instances=tuple(self.instances[i.id] for i in known[1].instances))

    def _buy(self, request: FleetRequest) -> FleetAnswer:
        if request.capacity_type == "reserved":
            raise RefusedError("capacity reservations can't be launched into yet; leave `reserved` out of the pool")
        missing = [t.template_name for t in request.templates if t.template_name not in self.templates]
        if missing:
            raise RefusedError(f"launch {request.launch_id}: no launch template {', '.join(missing)}")
        bought: list[Instance] = []
        errors: list[FleetError] = []
        for override in self._cheapest_first(request):
            wanted = request.capacity - len(bought)
            taken = min(wanted, self.room.get(_key(override, request), wanted))
            if wanted and taken < wanted:
                errors.append(_insufficient(override, request))
            bought += self._start(override, request, taken)
        return FleetAnswer(tuple(bought), tuple(errors))

    def _cheapest_first(self, request: FleetRequest) -> list[FleetOverride]:
        overrides = [override for template in request.templates for override in template.overrides]
        return sorted(overrides, key=lambda override: self._price(override, request))

    def _price(self, override: FleetOverride, request: FleetRequest) -> int:
        """By which it is chosen."""
        return self.prices.get(_key(override, request), 0) if override.price is None else override.price

    def _start(self, override: FleetOverride, request: FleetRequest, count: int) -> Iterator[Instance]:
        key = _key(override, request)
        if key in self.room:
            self.room[key] -= count
        for _ in range(count):
            number = len(self.instances)
            instance = Instance(
                id=f"i-{number:017x}",
                instance_type=override.instance_type,
                zone=override.zone,
                capacity_type=request.capacity_type,
                state="running",
                image_id=override.image_id,
                launched=self.clock.now(),
                tags={**request.tags, LAUNCH_TAG: request.launch_id},
                private_dns_name=f"ip-10-0-{number // 256}-{number % 256}.ec2.internal",
            )
            self.instances[instance.id] = instance
            yield instance

    def _tagged(self, tags: Mapping[str, str]) -> tuple[Instance, ...]:
        return tuple(
            self.instances[instance_id]
            for instance_id in sorted(self.instances)
            if tags.items() <= self.instances[instance_id].tags.items()
        )


def _key(override: FleetOverride, request: FleetRequest) -> OfferingKey:
    return (override.instance_type, override.zone, request.capacity_type)


def _insufficient(override: FleetOverride, request: FleetRequest) -> FleetError:
    return FleetError(
        code="InsufficientInstanceCapacity",
        message=f"no room for {override.instance_type} in {override.zone}",
        instance_type=override.instance_type,
        zone=override.zone,
        subnet_id=override.subnet_id,
        capacity_type=request.capacity_type,
    )
