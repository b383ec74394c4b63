"""When each duty last looked at a cluster."""

from datetime import datetime

from nodewright.adapters.dynamodb import keys
from nodewright.adapters.dynamodb.items import moment, read_moment
from nodewright.adapters.dynamodb.section import Section
from nodewright.application.errors import ConflictError
from nodewright.application.ports import Duty


class Runs(Section):
    """`RUN#duty` of a cluster; not on PLAN, where writing it would collide with reservations."""

    def last_run(self, cluster: str, duty: Duty) -> datetime | None:
        """When the duty's last snapshot was taken."""
        item = self._table.get(keys.run(cluster, duty))
        return read_moment(item, "taken_at") if item else None

    def set_last_run(self, cluster: str, duty: Duty, snapshot: datetime) -> None:
        """Only ever later: a run that was overtaken doesn't turn it back."""
        try:
            self._table.update(
                keys.run(cluster, duty),
                "attribute_not_exists(taken_at) OR taken_at < :taken",
                {":taken": moment(snapshot)},
                sets="taken_at = :taken",
            )
        except ConflictError:
            return
