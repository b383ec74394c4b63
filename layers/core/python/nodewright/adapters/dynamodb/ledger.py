"""The Ledger port on DynamoDB: all sections over one table."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from nodewright.adapters.dynamodb.catalogue import Catalogue
from nodewright.adapters.dynamodb.claims import Claims
from nodewright.adapters.dynamodb.clusters import Clusters
from nodewright.adapters.dynamodb.decisions import Decisions
from nodewright.adapters.dynamodb.offerings import Offerings
from nodewright.adapters.dynamodb.retirements import Retirements
from nodewright.adapters.dynamodb.runs import Runs
from nodewright.adapters.dynamodb.shapes_aside import ShapesAside
from nodewright.adapters.dynamodb.table import Table
from nodewright.application.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoLedger(Catalogue, Claims, Clusters, Decisions, Offerings, Retirements, Runs, ShapesAside):
    """Everything that must be remembered.

    `report` hears of items that can't be read and of decisions that aren't kept.
    """

    def __init__(
        self, client: "DynamoDBClient", table: str, *, region: str, clock: Clock, report: Callable[[str], None]
    ) -> None:
        super().__init__(Table(client, table, clock), region, clock, report)
