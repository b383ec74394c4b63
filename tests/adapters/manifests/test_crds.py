from collections.abc import Iterator
from typing import Any

import pytest

from nodewright.adapters.manifests.crds import crds

RAW: list[Any] = list(crds())
CRDS: dict[str, Any] = {crd["spec"]["names"]["kind"]: crd for crd in RAW}


def versions(kind: str) -> list[Any]:
    found: list[Any] = CRDS[kind]["spec"]["versions"]
    return found


def properties(kind: str) -> Any:
    return versions(kind)[0]["schema"]["openAPIV3Schema"]["properties"]


def objects_inside(node: object) -> Iterator[dict[str, object]]:
    """Every schema that lists fields, at any depth."""
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict) and node.get("type") == "object":
            yield node
        for inner in node.values():
            yield from objects_inside(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from objects_inside(inner)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("NodePool", "nodepools.karpenter.sh"),
        ("NodeClaim", "nodeclaims.karpenter.sh"),
        ("EC2NodeClass", "ec2nodeclasses.karpenter.k8s.aws"),
        ("Provisioner", "provisioners.karpenter.sh"),
        ("AWSNodeTemplate", "awsnodetemplates.karpenter.k8s.aws"),
        ("NodeOverlay", "nodeoverlays.karpenter.sh"),
    ],
)
def test_each_kind_is_called_as_in_karpenter(kind: str, name: str) -> None:
    assert CRDS[kind]["metadata"] == {"name": name}
    assert CRDS[kind]["spec"]["scope"] == "Cluster"


@pytest.mark.parametrize("kind", ["NodePool", "NodeClaim", "EC2NodeClass"])
def test_both_versions_are_served_by_one_schema_and_v1_is_stored(kind: str) -> None:
    new, old = versions(kind)
    assert (new["name"], new["served"], new["storage"]) == ("v1", True, True)
    assert (old["name"], old["served"], old["storage"]) == ("v1beta1", True, False)
    assert new["schema"] == old["schema"]
    assert CRDS[kind]["spec"]["conversion"] == {"strategy": "None"}


@pytest.mark.parametrize(
    ("kind", "version"),
    [("Provisioner", "v1alpha5"), ("AWSNodeTemplate", "v1alpha1"), ("NodeOverlay", "v1alpha1")],
)
def test_the_alpha_kinds_have_the_one_version_they_ever_had(kind: str, version: str) -> None:
    (only,) = versions(kind)
    assert (only["name"], only["served"], only["storage"]) == (version, True, True)


@pytest.mark.parametrize("kind", CRDS)
def test_unknown_fields_are_kept_at_every_depth_of_spec(kind: str) -> None:
    inside = list(objects_inside(properties(kind)["spec"]))
    assert len(inside) >= 2
    assert all(found.get("x-kubernetes-preserve-unknown-fields") for found in inside)


@pytest.mark.parametrize("kind", CRDS)
def test_status_is_a_subresource_with_conditions(kind: str) -> None:
    assert all(version["subresources"] == {"status": {}} for version in versions(kind))
    assert "conditions" in properties(kind)["status"]["properties"]
