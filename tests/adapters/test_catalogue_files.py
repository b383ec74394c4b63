import json
from pathlib import Path

import pytest

from nodewright.adapters.catalogue_files import CatalogueFile, catalogue_of, read_catalogue
from nodewright.application.plan import BadInputError
from nodewright.domain.catalogue import InstanceType
from nodewright.domain.nodeclasses import Kubelet
from tests.adapters.manifests.raw import Json
from tests.application.resolved import resolved
from tests.builders import offering

OFFERING: Json = {"zone": "a", "capacityType": "on-demand", "price": 0.0126}


def raw(name: str = "x.s", **fields: object) -> Json:
    return {"name": name, "capacity": {"cpu": "2", "memory": "4Gi"}, "offerings": [OFFERING], **fields}


def read(*types: Json, region: str = "") -> CatalogueFile:
    return catalogue_of(json.dumps({"instanceTypes": types}).encode(), "c.json", region)


def sold(*types: Json, kubelet: Kubelet = Kubelet(), region: str = "") -> InstanceType:  # noqa: B008
    return read(*types, region=region).instance_types(resolved("a", kubelet=kubelet))[0]


def test_labels_follow_from_name_and_size() -> None:
    labels = sold(raw("c7g.large"), region="r").labels
    assert labels["node.kubernetes.io/instance-type"] == "c7g.large"
    assert (labels["kubernetes.io/arch"], labels["kubernetes.io/os"]) == ("amd64", "linux")
    assert labels["karpenter.k8s.aws/instance-family"] == "c7g"
    assert labels["karpenter.k8s.aws/instance-generation"] == "7"
    assert labels["karpenter.k8s.aws/instance-cpu"] == "2"
    assert labels["karpenter.k8s.aws/instance-memory"] == "4096"
    assert labels["karpenter.k8s.aws/ec2nodeclass"] == "default"
    assert labels["topology.kubernetes.io/region"] == "r"
    assert "karpenter.k8s.aws/instance-hypervisor" not in labels


def test_labels_that_are_given_count() -> None:
    given = {"kubernetes.io/arch": "arm64", "karpenter.k8s.aws/instance-cpu": "3", "own": "label"}
    labels = sold(raw(labels=given)).labels
    assert {key: labels[key] for key in given} == given


def test_gpus_are_told_by_their_resource() -> None:
    labels = sold(raw(capacity={"cpu": 4, "memory": "16Gi", "nvidia.com/gpu": 2})).labels
    assert labels["karpenter.k8s.aws/instance-gpu-count"] == "2"
    assert labels["karpenter.k8s.aws/instance-gpu-manufacturer"] == "nvidia"


def test_allocatable_that_is_given_is_as_it_is() -> None:
    found = sold(raw(allocatable={"cpu": "1930m", "memory": "3Gi", "pods": "30"}))
    assert {name: found.allocatable.get(name) for name in ("cpu", "memory", "pods")} == {
        "cpu": 1930,
        "memory": 3 * 2**30,
        "pods": 30,
    }
    assert found.allocatable.get("ephemeral-storage") == 20 * 2**30


def test_allocatable_is_capacity_less_what_a_node_keeps_for_itself() -> None:
    found = sold(raw(capacity={"cpu": "2", "memory": "4Gi", "pods": 30}))
    assert found.allocatable.get("cpu") == 1930
    assert found.allocatable.get("memory") == (4096 - 255 - 11 * 30 - 100) * 2**20
    assert found.allocatable.get("pods") == 30


def test_a_class_says_how_many_pods_a_node_takes() -> None:
    assert sold(raw()).capacity.get("pods") == 110
    found = sold(raw(), kubelet=Kubelet(max_pods=20, system_reserved={"cpu": "100m"}))
    assert (found.capacity.get("pods"), found.allocatable.get("pods")) == (20, 20)
    assert found.allocatable.get("cpu") == 1830


def test_prices_are_exact() -> None:
    text = '{"instanceTypes": [{"name": "x", "capacity": {"cpu": 1, "memory": "1Gi"}, "offerings": [%s]}]}'
    (found,) = catalogue_of((text % '{"zone": "a", "price": 0.000000001}').encode(), "c").types
    assert found.offerings == (offering("a", price=1e-9),)


def test_offerings_keep_zone_capacity_type_and_whether_they_are_there() -> None:
    spot = {"zone": "b", "capacityType": "spot", "price": 1, "available": False}
    catalogue = read(raw(offerings=[spot, OFFERING], volumes=25))
    assert catalogue.types[0].offerings == (
        offering("a", price=0.0126),
        offering("b", "spot", price=1, available=False),
    )
    assert catalogue.zones == ("a", "b")
    assert catalogue.types[0].volumes == 25


def test_it_may_be_yaml() -> None:
    text = b"instanceTypes:\n- {name: x, capacity: {cpu: 2, memory: 4Gi}, offerings: [{zone: a, price: 0.1}]}\n"
    (found,) = catalogue_of(text, "c.yaml").types
    assert found.offerings == (offering("a", price=0.1),)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"instanceTypes": []}', "instanceTypes is empty"),
        ("{", "catalogue c: "),
        ("{}", "missing required field `instanceTypes`"),
        ("a: [", "line 2: it is not YAML"),
        (json.dumps({"instanceTypes": [raw(), raw()]}), r"x\.s is there more than once"),
        (json.dumps({"instanceTypes": [raw(capacity={"cpu": "2"})]}), "x.s: capacity must name cpu and memory"),
        (json.dumps({"instanceTypes": [raw(capacity={"cpu": "2x", "memory": 1})]}), "x.s: cpu: '2x' is not a quantity"),
        (json.dumps({"instanceTypes": [raw(offerings=[{"zone": "a", "price": -1}])]}), "x.s: '-1' is negative"),
        (json.dumps({"instanceTypes": [raw(offerings=[{"zone": "a", "price": 1e12}])]}), "more than 1,000,000 USD"),
        (json.dumps({"instanceTypes": [raw(capacity={"cpu": 1e30, "memory": 1})]}), "x.s: cpu: no node has so much"),
        (json.dumps({"instanceTypes": [raw(capacity={"cpu": -1, "memory": 1})]}), "x.s: cpu: it is negative"),
        (json.dumps({"instanceTypes": [raw(offerings=[OFFERING, OFFERING])]}), "is offered more than once; keep one"),
        ('{"x": ' + "[" * 5000, "nested too deeply"),
        (json.dumps({"instanceTypes": [raw(offerings=[{"price": 1}])]}), r"`zone` - at `\$\.instanceTypes\[0\]"),
        (json.dumps({"instanceTypes": [raw(offerings=[{**OFFERING, "capacityType": "x"}])]}), "Invalid enum value 'x'"),
    ],
)
def test_what_is_wrong_is_told(content: str, told: str) -> None:
    with pytest.raises(BadInputError, match=told):
        catalogue_of(content.encode(), "c")


def test_what_is_no_utf_8_is_told_what_to_save_it_as() -> None:
    with pytest.raises(BadInputError, match="catalogue c: it is not text in UTF-8; save it as UTF-8"):
        catalogue_of(b"\xff\xfei\x00", "c")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"catalogue .*nowhere\.json: No such file"):
        read_catalogue(tmp_path / "nowhere.json")
