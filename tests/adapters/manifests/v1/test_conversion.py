from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # of moto's; it has no types

from nodewright.adapters.manifests.configuration import Configuration, read_configuration
from nodewright.adapters.manifests.v1.conversion import Conversion, convert
from tests.adapters.manifests.field_tables import TABLES, Table, spoiled_rows
from tests.adapters.manifests.raw import (
    Json,
    node_class,
    node_pool,
    node_template,
    provisioner,
    requirement,
    seed_two,
)

POOL_KINDS = ("NodePool", "Provisioner")


def read(documents: Sequence[Json]) -> Configuration:
    pools = [raw for raw in documents if raw["kind"] in POOL_KINDS]
    return read_configuration(pools, [raw for raw in documents if raw["kind"] not in POOL_KINDS])


def values(configuration: Configuration) -> tuple[object, object]:
    """Pools and classes, whatever kind of manifest each is from; a class written into a Provisioner gets a name."""
    pools = [
        replace(pool, kind="NodePool", node_class=pool.node_class.replace("_", "-"), hash="")
        for pool in configuration.pools
    ]
    classes = [replace(each, source="", name=each.name.replace("_", "-")) for each in configuration.node_classes]
    return sorted(pools, key=lambda pool: pool.name), sorted(classes, key=lambda each: each.name)


def only(conversion: Conversion) -> Any:
    (document,) = conversion.documents
    return document


def renamed(raw: Json, name: str) -> Json:
    return {**raw, "metadata": {"name": name}}


@st.composite
def manifests(draw: st.DrawFn, tables: Sequence[Table], names: Sequence[str]) -> list[Json]:
    """Some objects, each with some of the fields its kind has."""
    made = []
    for name in draw(st.lists(st.sampled_from(names), max_size=3)):
        table = draw(st.sampled_from(tables))
        rows = draw(st.lists(st.sampled_from(table.rows), max_size=6))
        usable = [row for row in rows if row.status != "refused"] if draw(st.integers(0, 9)) else rows
        raw: Any = table.manifest(*usable)
        made.append({**raw, "metadata": {**raw["metadata"], "name": name}})
    return made


POOLS = [table for table in TABLES if table.kind in POOL_KINDS]
CLASSES = [table for table in TABLES if table.kind in ("EC2NodeClass", "AWSNodeTemplate")]
CLUSTERS = st.tuples(manifests(POOLS, ("a", "b", "c")), manifests(CLASSES, ("default", "other"))).map(
    lambda both: [*both[0], *both[1]]
)


@pytest.mark.property
@given(CLUSTERS)
@settings(max_examples=150, deadline=None)
def test_what_is_converted_reads_as_what_it_was_made_from(documents: list[Json]) -> None:
    converted = convert(documents)
    assert values(read(converted.documents)) == values(read(documents))


@pytest.mark.property
@given(CLUSTERS)
@settings(max_examples=150, deadline=None)
def test_there_is_nothing_left_to_convert(documents: list[Json]) -> None:
    once = convert(documents)
    assert convert(once.documents).documents == once.documents


@pytest.mark.property
@given(CLUSTERS)
@settings(max_examples=150, deadline=None)
def test_nothing_new_is_wrong_with_it(documents: list[Json]) -> None:
    converted = convert(documents)
    before = {warning.message for warning in read(documents).warnings}
    assert {warning.message for warning in read(converted.documents).warnings} <= before
    kinds = {(raw["apiVersion"], raw["kind"]) for raw in converted.documents if _key(raw) not in converted.left}
    assert kinds <= {("karpenter.sh/v1", "NodePool"), ("karpenter.k8s.aws/v1", "EC2NodeClass")}


V1 = {table.kind: table for table in TABLES if table.version == "v1"}
#: As the tables name them, up to where a map's own keys begin.
KNOWN = {
    kind: {row.path.replace("[]", "") for row in table.rows}
    | {"spec.template.spec.requirements", "spec.kubelet.others"}
    for kind, table in V1.items()
}


