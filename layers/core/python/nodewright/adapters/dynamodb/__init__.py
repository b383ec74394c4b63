"""The table that holds all state (architecture §4), one file for each kind of item; ledger.py puts them together."""
