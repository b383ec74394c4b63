"""Checks an EKS token the way EKS's own webhook does: a presigned GetCallerIdentity that names the cluster."""

import base64
import binascii
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hmac import compare_digest
from urllib.parse import SplitResult, parse_qs, urlsplit

from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as Keys

from sandbox.aws.credentials import SESSION_NAME, Credentials
from sandbox.aws.eks import AccessEntry, Cluster, Eks, groups_of

PREFIX = "k8s-aws-v1."
# However long the URL itself says it holds.
LIFETIME = timedelta(minutes=15)
CLUSTER_HEADER = "x-k8s-aws-id"
SIGNED_AT = "%Y%m%dT%H%M%SZ"


class Tokens:
    """Says who a token is in a cluster."""

    def __init__(self, credentials: Credentials, eks: Eks, clock: Callable[[], datetime]) -> None:
        self._credentials = credentials
        self._eks = eks
        self._clock = clock

    def verify(self, token: str, cluster: str | None = None) -> tuple[str, tuple[str, ...]] | None:
        """Username and groups, or None for a token that is forged, stale, meant for elsewhere or of no access entry.

        Without a cluster's name any published cluster that the token was signed for will do.
        """
        url = _decoded(token)
        if url is None or not self._fresh(url):
            return None
        for candidate in self._eks.clusters.values():
            if cluster in (None, candidate.name) and self._signed_for(url, candidate):
                return self._identity(url, candidate)
        return None

    def _fresh(self, url: SplitResult) -> bool:
        try:
            signed = datetime.strptime(_parameter(url, "X-Amz-Date"), SIGNED_AT).replace(tzinfo=UTC)
        except ValueError:
            return False
        return signed - LIFETIME <= self._clock() <= signed + LIFETIME

    def _signed_for(self, url: SplitResult, cluster: Cluster) -> bool:
        signed_headers = _parameter(url, "X-Amz-SignedHeaders").split(";")
        if _parameter(url, "Action") != "GetCallerIdentity" or CLUSTER_HEADER not in signed_headers:
            return False
        secret = self._credentials.secret(_access_key(url))
        return secret is not None and compare_digest(
            _signature(url, cluster.name, secret), _parameter(url, "X-Amz-Signature")
        )

    def _identity(self, url: SplitResult, cluster: Cluster) -> tuple[str, tuple[str, ...]] | None:
        role = self._credentials.role(_access_key(url))
        entry = cluster.entries.get(role or "")
        return None if entry is None else (_username(entry), tuple(groups_of(entry)))


def _username(entry: AccessEntry) -> str:
    return entry.username.replace("{{SessionName}}", SESSION_NAME)


def _decoded(token: str) -> SplitResult | None:
    if not token.startswith(PREFIX):
        return None
    encoded = token.removeprefix(PREFIX)
    try:
        return urlsplit(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode())
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None


def _parameter(url: SplitResult, name: str) -> str:
    return parse_qs(url.query).get(name, [""])[0]


def _access_key(url: SplitResult) -> str:
    return _parameter(url, "X-Amz-Credential").partition("/")[0]


def _signature(url: SplitResult, cluster: str, secret: str) -> str:
    """What the signature must be if the URL was signed with this secret for this cluster."""
    _, _, region, service, _ = (_parameter(url, "X-Amz-Credential").split("/") + [""] * 5)[:5]
    unsigned = url.query.partition("&X-Amz-Signature=")[0]
    request = AWSRequest("GET", f"{url.scheme}://{url.netloc}{url.path}?{unsigned}", {CLUSTER_HEADER: cluster})
    request.context["timestamp"] = _parameter(url, "X-Amz-Date")
    signer = SigV4QueryAuth(Keys(_access_key(url), secret), service, region)
    canonical = signer.canonical_request(request)
    return signer.signature(signer.string_to_sign(request, canonical), request)
