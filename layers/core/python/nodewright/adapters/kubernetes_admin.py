"""A cluster with the rights of whoever connects it: kubectl's own kubeconfig, or the caller's AWS identity."""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

import msgspec
from kubernetes.client.configuration import Configuration
from kubernetes.client.exceptions import ApiException
from kubernetes.client.rest import RESTClientObject
from urllib3.exceptions import HTTPError

from nodewright.adapters.kubeconfig import bearer, read_kubeconfig
from nodewright.adapters.kubernetes_nodes import FINALIZER
from nodewright.application.connecting import Manifest
from nodewright.application.errors import NotFoundError, RefusedError, UnavailableError

FIELD_MANAGER: Final = "nodewright"
JSON: Final = "application/json"
_TIMEOUT: Final = (5, 30)

#: What an installation consists of; all of it cluster-scoped.
_PATHS: Final[Mapping[str, str]] = {
    "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "ValidatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
}


class KubernetesAdministrator:
    """Implements the Administrator port."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._rest = RESTClientObject(configuration)

    @classmethod
    def of_kubeconfig(cls, path: Path) -> "KubernetesAdministrator":
        """By the kubeconfig's current context. RefusedError when it can't be read."""
        return cls(read_kubeconfig(path))

    @classmethod
    def of_identity(
        cls, endpoint: str, certificate_authority: str, token: Callable[[], str]
    ) -> "KubernetesAdministrator":
        """By an EKS token of the caller's AWS identity, which needs an access entry with admin rights."""
        configuration = Configuration(host=endpoint)
        configuration.ca_cert_data = base64.b64decode(certificate_authority).decode()
        configuration.api_key["authorization"] = f"Bearer {token()}"
        return cls(configuration)

    def apply(self, manifest: Manifest) -> None:
        """Server-side apply; fields somebody else manages are taken over, they are ours to say."""
        query = urlencode({"fieldManager": FIELD_MANAGER, "force": "true"})
        self._call("PATCH", f"{_path(manifest)}?{query}", manifest, "application/apply-patch+yaml")

    def exists(self, manifest: Manifest) -> bool:
        """Whether it is there."""
        try:
            self._call("GET", _path(manifest))
        except NotFoundError:
            return False
        return True

    def delete(self, manifest: Manifest) -> None:
        """Nothing where it isn't there."""
        try:
            self._call("DELETE", _path(manifest))
        except NotFoundError:
            return

    def release_node(self, name: str) -> None:
        """Take our finalizer off, by its place in the list; refused if somebody moves it at this moment."""
        path = f"/api/v1/nodes/{quote(name, safe='')}"
        try:
            node = msgspec.json.decode(self._call("GET", path), type=_Node)
            if FINALIZER in node.metadata.finalizers:
                at = f"/metadata/finalizers/{node.metadata.finalizers.index(FINALIZER)}"
                # A list: the client takes anything else for another kind of patch.
                change = [{"op": "test", "path": at, "value": FINALIZER}, {"op": "remove", "path": at}]
                self._call("PATCH", path, change, "application/json-patch+json")
        except NotFoundError:
            return

    def _call(
        self,
        method: str,
        path: str,
        body: Manifest | Sequence[Manifest] | None = None,
        content_type: str = "application/json",
    ) -> bytes:
        headers = {"Accept": JSON, "Content-Type": content_type}
        authorization = bearer(self._configuration)
        if authorization:
            headers["Authorization"] = authorization
        url = f"{self._configuration.host}{path}"
        try:
            response = self._rest.request(  # type: ignore[no-untyped-call]
                method, url, headers=headers, body=body, _request_timeout=_TIMEOUT
            )
            answer: bytes = response.read()
        except (HTTPError, ApiException) as error:
            raise UnavailableError(f"{self._configuration.host} doesn't answer: {error}") from error
        if response.status >= 400:
            raise _failure(f"{method} {path.partition('?')[0]}", response.status, answer)
        return answer


class _Metadata(msgspec.Struct):
    finalizers: tuple[str, ...] = ()


class _Node(msgspec.Struct):
    metadata: _Metadata


def _path(manifest: Manifest) -> str:
    metadata = manifest["metadata"]
    name = metadata["name"] if isinstance(metadata, Mapping) else ""
    return f"{_PATHS[str(manifest['kind'])]}/{quote(str(name))}"


def _failure(call: str, status: int, answer: bytes) -> Exception:
    message = f"{call}: {status} {_message(answer)}"
    if status == 404:
        return NotFoundError(message)
    if status in {401, 403}:
        return RefusedError(f"{message}; connect with a kubeconfig or identity that administers the cluster")
    return UnavailableError(message) if status == 429 or status >= 500 else RefusedError(message)


def _message(answer: bytes) -> str:
    try:
        return str(json.loads(answer)["message"])
    except (ValueError, KeyError, TypeError):
        return answer[:200].decode(errors="replace")
