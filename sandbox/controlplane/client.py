"""A small client for the Kubernetes API: what tests, the node agent and the demo need, with nothing modelled.

An object is the JSON the API server speaks. Resources are found from apiVersion and kind by discovery, so anything the
cluster serves can be applied, custom resources included.
"""

import json
import ssl
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import partial
from typing import Any, Self, TypeVar
from urllib.parse import urlencode

import urllib3
import yaml

from sandbox.controlplane.resources import Resource, read_discovery, read_group_version

# Whatever the cluster serves: its shape is known to the API server, not to a type checker.
Object = dict[str, Any]
T = TypeVar("T")

MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
# 429: the API server is busy, or starts a new CRD's storage ("storage is (re)initializing").
_BUSY_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8)
# The API server is on this machine: where it takes long to shake hands it is busy, and where it isn't there we are
# told so at once.
_CONNECT_SECONDS = 60.0
_TIMEOUT = urllib3.Timeout(connect=_CONNECT_SECONDS, read=60.0)


class ApiError(Exception):
    """The API server refused: its HTTP status, its reason (`AlreadyExists`, `Invalid`, …) and its words."""

    def __init__(self, call: str, status: int, reason: str, message: str) -> None:
        super().__init__(f"{call}: {status} {reason}: {message}")
        self.status = status
        self.reason = reason


class NotFoundError(ApiError):
    """The object, or its kind, isn't there."""


class ConflictError(ApiError):
    """Somebody else changed the object, or it exists already."""


