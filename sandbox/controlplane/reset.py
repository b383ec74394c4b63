"""Bringing a cluster back to what it was: whatever has appeared since is deleted, fast and whatever holds on to it."""

import contextlib
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from sandbox.controlplane.client import MERGE, ApiError, Client, Object
from sandbox.controlplane.inventory import Item, inventory
from sandbox.controlplane.resources import Resource

# Admission goes first, so that no webhook of a dead test is called any more; then what makes other objects.
_FIRST = ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")
_MAKERS = ("cronjobs", "jobs", "deployments", "statefulsets", "daemonsets", "replicasets", "replicationcontrollers")
# These wait for what is inside them.
_LAST = ("customresourcedefinitions", "namespaces")
_AT_ONCE: Object = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
_THREADS = 8


def reset(client: Client, kept: frozenset[str], seconds: float = 180.0) -> None:
    """Delete all objects but those with these uids; TimeoutError names what would not go.

    Finalizers of what is already terminating are taken off: their owners are gone with the test.
    """
    deadline = time.monotonic() + seconds
    while True:
        there = inventory(client)
        left = _to_delete(there, kept)
        if not left:
            return
        if time.monotonic() > deadline:
            names = ", ".join(f"{item.resource.kind} {item.namespace}/{item.name}" for item in left[:10])
            raise TimeoutError(f"{len(left)} objects were still there after {seconds:g} s: {names}")
        _sweep(client, left, _shared(there, left))


def _to_delete(there: list[Item], kept: frozenset[str]) -> list[Item]:
    """All that isn't kept; the control plane's own bookkeeping only in namespaces that go."""
    new = [item for item in there if item.uid not in kept]
    going = {item.name for item in new if item.is_namespace}
    return [item for item in new if not item.is_bookkeeping or item.namespace in going]


def _shared(there: list[Item], left: list[Item]) -> set[tuple[Resource, str]]:
    """Collections that can't be deleted as a whole: something in them stays, or the API doesn't offer it."""
    leaving = {item.uid for item in left}
    return {
        item.collection for item in there if item.uid not in leaving or "deletecollection" not in item.resource.verbs
    }


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
        full = {item.namespace for item in items}
        empty = [item for item in items if item.is_namespace and item.terminating and item.name not in full]
        list(pool.map(lambda item: _finalize(client, item), empty))


def _stages(items: list[Item]) -> Iterator[list[Item]]:
    """The items in the order of their deletion; those of one stage may go at the same time."""
    for plurals in (_FIRST, _MAKERS):
        yield [item for item in items if item.resource.plural in plurals]
    ordered = {*_FIRST, *_MAKERS, *_LAST}
    yield [item for item in items if item.resource.plural not in ordered]
    yield [item for item in items if item.resource.plural in _LAST]


def _delete_collection(client: Client, resource: Resource, namespace: str) -> None:
    _call(client, "DELETE", resource.path(namespace), _AT_ONCE)


def _delete(client: Client, item: Item) -> None:
    options = {**_AT_ONCE, "preconditions": {"uid": item.uid}}
    _call(client, "DELETE", item.resource.path(item.namespace, item.name), options)


def _release(client: Client, item: Item) -> None:
    patch = {"metadata": {"finalizers": None, "uid": item.uid}}
    _call(client, "PATCH", item.resource.path(item.namespace, item.name), patch)


def _finalize(client: Client, item: Item) -> None:
    """Do the namespace controller's part, for it waits 5 s before it looks; the namespace is empty."""
    finalized = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": item.name, "uid": item.uid},
        "spec": {"finalizers": []},
    }
    _call(client, "PUT", item.resource.path(None, item.name, "finalize"), finalized)


def _call(client: Client, method: str, path: str, body: Object) -> None:
    # Gone already, refused by a webhook that is itself on its way out, …: the next look tells, and the end names it.
    with contextlib.suppress(ApiError):
        client.request(method, path, body, content_type=MERGE if method == "PATCH" else "application/json")
