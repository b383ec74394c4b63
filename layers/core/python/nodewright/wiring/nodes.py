"""What provision and reconcile share: the market, the launcher, the clusters."""

import secrets
from dataclasses import dataclass
from datetime import timedelta

import boto3

from nodewright.adapters import aws_clients
from nodewright.adapters.ec2 import Ec2Fleet
from nodewright.adapters.eks_token import EksTokens
from nodewright.adapters.images import AwsImages
from nodewright.adapters.kubernetes import KubernetesClusters
from nodewright.adapters.networks import Ec2Networks
from nodewright.adapters.profiles import IamInstanceProfiles
from nodewright.application.launching import Launcher
from nodewright.application.node_class_resolution import NodeClassResolver
from nodewright.application.pool_options import MarketReader
from nodewright.wiring.state import Base


@dataclass(frozen=True, slots=True)
class Buying:
    """Made once per container."""

    fleet: Ec2Fleet
    clusters: KubernetesClusters
    market: MarketReader
    launcher: Launcher


def buying(parts: Base) -> Buying:
    """For a function that may buy nodes."""
    settings = parts.settings
    ec2 = aws_clients.ec2(settings.region)
    fleet = Ec2Fleet(ec2, settings.stack_id)
    resolver = NodeClassResolver(
        Ec2Networks(ec2),
        AwsImages(ec2, aws_clients.ssm(settings.region)),
        IamInstanceProfiles(aws_clients.iam(settings.region), settings.stack_id, settings.region),
        settings.node_instance_profile,
    )
    lease = timedelta(seconds=settings.function_timeout_seconds)
    launcher = Launcher(parts.ledger, fleet, parts.observer, parts.clock, lambda: secrets.token_hex(8), lease)
    clusters = KubernetesClusters(EksTokens(boto3.Session(), settings.region))
    return Buying(fleet, clusters, MarketReader(parts.ledger, resolver), launcher)
