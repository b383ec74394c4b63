"""What was decided and why."""

from dataclasses import replace
from datetime import UTC, timedelta

from nodewright.adapters.dynamodb import keys
from nodewright.adapters.dynamodb.items import Item, body, encode, expiry, read_body
from nodewright.adapters.dynamodb.section import Section
from nodewright.application.errors import OutsideError
from nodewright.application.ports import DecisionRecord

KEPT = timedelta(days=7)

#: Of an item's 400 KB; the rest is for keys and attributes.
LARGEST_BODY = 350_000


class Decisions(Section):
    """`DECISION#time#id` of a cluster, removed by time to live after 7 days."""

    def record_decision(self, cluster: str, decision: DecisionRecord) -> None:
        """Keep it. Nothing waits for it, so a table that won't take it is only reported."""
        try:
            self._table.put(_item(cluster, _fitting(decision)))
        except OutsideError as error:
            self._report(f"decision {decision.id} of cluster {cluster} is not kept: {error}")

    def decisions(self, cluster: str, limit: int) -> tuple[DecisionRecord, ...]:
        """Newest first; those that can't be read are left out."""
        items = self._table.latest(keys.of_cluster(cluster), keys.DECISION, limit)
        return tuple(self._readable(items, _read))


def _item(cluster: str, decision: DecisionRecord) -> Item:
    time = decision.time.astimezone(UTC).isoformat(timespec="microseconds")
    return {
        **keys.decision(cluster, time, decision.id),
        "body": body(decision),
        "expires": expiry(decision.time + KEPT),
    }


def _read(item: Item) -> DecisionRecord:
    return read_body(item, DecisionRecord, {"details": {}})


def _fitting(decision: DecisionRecord) -> DecisionRecord:
    """Without its details where they are too long for an item."""
    size = len(encode(decision))
    if size <= LARGEST_BODY:
        return decision
    return replace(decision, details={"omitted": f"{size} bytes of details, more than an item holds"})
