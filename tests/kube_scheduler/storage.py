"""Volumes: claims that are bound to a zone, claims that wait for their pod's node, and what provisions those."""

import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from sandbox.controlplane.client import Object
from tests.kube_scheduler.drafts import Draft
from tests.kube_scheduler.machines import CSI_DRIVER, ZONES
from tests.kube_scheduler.pod_rules import ZONE

BOUND: Final = "pv.kubernetes.io/bind-completed"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
#: Node label of the EBS CSI driver's own, in volumes of older releases.
CSI_ZONE: Final = "topology.ebs.csi.aws.com/zone"

#: A volume of its own per pod, one for all, two per pod, one that is made where the pod goes, or there in two zones.
WAYS: Final = ("zonal", "shared", "pair", "late", "late-in-zones")


def storage_classes() -> Iterator[Object]:
    """Both wait for their first consumer."""
    yield _storage_class("late")
    allowed = [{"matchLabelExpressions": [{"key": ZONE, "values": ["a", "b"]}]}]
    yield {**_storage_class("late-in-zones"), "allowedTopologies": allowed}


def with_volumes(chance: random.Random, draft: Draft, pod: Object, zone: str = "") -> list[Object]:
    """Lets the pod mount what its template says, and gives the claims and volumes for it, `shared` ones each time.

    `zone`: of the node that the pod is bound to already.
    """
    namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    free = draft.claims.startswith("late") and not zone
    claims = [f"{draft.identity.app}-shared" if draft.claims == "shared" else f"{name}-data"]
    if draft.claims == "pair":
        claims.append(f"{name}-log")
    mounts = [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": each}} for i, each in enumerate(claims)]
    pod["spec"]["volumes"] = mounts
    if free:
        return [_claim(namespace, each, draft.claims) for each in claims]
    where = zone or chance.choice(ZONES)
    if draft.claims == "shared":
        where = ZONES[sum(map(ord, draft.identity.app)) % len(ZONES)]
    return [made for each in claims for made in _bound(namespace, each, where, draft.claims)]


def zones_of_claims(storage: Iterable[Object]) -> Mapping[tuple[str, str], str]:
    """Namespace and name of a claim → where its volume is, or of which class it will be; a shared one is its own."""
    found: dict[tuple[str, str], str] = {}
    for each in storage:
        if each["kind"] == "PersistentVolume":
            owner = each["spec"]["claimRef"]
            zone = each["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"][0]["matchExpressions"][0]["values"][0]
            shared = owner["name"] if owner["name"].endswith("-shared") else ""
            found[owner["namespace"], owner["name"]] = f"{zone} {shared}"
        else:
            key = (each["metadata"]["namespace"], each["metadata"]["name"])
            found.setdefault(key, each["spec"]["storageClassName"])
    return found


def provisioned(claim: Object, node: Object) -> tuple[Object, Object]:
    """The volume that a provisioner makes for a claim where its pod goes, and the claim's change.

    Source: external-provisioner; kube-scheduler waits for both before it binds the pod.
    """
    namespace, name = claim["metadata"]["namespace"], claim["metadata"]["name"]
    volume = _volume(namespace, name, node["metadata"]["labels"][ZONE], ZONE)
    volume["spec"]["claimRef"]["uid"] = claim["metadata"]["uid"]
    patch = {"metadata": {"annotations": {BOUND: "yes"}}, "spec": {"volumeName": volume["metadata"]["name"]}}
    return volume, patch


def awaits_volume(claim: Object) -> str:
    """The node that kube-scheduler chose for a claim's pod; empty when it waits for nothing."""
    annotations: Mapping[str, str] = claim["metadata"].get("annotations") or {}
    return "" if claim["spec"].get("volumeName") else annotations.get(SELECTED_NODE, "")


def _bound(namespace: str, name: str, zone: str, way: str) -> Iterator[Object]:
    volume = _volume(namespace, name, zone, CSI_ZONE if way == "pair" else ZONE)
    yield volume
    claim = _claim(namespace, name, "late")
    claim["metadata"]["annotations"] = {BOUND: "yes"}
    claim["spec"]["volumeName"] = volume["metadata"]["name"]
    yield claim


def _claim(namespace: str, name: str, storage_class: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "10Gi"}},
            "storageClassName": storage_class,
        },
    }


def _volume(namespace: str, claim: str, zone: str, key: str) -> Object:
    name = f"pv-{namespace}-{claim}"
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": [zone]}]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "10Gi"},
            "csi": {"driver": CSI_DRIVER, "volumeHandle": f"vol-{namespace}-{claim}"},
            "storageClassName": "late",
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": claim},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        },
    }


def _storage_class(name: str) -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": CSI_DRIVER,
        "volumeBindingMode": "WaitForFirstConsumer",
    }
