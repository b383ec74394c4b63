"""One Kubernetes API server over HTTPS: JSON in, bytes out, failures in the application's words.

Of the kubernetes package only the REST client is used: its models take longer to build than a large
list takes to decode (architecture §12).
"""

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Final, TypeVar
from urllib.parse import urlencode

import msgspec
from kubernetes.client.configuration import Configuration
from kubernetes.client.exceptions import ApiException
from kubernetes.client.rest import RESTClientObject
from urllib3.exceptions import HTTPError

from nodewright.application.errors import (
    ConflictError,
    NotFoundError,
    OutsideError,
    RefusedError,
    UnavailableError,
    UnreachableError,
)

T = TypeVar("T")

JSON: Final = "application/json"
MERGE_PATCH: Final = "application/merge-patch+json"

#: A cluster that doesn't answer must not delay another (architecture §2).
CONNECT_SECONDS: Final = 3
READ_SECONDS: Final = 20


class ForbiddenError(RefusedError):
    """403: whoever we are to the cluster may not do this."""


class TooManyRequestsError(UnavailableError):
    """429: a budget that an eviction would break, or a busy API server."""


class ListExpiredError(UnavailableError):
    """410 Gone: the continue token of a list is too old, so the list must start again."""


class KubernetesApi:
    """Calls one API server. Connections are kept; none is made before the first call."""

    def __init__(self, cluster: str, configuration: Configuration, authorization: Callable[[], str]) -> None:
        """`authorization`: the header of that name; empty where a certificate says who calls."""
        self.cluster = cluster
        self._endpoint = configuration.host.rstrip("/")
        self._authorization = authorization
        self._rest = RESTClientObject(configuration)

    @classmethod
    def of_token(
        cls, cluster: str, endpoint: str, certificate_authority: str, token: Callable[[], str]
    ) -> "KubernetesApi":
        """`certificate_authority`: base64 of PEM, as EKS gives it; where it is empty the system's own count."""
        configuration = Configuration(host=endpoint, retries=False)
        configuration.ca_cert_data = _pem(cluster, certificate_authority)
        return cls(cluster, configuration, lambda: f"Bearer {token()}")

    def get(self, path: str, query: Mapping[str, str] | None = None) -> bytes:
        """The answer's body."""
        return self._call("GET", path, query)

    def read(self, path: str, kind: type[T]) -> T:
        """One object, of it the fields that `kind` has."""
        return self.decoded(path, self.get(path), msgspec.json.Decoder(kind).decode)

    def decoded(self, path: str, body: bytes, decode: Callable[[bytes], T]) -> T:
        """A body read; what isn't a Kubernetes object came from something in between, so later may be better."""
        try:
            return decode(body)
        except msgspec.DecodeError as error:
            raise UnavailableError(f"{self.cluster}: GET {path} brought no Kubernetes object: {error}") from error

    def post(self, path: str, body: Mapping[str, object]) -> bytes:
        """Create. ConflictError when it is there already."""
        return self._call("POST", path, body=body, content_type=JSON)

    def patch(self, path: str, body: Mapping[str, object]) -> bytes:
        """Merge a change. With a resourceVersion in it: ConflictError when somebody else was first."""
        return self._call("PATCH", path, body=body, content_type=MERGE_PATCH)

    def put(self, path: str, body: Mapping[str, object]) -> bytes:
        """Replace. ConflictError when its resourceVersion is not the current one."""
        return self._call("PUT", path, body=body, content_type=JSON)

    def delete(self, path: str, options: Mapping[str, object] | None = None) -> bytes:
        """Delete. NotFoundError when it isn't there; ConflictError when a precondition of the options doesn't hold."""
        return self._call("DELETE", path, body=options, content_type=JSON if options else "")

    def close(self) -> None:
        """Give the connections back."""
        self._rest.close()

    def _call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, object] | None = None,
        content_type: str = "",
    ) -> bytes:
        url = f"{self._endpoint}{path}?{urlencode(query)}" if query else f"{self._endpoint}{path}"
        headers = {"Accept": JSON, "User-Agent": "nodewright"}
        authorization = self._authorization()
        if authorization:
            headers["Authorization"] = authorization
        if content_type:
            headers["Content-Type"] = content_type
        try:
            response = self._rest.request(  # type: ignore[no-untyped-call]
                method, url, headers=headers, body=body, _request_timeout=(CONNECT_SECONDS, READ_SECONDS)
            )
            answer: bytes = response.read()
        except (HTTPError, ApiException) as error:
            raise self._unreachable(error) from error
        if response.status >= 400:
            raise self._failure(f"{method} {path}", response.status, answer)
        return answer

    def _unreachable(self, error: HTTPError | ApiException) -> OutsideError:
        """No answer. A certificate that doesn't verify won't do so later either."""
        text = str(error)
        if "certificate verify failed" in text.lower():
            return RefusedError(
                f"{self.cluster}: the certificate of {self._endpoint} is not signed by the authority we know; "
                f"run `nodewright connect {self.cluster}` to learn the current one"
            )
        return UnreachableError(f"{self.cluster}: {self._endpoint} doesn't answer: {text}")

    def _failure(self, call: str, status: int, answer: bytes) -> OutsideError:
        message = f"{self.cluster}: {call}: {status} {_message(answer)}"
        if status in {401, 403}:
            error = RefusedError if status == 401 else ForbiddenError
            return error(f"{message}; run `nodewright doctor {self.cluster}` to see which access is missing")
        return _ERRORS.get(status, UnavailableError if status >= 500 else RefusedError)(message)


_ERRORS: Final[Mapping[int, type[OutsideError]]] = {
    404: NotFoundError,
    409: ConflictError,
    410: ListExpiredError,
    429: TooManyRequestsError,
}


class _Status(msgspec.Struct):
    message: str | None = None


def _message(answer: bytes) -> str:
    """The API server's own words, where it is one that answered."""
    try:
        message = msgspec.json.decode(answer, type=_Status).message
    except msgspec.DecodeError:
        message = None
    return message or answer[:200].decode(errors="replace")


def _pem(cluster: str, certificate_authority: str) -> str | None:
    if not certificate_authority:
        return None
    try:
        return base64.b64decode(certificate_authority, validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise RefusedError(
            f"{cluster}: its certificate authority is not base64 of PEM; run `nodewright connect {cluster}` again"
        ) from error