class Client:
    """Calls one API server, as the user that its TLS context or bearer token stands for. Safe to share by threads."""

    def __init__(self, url: str, tls: ssl.SSLContext, token: str | None = None, field_manager: str = "sandbox") -> None:
        self.url = url
        self.field_manager = field_manager
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._pool = urllib3.PoolManager(
            maxsize=16, ssl_context=tls, retries=urllib3.Retry(0, redirect=0), timeout=_TIMEOUT
        )
        self._found: dict[tuple[str, str], Resource] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back."""
        self._pool.clear()

    def version(self) -> str:
        """The API server's release, such as v1.37.2."""
        return str(self.request("GET", "/version")["gitVersion"])

    def apply(self, *manifests: str | Object, namespace: str = "default") -> list[Object]:
        """Server-side apply of objects and of YAML with any number of documents, in order.

        The namespace is for namespaced objects that name none. A CRD is waited for until its resources are served,
        so that a later document may use them.
        """
        applied = []
        for manifest in _documents(manifests):
            resource, name, where = self._place(manifest, namespace)
            query = {"fieldManager": self.field_manager, "force": "true"}
            applied.append(self.request("PATCH", resource.path(where, name), manifest, query, APPLY))
            if manifest["kind"] == "CustomResourceDefinition":
                self._wait_served(manifest)
        return applied

    def create(self, manifest: Object, namespace: str = "default") -> Object:
        """Create one object; `metadata.generateName` may stand for its name."""
        resource, _, where = self._place(manifest, namespace)
        return self.request("POST", resource.path(where), manifest, {"fieldManager": self.field_manager})

    def replace(self, manifest: Object, subresource: str = "", namespace: str = "default") -> Object:
        """Replace one object; with a resourceVersion in it, only if nobody changed it since."""
        resource, name, where = self._place(manifest, namespace)
        return self.request("PUT", resource.path(where, name, subresource), manifest)

    def get(self, api_version: str, kind: str, name: str, namespace: str = "default") -> Object:
        """One object; raises NotFoundError."""
        return self.request("GET", self.resource(api_version, kind).path(namespace, name))

    def find(self, api_version: str, kind: str, name: str, namespace: str = "default") -> Object | None:
        """One object, None where there is none."""
        try:
            return self.get(api_version, kind, name, namespace)
        except NotFoundError:
            return None

    def objects(
        self, api_version: str, kind: str, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> list[Object]:
        """All objects of a kind, of one namespace or of all; selectors as kubectl writes them."""
        query = _selectors(labels, fields)
        items = self.request("GET", self.resource(api_version, kind).path(namespace), query=query)["items"] or ()
        # Items of a list don't say what they are.
        return [{"apiVersion": api_version, "kind": kind, **item} for item in items]

    def patch(
        self,
        api_version: str,
        kind: str,
        name: str,
        patch: Object | list[Object],
        namespace: str = "default",
        *,
        subresource: str = "",
        content_type: str = MERGE,
    ) -> Object:
        """Change one object, or its `status`, by a patch."""
        path = self.resource(api_version, kind).path(namespace, name, subresource)
        return self.request("PATCH", path, patch, {"fieldManager": self.field_manager}, content_type)

    def delete(
        self, api_version: str, kind: str, name: str, namespace: str = "default", *, grace_seconds: int | None = None
    ) -> None:
        """Delete one object; its dependents follow in the background. One that isn't there is as good as deleted."""
        options = {"propagationPolicy": "Background", "gracePeriodSeconds": grace_seconds}
        path = self.resource(api_version, kind).path(namespace, name)
        try:
            self.request("DELETE", path, {key: value for key, value in options.items() if value is not None})
        except NotFoundError:
            return

    def watch(
        self,
        api_version: str,
        kind: str,
        namespace: str | None = None,
        *,
        labels: str = "",
        fields: str = "",
        resource_version: str = "",
        seconds: int = 300,
    ) -> Generator[tuple[str, Object], None, None]:
        """(`ADDED` | `MODIFIED` | `DELETED`, object) as they happen, until `seconds` are over.

        Close it, or use it up, to end its connection. Without a resourceVersion it begins with an ADDED for each object
        that is there.
        """
        query = _selectors(labels, fields) | {"watch": "1", "timeoutSeconds": str(seconds)}
        query |= {"resourceVersion": resource_version} if resource_version else {}
        path = self.resource(api_version, kind).path(namespace)
        yield from self._stream(path, query, seconds)

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
        accept: str = "application/json",
    ) -> Object:
        """Any call, by path; raises ApiError for every status from 400 on."""
        headers = {**self._headers, "Content-Type": content_type, "Accept": accept}
        encoded = None if body is None else json.dumps(body).encode()
        response = self._pool.request(method, self._target(path, query), body=encoded, headers=headers)
        for pause in _BUSY_PAUSES:
            if response.status != 429:
                break
            time.sleep(pause)
            response = self._pool.request(method, self._target(path, query), body=encoded, headers=headers)
        if response.status >= 400:
            raise _error(f"{method} {path}", response.status, response.data)
        answer: Object = json.loads(response.data)
        return answer

    def text(self, path: str) -> str:
        """The answer of an endpoint that speaks plain text, such as /readyz or /metrics."""
        response = self._pool.request("GET", self._target(path, None), headers=self._headers)
        if response.status >= 400:
            raise _error(f"GET {path}", response.status, response.data)
        return response.data.decode()

    def resource(self, api_version: str, kind: str) -> Resource:
        """What serves this apiVersion and kind; raises NotFoundError where nothing does."""
        key = (api_version, kind)
        if key not in self._found:
            prefix = "/api" if "/" not in api_version else "/apis"
            answer = self.request("GET", f"{prefix}/{api_version}")
            self._found |= {(api_version, found.kind): found for found in read_group_version(answer)}
        if key not in self._found:
            raise NotFoundError("discovery", 404, "NotFound", f"the cluster serves no {kind} in {api_version}")
        return self._found[key]

    def resources(self) -> list[Resource]:
        """Everything the cluster serves now, each kind in its preferred version."""
        answers = [self.request("GET", path, accept=_DISCOVERY) for path in ("/api", "/apis")]
        return [resource for answer in answers for resource in read_discovery(answer)]

    def _place(self, manifest: Object, namespace: str) -> tuple[Resource, str, str]:
        metadata = manifest.get("metadata", {})
        resource = self.resource(manifest["apiVersion"], manifest["kind"])
        return resource, metadata.get("name", ""), metadata.get("namespace", namespace)

    def _wait_served(self, crd: Object) -> None:
        group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
        for version in crd["spec"]["versions"]:
            if version["served"]:
                where = f"{group}/{version['name']}"
                wait_until(partial(self._serves, where, kind), f"{kind} in {where} to be served")

    def _serves(self, api_version: str, kind: str) -> bool:
        try:
            resource = self.resource(api_version, kind)
            self.request("GET", resource.path(None), query={"limit": "1"})
        except NotFoundError:
            return False
        return True

    def _stream(self, path: str, query: Mapping[str, str], seconds: int) -> Generator[tuple[str, Object], None, None]:
        timeout = urllib3.Timeout(connect=_CONNECT_SECONDS, read=seconds + 60.0)
        response = self._pool.request(
            "GET", self._target(path, query), headers=self._headers, preload_content=False, timeout=timeout
        )
        try:
            if response.status >= 400:
                raise _error(f"WATCH {path}", response.status, response.read())
            for line in _lines(response):
                event = json.loads(line)
                found = event["object"]
                if event["type"] == "ERROR":
                    raise _error(f"WATCH {path}", found.get("code", 500), json.dumps(found).encode())
                yield event["type"], found
        finally:
            # An unfinished answer can't be reused: the connection goes with it.
            response.close()

    def _target(self, path: str, query: Mapping[str, str] | None) -> str:
        return f"{self.url}{path}?{urlencode(query)}" if query else f"{self.url}{path}"


def wait_until(probe: Callable[[], T | None], what: str, seconds: float = 180.0, pause: float = 0.05) -> T:
    """Ask again and again until the probe gives something true, and give that back; TimeoutError names `what`.

    The limit is for what never comes: however busy the machine, what is only late comes before it.
    """
    deadline = time.monotonic() + seconds
    while True:
        answer = probe()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds:g} s for {what}")
        time.sleep(pause)


def _documents(manifests: tuple[str | Object, ...]) -> Iterator[Object]:
    for manifest in manifests:
        documents = yaml.safe_load_all(manifest) if isinstance(manifest, str) else [manifest]
        yield from (document for document in documents if document)


def _selectors(labels: str, fields: str) -> dict[str, str]:
    chosen = {"labelSelector": labels, "fieldSelector": fields}
    return {name: value for name, value in chosen.items() if value}


def _lines(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    rest = b""
    for chunk in response.stream(65536):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line for line in lines if line)


def _error(call: str, status: int, body: bytes) -> ApiError:
    try:
        answer = json.loads(body)
        reason, message = str(answer.get("reason", "")), str(answer.get("message", ""))
    except (ValueError, AttributeError):
        reason, message = "", body.decode(errors="replace").strip()
    kind = {404: NotFoundError, 409: ConflictError}.get(status, ApiError)
    return kind(call, status, reason, message)
