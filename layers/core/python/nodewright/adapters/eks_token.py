"""Bearer tokens for EKS: a presigned STS GetCallerIdentity request that EKS sends to STS itself.

The header x-k8s-aws-id is signed too, so a token for one cluster is worth nothing at another.
"""

import base64
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import boto3
from botocore.exceptions import BotoCoreError
from botocore.model import ServiceId
from botocore.signers import RequestSigner

from nodewright.application.errors import RefusedError, UnavailableError

if TYPE_CHECKING:
    from mypy_boto3_sts import STSClient

#: EKS takes a token for about 14 minutes, whatever X-Amz-Expires says.
LIFETIME_SECONDS: Final = 600
_PREFIX: Final = "k8s-aws-v1."
_EXPIRES_SECONDS: Final = 60


@dataclass(slots=True)
class EksTokens:
    """Tokens of our own role, kept while they are good."""

    session: boto3.Session
    region: str
    now: Callable[[], float] = time.time
    """Seconds of the wall clock: a frozen Lambda container's monotonic one may stand still."""
    _client: "STSClient | None" = field(default=None, init=False)
    _tokens: dict[str, tuple[float, str]] = field(default_factory=dict, init=False)

    def __call__(self, cluster: str) -> str:
        """A token for this cluster's API server. RefusedError without credentials."""
        moment = self.now()
        made, token = self._tokens.get(cluster, (0.0, ""))
        if not token or not 0 <= moment - made < LIFETIME_SECONDS:
            token = _PREFIX + base64.urlsafe_b64encode(self._presign(cluster).encode()).decode().rstrip("=")
            self._tokens[cluster] = (moment, token)
        return token

    def _presign(self, cluster: str) -> str:
        """boto3 finds the regional host, partitions and AWS_ENDPOINT_URL included."""
        try:
            client = self._sts()
            url: str = self._signer(client, cluster).generate_presigned_url(
                {
                    "method": "GET",
                    "url": f"{client.meta.endpoint_url.rstrip('/')}/?Action=GetCallerIdentity&Version=2011-06-15",
                    "body": {},
                    "headers": {"x-k8s-aws-id": cluster},
                    "context": {},
                },
                operation_name="",
                region_name=self.region,
                expires_in=_EXPIRES_SECONDS,
            )
            return url  # noqa: TRY300 - an else would only repeat the name
        except BotoCoreError as error:
            raise UnavailableError(f"{cluster}: no token for its API server could be signed: {error}") from error

    def _signer(self, client: "STSClient", cluster: str) -> RequestSigner:
        credentials = self.session.get_credentials()
        if credentials is None:
            raise RefusedError(f"{cluster}: no AWS credentials to sign a token with; choose a profile or assume a role")
        return RequestSigner(ServiceId("sts"), self.region, "sts", "v4", credentials, client.meta.events)

    def _sts(self) -> "STSClient":
        if self._client is None:
            self._client = self.session.client("sts", region_name=self.region)
        return self._client
