import json
from collections.abc import Callable, Mapping
from typing import TypeVar

import pytest

from nodewright.adapters.manifests.objects import Page
from nodewright.adapters.manifests.volumes import (
    read_claims,
    read_csi_nodes,
    read_persistent_volumes,
    read_storage_classes,
)
from nodewright.domain.nodes import HOSTNAME_LABEL, NAME_FIELD, REGION_LABEL, ZONE_LABEL
from nodewright.domain.pods import Attachment
from nodewright.domain.requirements import Requirements
from nodewright.domain.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from tests.adapters.manifests.raw import Json
from tests.builders import requirements

T = TypeVar("T")
EBS = "ebs.csi.aws.com"
BOUND = {"pv.kubernetes.io/bind-completed": "yes"}


def only(read: Callable[[bytes], Page[T]], raw: Json) -> T:
    """The one object of a list."""
    (found,) = read(json.dumps({"items": [raw]}).encode()).items
    return found


def claim(
    spec: Json | None = None, phase: str = "", annotations: Mapping[str, str] | None = None, **metadata: object
) -> PersistentVolumeClaim:
    named: Json = {"name": "data", "namespace": "shop", "annotations": annotations, **metadata}
    return only(
        read_claims, {"kind": "PersistentVolumeClaim", "metadata": named, "spec": spec, "status": {"phase": phase}}
    )


def volume(metadata: Json | None = None, phase: str = "Available", **spec: object) -> PersistentVolume:
    named: Json = {"name": "v", **(metadata or {})}
    return only(read_persistent_volumes, {"metadata": named, "spec": spec, "status": {"phase": phase}})


def terms(*listed: Mapping[str, object]) -> Json:
    return {"required": {"nodeSelectorTerms": list(listed)}}


def expression(key: str, *values: str) -> Json:
    return {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}


def storage_class(annotations: Mapping[str, str] | None = None, **fields: object) -> StorageClass:
    metadata = {"name": "fast", "annotations": annotations}
    return only(read_storage_classes, {"metadata": metadata, "provisioner": EBS, **fields})


def test_a_claim_is_read_field_by_field() -> None:
    spec: Json = {
        "storageClassName": "fast",
        "volumeName": "v",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "2Gi"}},
    }
    assert claim(spec, "Bound", BOUND) == PersistentVolumeClaim(
        "shop",
        "data",
        storage_class="fast",
        volume="v",
        bound=True,
        size=2 * 2**30,
        access_modes=frozenset({"ReadWriteOnce"}),
    )
    assert claim({}, deletionTimestamp="2026-01-01T00:00:00Z").deleting
    assert claim({"volumeName": "v"}, "Lost", BOUND).lost
    assert claim({}, annotations={"volume.kubernetes.io/selected-node": "n"}).selected_node == "n"
    assert claim({}, annotations={"volume.beta.kubernetes.io/storage-class": "old"}).storage_class == "old"


@pytest.mark.parametrize(
    ("phase", "annotations", "bound"),
    [("Bound", BOUND, True), ("Pending", None, False), ("Pending", BOUND, True), ("", None, True)],
)
def test_a_claim_is_bound_when_binding_is_over_or_a_file_just_says_so(
    phase: str, annotations: Mapping[str, str] | None, *, bound: bool
) -> None:
    assert claim({"volumeName": "v"}, phase, annotations).bound == bound
    assert not claim({}, phase, annotations).bound


def test_an_absent_class_is_the_default_one_and_an_empty_one_none() -> None:
    assert claim({}).storage_class is None
    assert claim({"storageClassName": ""}).storage_class == ""


def test_a_volume_is_read_field_by_field() -> None:
    read = volume(
        storageClassName="fast",
        capacity={"storage": "1Gi"},
        accessModes=["ReadWriteMany"],
        claimRef={"namespace": "shop", "name": "data"},
        csi={"driver": EBS, "volumeHandle": "vol-1"},
        nodeAffinity=terms(expression("topology.ebs.csi.aws.com/zone", "b")),
    )
    assert read == PersistentVolume(
        "v",
        nodes=(requirements((ZONE_LABEL, "In", "b")),),
        attachment=Attachment(EBS, "vol-1"),
        storage_class="fast",
        claimed_by="shop/data",
        available=True,
        size=2**30,
        access_modes=frozenset({"ReadWriteMany"}),
    )
    assert not volume(phase="Released").available
    assert not volume({"deletionTimestamp": "2026-01-01T00:00:00Z"}).available


