"""Bringing a cluster back to what it was: whatever has appeared since is deleted, fast and whatever holds on to it."""

import contextlib
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from sandbox.controlplane.client import MERGE, ApiError, Client, Object
from sandbox.controlplane.resources import Resource

# Admission goes first, so that no webhook of a dead test is called any more; then what makes other objects.
_FIRST = ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")
_MAKERS = ("cronjobs", "jobs", "deployments", "statefulsets", "daemonsets", "replicasets", "replicationcontrollers")
# These wait for what is inside them.
_LAST = ("customresourcedefinitions", "namespaces")
# Made again by the control plane whenever they are gone, or a second view of the same objects.
_LEFT_ALONE = {("", "componentstatuses"), ("events.k8s.io", "events"), ("networking.k8s.io", "ipaddresses")}
_ALWAYS_THERE = {("serviceaccounts", "default"), ("configmaps", "kube-root-ca.crt")}
_BOOKKEEPING = {("kube-system", "serviceaccounts"), ("kube-system", "leases")}
_METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_AT_ONCE: Object = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
_THREADS = 8


@dataclass(frozen=True, slots=True)
class Item:
    """One object that is there."""

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
    def is_bookkeeping(self) -> bool:
        """Made again whenever it is deleted, so never in the way and never to be waited for."""
        plural = self.resource.plural
        return (plural, self.name) in _ALWAYS_THERE or (self.namespace, plural) in _BOOKKEEPING


def inventory(client: Client) -> list[Item]:
    """Everything in the cluster that can be deleted."""
    with ThreadPoolExecutor(_THREADS) as pool:
        found = pool.map(lambda resource: list(_items(client, resource)), _deletable(client))
        return [item for items in found for item in items]


def reset(client: Client, kept: frozenset[str], seconds: float = 60.0) -> None:
    """Delete all objects but those with these uids; TimeoutError names what would not go.

    Finalizers of what is already terminating are taken off: their owners are gone with the test.
    """
    deadline = time.monotonic() + seconds
    while True:
        there = inventory(client)
        left = [item for item in there if item.uid not in kept and not item.is_bookkeeping]
        if not left:
            return
        if time.monotonic() > deadline:
            names = ", ".join(f"{item.resource.kind} {item.namespace}/{item.name}" for item in left[:10])
            raise TimeoutError(f"{len(left)} objects were still there after {seconds:g} s: {names}")
        _sweep(client, left, _shared(there, left))


def _sweep(client: Client, items: list[Item], shared: set[tuple[Resource, str]]) -> None:
    """Delete the items, whole collections in one call each; those with something to stay one by one."""
    with ThreadPoolExecutor(_THREADS) as pool:
        # What is terminating is deleted once more: a pod may have been given 30 s by somebody else and no kubelet.
        for stage in _stages(items):
            whole = {item.collection for item in stage if item.collection not in shared}
            list(pool.map(lambda collection: _delete_collection(client, *collection), whole))
            single = [item for item in stage if item.collection in shared]
            list(pool.map(lambda item: _delete(client, item), single))
        held = [item for item in items if item.terminating and item.finalizers and item.resource.plural not in _LAST]
        list(pool.map(lambda item: _release(client, item), held))
    if all(item.terminating for item in items):
        # Only controllers can bring this further now (namespaces, CRDs).
        time.sleep(0.05)


def _shared(there: list[Item], left: list[Item]) -> set[tuple[Resource, str]]:
    """Collections that can't be deleted as a whole: something in them stays, or the API doesn't offer it."""
    leaving = {item.uid for item in left}
    return {
        item.collection for item in there if item.uid not in leaving or "deletecollection" not in item.resource.verbs
    }


def _stages(items: list[Item]) -> Iterator[list[Item]]:
    """The items in the order of their deletion; those of one stage may go at the same time."""
    for plurals in (_FIRST, _MAKERS):
        yield [item for item in items if item.resource.plural in plurals]
    ordered = {*_FIRST, *_MAKERS, *_LAST}
    yield [item for item in items if item.resource.plural not in ordered]
    yield [item for item in items if item.resource.plural in _LAST]


def _deletable(client: Client) -> Iterable[Resource]:
    for resource in client.resources():
        if {"list", "delete"} <= resource.verbs and (resource.group, resource.plural) not in _LEFT_ALONE:
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


def _delete_collection(client: Client, resource: Resource, namespace: str) -> None:
    _call(client, "DELETE", resource.path(namespace), _AT_ONCE)


def _delete(client: Client, item: Item) -> None:
    options = {**_AT_ONCE, "preconditions": {"uid": item.uid}}
    _call(client, "DELETE", item.resource.path(item.namespace, item.name), options)


def _release(client: Client, item: Item) -> None:
    patch = {"metadata": {"finalizers": None, "uid": item.uid}}
    _call(client, "PATCH", item.resource.path(item.namespace, item.name), patch)


def _call(client: Client, method: str, path: str, body: Object) -> None:
    # Gone already, refused by a webhook that is itself on its way out, …: the next look tells, and the end names it.
    with contextlib.suppress(ApiError):
        client.request(method, path, body, content_type=MERGE if method == "PATCH" else "application/json")
