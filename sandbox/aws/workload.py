"""What a workload leaves behind in the account, as opposed to what a deployment put there."""

from typing import Any

from moto.dynamodb.models import dynamodb_backends
from moto.ec2.models import ec2_backends

from sandbox.aws.defaults import ACCOUNT

ENDED = "terminated"


class Workload:
    """Instances, volumes, launch templates and table items of one region."""

    def __init__(self, region: str) -> None:
        self._ec2: Any = ec2_backends[ACCOUNT][region]
        self._dynamodb: Any = dynamodb_backends[ACCOUNT][region]

    def remove(self) -> None:
        """Leave nothing of it, and end instances as anybody would, so that listeners hear of it."""
        running = [one.id for one in self._ec2.all_instances() if one.state != ENDED]
        if running:
            self._ec2.terminate_instances(running)
        self._ec2.reservations.clear()
        for template in list(self._ec2.launch_templates):
            self._ec2.delete_launch_template(None, template)
        for table in self._dynamodb.tables.values():
            table.items.clear()