def test_a_disk_from_before_there_was_a_driver_is_one_of_its() -> None:
    disk = {"volumeID": "aws://us-east-1b/vol-2"}
    assert volume(awsElasticBlockStore=disk).attachment == Attachment(EBS, "vol-2")


@pytest.mark.parametrize("spec", [{"nfs": {"server": "x"}}, {"hostPath": {"path": "/d"}}, {"local": {"path": "/d"}}])
def test_what_no_driver_attaches_is_no_attachment(spec: Json) -> None:
    assert volume(None, "Available", **spec).attachment is None


def test_terms_are_alternatives_of_labels_and_names() -> None:
    name = {"key": "metadata.name", "operator": "In", "values": ["n"]}
    read = volume(nodeAffinity=terms(expression(HOSTNAME_LABEL, "h"), {"matchFields": [name]}, {}))
    assert read.nodes == (requirements((HOSTNAME_LABEL, "In", "h")), requirements((NAME_FIELD, "In", "n")))


def test_a_volume_without_affinity_is_reached_from_anywhere_and_one_of_unreadable_terms_from_nowhere() -> None:
    assert volume().nodes == (Requirements(),)
    bad = {"matchExpressions": [{"key": "a", "operator": "Near"}]}
    assert volume(nodeAffinity=terms(bad)).nodes == ()


def test_zones_in_the_labels_of_a_volume_hold_too() -> None:
    labels = {"failure-domain.beta.kubernetes.io/zone": "a__b", REGION_LABEL: "r", "team": "x"}
    both = requirements((ZONE_LABEL, "In", "a", "b"), (REGION_LABEL, "In", "r"))
    assert volume({"labels": labels}).nodes == (both,)
    narrowed = volume({"labels": labels}, nodeAffinity=terms(expression(ZONE_LABEL, "b", "c"))).nodes
    assert narrowed == (requirements((ZONE_LABEL, "In", "b"), (REGION_LABEL, "In", "r")),)


def test_a_class_is_read_field_by_field() -> None:
    expressions = [{"key": "topology.ebs.csi.aws.com/zone", "values": ["c"]}]
    read = storage_class(
        {"storageclass.kubernetes.io/is-default-class": "true"},
        volumeBindingMode="WaitForFirstConsumer",
        allowedTopologies=[{"matchLabelExpressions": expressions}],
    )
    assert (read.name, read.provisioner, read.waits, read.default) == ("fast", EBS, True, True)
    assert read.topologies == (requirements((ZONE_LABEL, "In", "c")),)


def test_a_class_binds_at_once_and_anywhere_unless_it_says_otherwise() -> None:
    read = storage_class()
    assert (read.waits, read.default, read.topologies) == (False, False, (Requirements(),))
    (nowhere,) = storage_class(allowedTopologies=[{}]).topologies
    assert not nowhere.admits({ZONE_LABEL: "a"})


def test_a_csi_node_tells_the_numbers_its_drivers_know() -> None:
    drivers = [
        {"name": EBS, "allocatable": {"count": 25}},
        {"name": "efs.csi.aws.com"},
        {"name": "x", "allocatable": {}},
    ]
    assert only(read_csi_nodes, {"metadata": {"name": "n"}, "spec": {"drivers": drivers}}) == ("n", {EBS: 25})
    assert only(read_csi_nodes, {"metadata": {"name": "n"}, "spec": {"drivers": None}}) == ("n", {})


def test_a_list_is_read_with_what_is_wrong_in_it_left_out() -> None:
    bad = {"kind": "PersistentVolumeClaim", "metadata": {"name": "b"}, "spec": {"accessModes": "all"}}
    items = [{"metadata": {"name": "a"}, "spec": {}}, bad]
    read = read_claims(json.dumps({"metadata": {"continue": "more"}, "items": items}).encode())
    assert ([c.name for c in read.items], read.next_page) == (["a"], "more")
    (warning,) = read.warnings
    assert warning.object == "PersistentVolumeClaim/b"
    assert warning.path == "spec.accessModes"


def test_a_size_that_is_no_quantity_counts_as_none() -> None:
    assert claim({"resources": {"requests": {"storage": "much"}}}).size == 0
