"""Word of every instance that changes state: to listeners and, as EC2 does, to the default event bus."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from moto.ec2.models.instances import Instance, InstanceBackend
from moto.events.models import events_backends

from sandbox.aws.defaults import ACCOUNT
from sandbox.aws.patches import Patches

TRANSITIONS = {
    "terminate_instances": ("shutting-down", "terminated"),
    "stop_instances": ("stopping", "stopped"),
    "start_instances": ("pending", "running"),
}


@dataclass(frozen=True, slots=True)
class InstanceChange:
    """An instance has entered a state: pending, running, stopping, stopped, shutting-down or terminated."""

    id: str
    state: str
    region: str
    instance_type: str
    zone: str
    # "spot" or "on-demand".
    lifecycle: str
    subnet_id: str
    image_id: str
    private_ip: str
    private_dns_name: str
    # As cloud-init would read it: base64 taken off.
    user_data: str
    tags: Mapping[str, str]


InstanceListener = Callable[[InstanceChange], None]


class Instances:
    """Announces changes, in the order they happen, in the thread of the request that made them."""

    def __init__(self) -> None:
        self._listeners: list[InstanceListener] = []

    def on_change(self, listener: InstanceListener) -> Callable[[], None]:
        """Call the listener with every change; the result ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def started(self, instances: Iterable[Instance]) -> None:
        """Instances have been launched: they were pending for a moment, and run."""
        self._announce(instances, "pending", "running")

    def install(self, patches: Patches) -> None:
        """Hear of instances that moto ends, stops and starts again."""
        for method, states in TRANSITIONS.items():
            self._follow(patches, method, states)

    def _follow(self, patches: Patches, method: str, states: tuple[str, str]) -> None:
        def following(backend: Any, instance_ids: list[str]) -> list[tuple[Instance, Any]]:
            before = {one.id: one.state for one in backend.all_instances()}
            changed: list[tuple[Instance, Any]] = original(backend, instance_ids)
            self._announce((one for one, _ in changed if before.get(one.id) != states[-1]), *states)
            return changed

        original = patches.replace(InstanceBackend, method, following)

    def _announce(self, instances: Iterable[Instance], *states: str) -> None:
        for instance in instances:
            for state in states:
                _emit(instance, state)
                for listener in list(self._listeners):
                    listener(change(instance, state))


def change(instance: Instance, state: str) -> InstanceChange:
    """An instance as it is now, said to be in a state."""
    return InstanceChange(
        id=instance.id,
        state=state,
        region=instance.region_name,
        instance_type=instance.instance_type,
        zone=str(instance.placement.zone),
        lifecycle=instance.lifecycle or "on-demand",
        subnet_id=str(instance.subnet_id),
        image_id=instance.image_id,
        private_ip=str(instance.private_ip),
        private_dns_name=instance.private_dns_name,
        user_data=instance.user_data.decode() if instance.user_data else "",
        tags={tag["key"]: tag["value"] for tag in instance.get_tags()},
    )


def _emit(instance: Instance, state: str) -> None:
    region = instance.region_name
    event = {
        "Source": "aws.ec2",
        "DetailType": "EC2 Instance State-change Notification",
        "Resources": [f"arn:aws:ec2:{region}:{ACCOUNT}:instance/{instance.id}"],
        "Detail": json.dumps({"instance-id": instance.id, "state": state}),
    }
    events_backends[ACCOUNT][region].put_events([event])
