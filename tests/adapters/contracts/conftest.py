import pytest

from nodewright.adapters.dynamodb.ledger import DynamoLedger
from nodewright.adapters.memory import InMemoryLedger, VirtualClock
from nodewright.application.retirement_ports import NodeLedger
from tests.adapters.builders import NOW
from tests.adapters.tables import TABLE, make_table


@pytest.fixture(params=["memory", "dynamodb"])
def ledger(request: pytest.FixtureRequest) -> NodeLedger:
    """The table and its twin in memory."""
    if request.param == "memory":
        return InMemoryLedger()
    region = request.getfixturevalue("aws")
    return DynamoLedger(make_table(region), TABLE, region=region, clock=VirtualClock(NOW), report=pytest.fail)
