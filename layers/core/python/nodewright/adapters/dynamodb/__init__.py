"""The table that holds all state (architecture §4), one file for each kind of item."""

from nodewright.adapters.dynamodb.ledger import DynamoLedger

__all__ = ["DynamoLedger"]
