"""What the use cases need from outside, each need a small protocol.

Adapters implement them (architecture §9); `adapters/memory.py` implements all of them in memory.
Every call may raise UnavailableError, RefusedError, NotFoundError (errors.py) and nothing foreign.
"""

from nodewright.application.ports.catalogues import (
    ClusterDirectory,
    Ec2Catalogue,
    Price,
    RegionCatalogue,
    UnavailableOffering,
)
from nodewright.application.ports.clusters import Cluster, Clusters, ClusterState, ManifestWarning
from nodewright.application.ports.fleets import (
    Fleet,
    FleetAnswer,
    FleetError,
    FleetOverride,
    FleetRequest,
    FleetTemplate,
    Image,
    Images,
    Instance,
    InstanceProfiles,
    LaunchTemplateSpec,
    Networks,
    Subnet,
)
from nodewright.application.ports.ledgers import DecisionRecord, Ledger
from nodewright.application.ports.observers import Observer
from nodewright.application.ports.waking import Clock, Duty, Hints

__all__ = [
    "Clock",
    "Cluster",
    "ClusterDirectory",
    "ClusterState",
    "Clusters",
    "DecisionRecord",
    "Duty",
    "Ec2Catalogue",
    "Fleet",
    "FleetAnswer",
    "FleetError",
    "FleetOverride",
    "FleetRequest",
    "FleetTemplate",
    "Hints",
    "Image",
    "Images",
    "Instance",
    "InstanceProfiles",
    "LaunchTemplateSpec",
    "Ledger",
    "ManifestWarning",
    "Networks",
    "Observer",
    "Price",
    "RegionCatalogue",
    "Subnet",
    "UnavailableOffering",
]
