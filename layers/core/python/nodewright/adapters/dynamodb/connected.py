"""The one read that notify makes, without the rest of the ledger (decision 0006)."""

from dataclasses import dataclass

from nodewright.adapters.aws_errors import outside
from nodewright.adapters.aws_json import JsonService
from nodewright.adapters.dynamodb import keys
from nodewright.adapters.dynamodb.cluster_items import found_cluster
from nodewright.domain.clusters import ConnectedCluster


@dataclass(frozen=True, slots=True)
class ConnectedReader:
    """Implements notify's ConnectedClusters; `service` is DynamoDB."""

    service: JsonService
    table: str

    def cluster(self, name: str) -> ConnectedCluster:
        """One, read consistently: a token that was just made must count. NotFoundError."""
        request = {"TableName": self.table, "Key": keys.cluster(name), "ConsistentRead": True}
        with outside(f"reading {self.table}"):
            item = self.service.call("GetItem", request).get("Item")
        return found_cluster(name, item if isinstance(item, dict) else None)
