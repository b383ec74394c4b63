"""refresh, ready to run."""

from dataclasses import dataclass

from nodewright.adapters import aws_clients
from nodewright.adapters.ec2_catalogue import AwsCatalogue
from nodewright.adapters.eks import EksDirectory
from nodewright.adapters.images import AwsImages
from nodewright.adapters.pricing import endpoint_region
from nodewright.application.ports import Ledger, Observer
from nodewright.application.refresh import Refresh
from nodewright.telemetry import Telemetry
from nodewright.wiring.state import base


@dataclass(frozen=True, slots=True)
class RefreshFunction:
    """The use case with its telemetry."""

    use: Refresh
    telemetry: Telemetry


def refresh_function() -> RefreshFunction:
    """Made at cold start."""
    parts = base("refresh")
    return RefreshFunction(refreshing(parts.ledger, parts.observer, parts.settings.region), parts.telemetry)


def refreshing(ledger: Ledger, observer: Observer, region: str) -> Refresh:
    """The use case; connect fills a region's first catalogue with it too."""
    ec2 = aws_clients.ec2(region)
    catalogue = AwsCatalogue(ec2, aws_clients.pricing(endpoint_region(region)), region)
    images = AwsImages(ec2, aws_clients.ssm(region))
    return Refresh(ledger, catalogue, images, EksDirectory(aws_clients.eks(region)), observer)
