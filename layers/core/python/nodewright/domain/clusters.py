"""A connected cluster, as the table keeps it."""

import hashlib
from dataclasses import dataclass, field, replace
from datetime import datetime


@dataclass(frozen=True, slots=True)
class ConnectedCluster:
    """One cluster this stack scales."""

    name: str
    endpoint: str
    certificate_authority: str
    """Base64 PEM, as EKS gives it."""
    version: str
    """`1.37`."""
    service_cidr: str
    dns_ip: str
    ip_family: str = "ipv4"
    auth_mode: str = "API"
    token_hashes: tuple[str, ...] = ()
    """SHA-256, hex, of the webhook tokens that are accepted; two while one is rotated."""
    scheduler_names: tuple[str, ...] = ("default-scheduler",)
    paused: bool = False
    limit_usd_per_hour: int | None = None
    """Nanodollars; all nodes of ours together. None: unlimited."""
    launches_per_hour: int = 500
    """CreateFleet calls; beyond, something runs away."""
    unreachable_until: datetime | None = None
    refreshed: datetime | None = field(default=None)

    def with_facts(self, described: "ConnectedCluster") -> "ConnectedCluster":
        """What EKS says of it, with everything that is ours as it was."""
        return replace(
            self,
            endpoint=described.endpoint,
            certificate_authority=described.certificate_authority,
            version=described.version,
            service_cidr=described.service_cidr,
            dns_ip=described.dns_ip,
            ip_family=described.ip_family,
            auth_mode=described.auth_mode,
        )

    def unreachable(self, now: datetime) -> bool:
        """Whether its API server didn't answer lately and is left alone for now."""
        return self.unreachable_until is not None and now < self.unreachable_until


def token_hash(token: str) -> str:
    """What is stored of a webhook token: its SHA-256, hex."""
    return hashlib.sha256(token.encode()).hexdigest()
