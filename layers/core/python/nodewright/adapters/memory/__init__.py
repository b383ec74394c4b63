"""Every port in memory, with virtual time: for tests, `nodewright simulate`, crash and chaos runs.

They keep the same laws as the adapters for AWS; tests/adapters/contracts runs both through one suite.
"""

from nodewright.adapters.memory.catalogue import InMemoryDirectory, InMemoryEc2Catalogue
from nodewright.adapters.memory.clock import VirtualClock
from nodewright.adapters.memory.cluster import InMemoryCluster, InMemoryClusters, RecordedEvent
from nodewright.adapters.memory.departures import Budget
from nodewright.adapters.memory.fleet import InMemoryFleet, Mishap
from nodewright.adapters.memory.hints import Hint, RecordedHints
from nodewright.adapters.memory.images import InMemoryImages, OwnedImage
from nodewright.adapters.memory.ledger import InMemoryLedger
from nodewright.adapters.memory.networks import InMemoryNetworks, SecurityGroup
from nodewright.adapters.memory.observer import RecordingObserver
from nodewright.adapters.memory.profiles import InMemoryInstanceProfiles
from nodewright.adapters.memory.retire_queue import InMemoryRetireQueue

__all__ = [
    "Budget",
    "Hint",
    "InMemoryCluster",
    "InMemoryClusters",
    "InMemoryDirectory",
    "InMemoryEc2Catalogue",
    "InMemoryFleet",
    "InMemoryImages",
    "InMemoryInstanceProfiles",
    "InMemoryLedger",
    "InMemoryNetworks",
    "InMemoryRetireQueue",
    "Mishap",
    "OwnedImage",
    "RecordedEvent",
    "RecordedHints",
    "RecordingObserver",
    "SecurityGroup",
    "VirtualClock",
]
