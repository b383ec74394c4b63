"""What is in a cluster: every object that can be deleted, without its contents."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from sandbox.controlplane.client import ApiError, Client, Object
from sandbox.controlplane.resources import Resource

# A second view of the same objects, or derived from others by the API server itself.
_LEFT_OUT = {("", "componentstatuses"), ("events.k8s.io", "events"), ("networking.k8s.io", "ipaddresses")}
_ALWAYS_THERE = {("serviceaccounts", "default"), ("configmaps", "kube-root-ca.crt")}
_BOOKKEEPING = {("kube-system", "serviceaccounts"), ("kube-system", "leases")}
_METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_THREADS = 8


@dataclass(frozen=True, slots=True)
class Item:
    """One object that is there; `namespace` is empty for what has none."""

    resource: Resource
    namespace: str
    name: str
    uid: str
    finalizers: bool
    terminating: bool

    @property
    def collection(self) -> tuple[Resource, str]:
        """What it can be deleted together with."""
        return self.resource, self.namespace

    @property
    def is_namespace(self) -> bool:
        """Whether other objects live in it."""
        return (self.resource.group, self.resource.plural) == ("", "namespaces")

    @property
    def is_bookkeeping(self) -> bool:
        """Made again by the control plane whenever it is deleted, for as long as its namespace is there."""
        plural = self.resource.plural
        return (plural, self.name) in _ALWAYS_THERE or (self.namespace, plural) in _BOOKKEEPING


def inventory(client: Client) -> list[Item]:
    """Everything in the cluster that can be deleted, read kind by kind: not one moment's picture."""
    with ThreadPoolExecutor(_THREADS) as pool:
        found = pool.map(lambda resource: list(_items(client, resource)), _deletable(client))
        return [item for items in found for item in items]


def _deletable(client: Client) -> Iterable[Resource]:
    for resource in client.resources():
        if {"list", "delete"} <= resource.verbs and (resource.group, resource.plural) not in _LEFT_OUT:
            yield resource


def _items(client: Client, resource: Resource) -> Iterator[Item]:
    try:
        answer = client.request("GET", resource.path(None), accept=_METADATA_ONLY)
    except ApiError as error:
        # A CRD may go between discovery and this call.
        if error.status in {404, 405}:
            return
        raise
    for found in answer["items"] or ():
        yield _read(resource, found["metadata"])


def _read(resource: Resource, metadata: Object) -> Item:
    return Item(
        resource,
        metadata.get("namespace", ""),
        metadata["name"],
        metadata["uid"],
        finalizers=bool(metadata.get("finalizers")),
        terminating="deletionTimestamp" in metadata,
    )
