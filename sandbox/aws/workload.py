"""What a workload leaves behind in the account, as opposed to what a deployment put there."""

from copy import deepcopy
from typing import Any

from moto.dynamodb.models import dynamodb_backends
from moto.ec2.models import ec2_backends

from sandbox.aws.defaults import ACCOUNT

ENDED = "terminated"

# Table → moto's items, by their keys.
Items = dict[str, dict[Any, Any]]


class Workload:
    """Instances, volumes, launch templates and table items of one region."""

    def __init__(self, region: str) -> None:
        self._ec2: Any = ec2_backends[ACCOUNT][region]
        self._dynamodb: Any = dynamodb_backends[ACCOUNT][region]

    def items(self) -> Items:
        """What the tables hold now."""
        return {name: deepcopy(dict(table.items)) for name, table in self._dynamodb.tables.items()}

    def remove(self, kept: Items, *, templates: bool) -> None:
        """Leave nothing of it but these items, and end instances as anybody would, so that listeners hear of it."""
        running = [one.id for one in self._ec2.all_instances() if one.state != ENDED]
        if running:
            self._ec2.terminate_instances(running)
        self._ec2.reservations.clear()
        for template in list(self._ec2.launch_templates) if templates else []:
            self._ec2.delete_launch_template(None, template)
        for name, table in self._dynamodb.tables.items():
            table.items.clear()
            table.items.update(deepcopy(kept.get(name, {})))