def paths(value: object, path: str) -> Iterator[str]:
    """Of every field in it."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from paths(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from paths(inner, path)
    else:
        yield path


@pytest.mark.property
@given(CLUSTERS)
@settings(max_examples=150, deadline=None)
def test_it_says_nothing_that_v1_does_not_know(documents: list[Json]) -> None:
    converted = convert(documents)
    usable = read(converted.documents)
    sound = {str(each) for each in (*usable.pools, *usable.node_classes)} - set(converted.left)
    made: list[Any] = [raw for raw in converted.documents if _key(raw) in sound]
    for raw in made:
        Draft202012Validator(V1[raw["kind"]].schema).validate(raw)
        for path in paths(raw["spec"], "spec"):
            assert any(path == known or path.startswith(f"{known}.") for known in KNOWN[raw["kind"]]), path
        assert "consolidateAfter" in raw["spec"].get("disruption", {"consolidateAfter": ""})


def _key(raw: Any) -> str:
    return f"{raw['kind']}/{raw['metadata']['name']}"


def test_a_provisioner_becomes_the_pool_that_does_the_same() -> None:
    raw = provisioner(
        metadata={"name": "web", "labels": {"team": "a"}, "uid": "u", "resourceVersion": "7"},
        labels={"team": "a"},
        requirements=[requirement("beta.kubernetes.io/arch", "In", "arm64")],
        taints=[{"key": "gpu", "effect": "NoSchedule", "timeAdded": None}],
        limits={"resources": {"cpu": "100"}},
        ttlSecondsAfterEmpty=30,
        ttlSecondsUntilExpired=2592000,
        weight=5,
        status={"resources": {}},
    )
    assert only(convert([raw])) == {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "web", "labels": {"team": "a"}},
        "spec": {
            "template": {
                "metadata": {"labels": {"team": "a"}},
                "spec": {
                    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                    "requirements": [
                        requirement("kubernetes.io/arch", "In", "arm64"),
                        requirement("kubernetes.io/os", "In", "linux"),
                        requirement("karpenter.sh/capacity-type", "In", "on-demand"),
                        requirement("karpenter.k8s.aws/instance-category", "In", "c", "m", "r"),
                        requirement("karpenter.k8s.aws/instance-generation", "Gt", "2"),
                    ],
                    "taints": [{"key": "gpu", "effect": "NoSchedule"}],
                    "expireAfter": "720h",
                },
            },
            "disruption": {
                "consolidationPolicy": "WhenEmpty",
                "consolidateAfter": "30s",
                "budgets": [{"nodes": "10%"}, {"nodes": "0", "reasons": ["Drifted"]}],
            },
            "limits": {"cpu": "100"},
            "weight": 5,
        },
    }


def test_a_provisioner_that_names_its_types_gets_no_category() -> None:
    raw = provisioner(requirements=[requirement("node.kubernetes.io/instance-type", "In", "m5.large")])
    keys = [entry["key"] for entry in only(convert([raw]))["spec"]["template"]["spec"]["requirements"]]
    assert keys == [
        "node.kubernetes.io/instance-type",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "karpenter.sh/capacity-type",
    ]


def test_nodes_of_a_provisioner_that_said_nothing_of_it_never_expire_nor_are_consolidated() -> None:
    spec = only(convert([provisioner()]))["spec"]
    assert spec["template"]["spec"]["expireAfter"] == "Never"
    assert spec["disruption"]["consolidateAfter"] == "Never"


def test_a_node_template_becomes_a_class_that_says_what_v1alpha1_implied() -> None:
    raw = node_template(
        subnetSelector={"Name": "a, b", "team": ""},
        securityGroupSelector={"aws-ids": "sg-1,sg-2"},
        instanceProfile="nodes",
        blockDeviceMappings=[{"deviceName": "/dev/xvda", "ebs": {"volumeSize": 50}}],
        userData="#!/bin/sh\necho\n",
    )
    assert only(convert([raw])) == {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": "default"},
        "spec": {
            "amiSelectorTerms": [{"alias": "al2@latest"}],
            "subnetSelectorTerms": [{"tags": {"Name": "a", "team": "*"}}, {"tags": {"Name": "b", "team": "*"}}],
            "securityGroupSelectorTerms": [{"id": "sg-1"}, {"id": "sg-2"}],
            "instanceProfile": "nodes",
            "userData": "#!/bin/sh\necho\n",
            "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": "50Gi"}}],
            "metadataOptions": {"httpPutResponseHopLimit": 2},
        },
    }


def test_a_v1beta1_pool_keeps_its_text_but_for_what_moved() -> None:
    raw = node_pool(
        version="v1beta1",
        metadata={"annotations": {"karpenter.sh/nodepool-hash": "1", "note": "a"}},
        node={"nodeClassRef": {"name": "default"}, "requirements": [requirement("team", "Exists")]},
        disruption={"consolidationPolicy": "WhenUnderutilized", "expireAfter": "24h", "budgets": [{"nodes": "3"}]},
        limits={"cpu": 1000},
    )
    assert only(convert([raw])) == {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "default", "annotations": {"note": "a"}},
        "spec": {
            "template": {
                "metadata": {"labels": {}},
                "spec": {
                    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                    "requirements": [requirement("team", "Exists")],
                    "expireAfter": "24h",
                },
            },
            "disruption": {
                "consolidationPolicy": "WhenEmptyOrUnderutilized",
                "consolidateAfter": "0s",
                "budgets": [{"nodes": "3"}],
            },
            "limits": {"cpu": 1000},
        },
    }


def test_a_v1beta1_class_says_its_image_and_its_hop_limit() -> None:
    raw = node_class(version="v1beta1", amiFamily="AL2023", amiSelectorTerms=None, ipPrefixCount=2)
    assert only(convert([raw]))["spec"] == {
        "amiSelectorTerms": [{"alias": "al2023@latest"}],
        "subnetSelectorTerms": [{"tags": {"team": "a"}}],
        "securityGroupSelectorTerms": [{"id": "sg-1"}],
        "role": "node",
        "ipPrefixCount": 2,
        "metadataOptions": {"httpPutResponseHopLimit": 2},
    }


def test_kubelet_settings_move_to_the_class_and_a_class_is_written_for_each_pool_that_differs() -> None:
    pools = [
        node_pool(version="v1beta1", metadata={"name": name}, node={"kubelet": {"maxPods": most}})
        for name, most in (("a", 20), ("b", 30))
    ]
    documents: Any = convert([node_class(), *pools]).documents
    assert [(_key(raw), raw["spec"].get("kubelet")) for raw in documents[:3]] == [
        ("EC2NodeClass/default", None),
        ("EC2NodeClass/default.a", {"maxPods": 20}),
        ("EC2NodeClass/default.b", {"maxPods": 30}),
    ]
    references = [raw["spec"]["template"]["spec"]["nodeClassRef"]["name"] for raw in documents[3:]]
    assert references == ["default.a", "default.b"]
    assert all("kubelet" not in raw["spec"]["template"]["spec"] for raw in documents[3:])


def test_kubelet_settings_of_a_pool_whose_class_is_elsewhere_are_kept_and_told_of() -> None:
    converted = convert([node_pool(version="v1beta1", node={"kubelet": {"maxPods": 20}})])
    parked = "compatibility.karpenter.sh/v1beta1-kubelet-conversion"
    assert only(converted)["metadata"]["annotations"] == {parked: '{"maxPods":20}'}
    (warning,) = converted.warnings
    assert (warning.object, warning.path) == ("NodePool/default", f"metadata.annotations.{parked}")
    assert "convert both together" in warning.message


def test_a_class_written_into_a_provisioner_becomes_one_of_its_own() -> None:
    inline = {"subnetSelector": {"a": "b"}, "securityGroupSelector": {"a": "b"}, "instanceProfile": "nodes"}
    documents: Any = convert([provisioner(providerRef=None, provider=inline)]).documents
    assert [_key(raw) for raw in documents] == ["NodePool/default", "EC2NodeClass/default-provider"]
    assert documents[0]["spec"]["template"]["spec"]["nodeClassRef"]["name"] == "default-provider"


def test_a_class_written_into_a_provisioner_takes_nobody_s_name() -> None:
    inline = {"subnetSelector": {"a": "b"}, "securityGroupSelector": {"a": "b"}, "instanceProfile": "nodes"}
    taken = node_class(metadata={"name": "default-provider"})
    documents = convert([provisioner(providerRef=None, provider=inline), taken]).documents
    assert [_key(raw) for raw in documents] == [
        "NodePool/default",
        "EC2NodeClass/default-provider-1",
        "EC2NodeClass/default-provider",
    ]


def test_what_can_not_be_read_is_left_as_it_is_beside_what_can() -> None:
    bad = provisioner(metadata={"name": "bad"}, weight=1000)
    converted = convert([bad, provisioner()])
    assert converted.left == ("Provisioner/bad",)
    assert converted.documents[0] == bad
    assert converted.documents[1]["kind"] == "NodePool"
    assert [w.path for w in converted.warnings if w.object == "Provisioner/bad"] == ["spec.weight"]


def test_what_is_v1_already_is_not_left_over_though_it_can_not_be_used() -> None:
    converted = convert([node_pool(replicas=3)])
    assert converted.left == ()
    assert only(converted) == node_pool(replicas=3)
    assert [w.path for w in converted.warnings] == ["spec.replicas"]


@pytest.mark.parametrize(
    ("kind", "fix"), [("NodePools", "did you mean NodePool?"), ("Something", "correct or remove it")]
)
def test_a_kind_that_karpenter_has_not_is_told_of(kind: str, fix: str) -> None:
    raw = {"apiVersion": "karpenter.sh/v1", "kind": kind, "metadata": {"name": "x"}}
    converted = convert([raw])
    assert only(converted) == raw
    (warning,) = converted.warnings
    assert (warning.object, warning.path) == (f"{kind}/x", "kind")
    assert fix in warning.message


def test_an_old_object_beside_a_namesake_of_the_new_kind_is_left_out() -> None:
    converted = convert([provisioner(), node_pool()])
    assert only(converted)["kind"] == "NodePool"
    assert "the NodePool of this name counts" in converted.warnings[0].message


def test_other_objects_are_passed_through_in_their_place_and_old_names_in_them_told_of() -> None:
    pod = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "web", "namespace": "shop", "annotations": {"karpenter.sh/do-not-evict": "true"}},
        "spec": {"nodeSelector": {"karpenter.sh/provisioner-name": "web"}, "hostname": None},
        "status": {"phase": "Pending"},
    }
    converted = convert([provisioner(), pod, node_template(instanceProfile="nodes")])
    assert converted.documents[1] == pod
    assert [(w.object, w.path) for w in converted.warnings] == [
        ("Pod/shop/web", "metadata.annotations.karpenter.sh/do-not-evict"),
        ("Pod/shop/web", "spec.nodeSelector.karpenter.sh/provisioner-name"),
    ]
    assert "write karpenter.sh/nodepool" in converted.warnings[1].message


def test_a_template_without_a_profile_is_told_what_its_nodes_get() -> None:
    (warning,) = convert([node_template()]).warnings
    assert (warning.object, warning.path) == ("AWSNodeTemplate/default", "spec.instanceProfile")


@pytest.mark.parametrize("name", ["general", "prometheus"])
def test_the_seed_s_pairs_are_converted(name: str) -> None:
    converted = convert([seed_two(f"{name}-provisioner"), seed_two(f"{name}-awsnodetemplate")])
    assert [raw["kind"] for raw in converted.documents] == ["NodePool", "EC2NodeClass"]
    assert converted.left == ()


@pytest.mark.parametrize("table", [*POOLS, *CLASSES], ids=lambda table: table.name)
def test_whatever_stands_in_a_field_is_converted_or_left_beside_what_is_sound(table: Table) -> None:
    other = {**table.base(), "metadata": {"name": "other"}}
    documents = [other]
    documents += [{**table.manifest(r), "metadata": {"name": str(i)}} for i, r in enumerate(spoiled_rows(table))]
    converted = convert(documents)
    assert len(converted.documents) == len(documents)
    assert converted.documents[0]["metadata"] == {"name": "other"}
    assert values(read(converted.documents)) == values(read(documents))
