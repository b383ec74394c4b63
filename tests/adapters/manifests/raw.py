"""Manifests as JSON, sound ones by default; each function takes what is to be different."""

from collections.abc import Mapping
from pathlib import Path

import yaml

SEED_ONE = Path(__file__).parents[2] / "data" / "seed_one"
SEED_TWO = Path(__file__).parents[3] / "sandbox" / "seeds" / "two"

Json = dict[str, object]


def seed_one(name: str) -> Json:
    """One manifest of the first seed, as it stands there."""
    raw: Json = yaml.safe_load((SEED_ONE / f"{name}.yaml").read_text())
    return raw


def seed_two(name: str) -> Json:
    """One manifest of the second seed, the last of its file."""
    raw: Json = list(yaml.safe_load_all((SEED_TWO / f"{name}.yaml").read_text()))[-1]
    return raw


def node_pool(
    *,
    node: Mapping[str, object] | None = None,
    labels: Mapping[str, object] | None = None,
    metadata: Mapping[str, object] | None = None,
    version: str = "v1",
    **spec: object,
) -> Json:
    """A NodePool; `node` is merged into template.spec."""
    template_spec: Json = {
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
        "requirements": [],
        **(node or {}),
    }
    template: Json = {"metadata": {"labels": dict(labels or {})}, "spec": template_spec}
    return {
        "apiVersion": f"karpenter.sh/{version}",
        "kind": "NodePool",
        "metadata": {"name": "default", **(metadata or {})},
        "spec": {"template": template, **spec},
    }


def node_class(*, metadata: Mapping[str, object] | None = None, version: str = "v1", **spec: object) -> Json:
    """An EC2NodeClass; a field given as None is left out."""
    sound: Json = {
        "amiSelectorTerms": [{"alias": "al2023@latest"}],
        "subnetSelectorTerms": [{"tags": {"team": "a"}}],
        "securityGroupSelectorTerms": [{"id": "sg-1"}],
        "role": "node",
    }
    return {
        "apiVersion": f"karpenter.k8s.aws/{version}",
        "kind": "EC2NodeClass",
        "metadata": {"name": "default", **(metadata or {})},
        "spec": {name: value for name, value in {**sound, **spec}.items() if value is not None},
    }


def provisioner(*, metadata: Mapping[str, object] | None = None, **spec: object) -> Json:
    """A Provisioner that says no more than it must; a field given as None is left out."""
    sound: Json = {"providerRef": {"name": "default"}, **spec}
    return {
        "apiVersion": "karpenter.sh/v1alpha5",
        "kind": "Provisioner",
        "metadata": {"name": "default", **(metadata or {})},
        "spec": {name: value for name, value in sound.items() if value is not None},
    }


def node_template(*, metadata: Mapping[str, object] | None = None, **spec: object) -> Json:
    """An AWSNodeTemplate; a field given as None is left out."""
    sound: Json = {"subnetSelector": {"team": "a"}, "securityGroupSelector": {"aws-ids": "sg-1"}, **spec}
    return {
        "apiVersion": "karpenter.k8s.aws/v1alpha1",
        "kind": "AWSNodeTemplate",
        "metadata": {"name": "default", **(metadata or {})},
        "spec": {name: value for name, value in sound.items() if value is not None},
    }


def node_overlay(*, metadata: Mapping[str, object] | None = None, **spec: object) -> Json:
    """A NodeOverlay of everything that changes nothing yet."""
    return {
        "apiVersion": "karpenter.sh/v1alpha1",
        "kind": "NodeOverlay",
        "metadata": {"name": "default", **(metadata or {})},
        "spec": {"requirements": [], **spec},
    }


def requirement(key: str, operator: str, *values: str) -> Json:
    """A requirement entry."""
    return {"key": key, "operator": operator} | ({"values": list(values)} if values else {})


def pod(
    fields: Mapping[str, object] | None = None,
    *,
    metadata: Mapping[str, object] | None = None,
    status: Mapping[str, object] | None = None,
    **spec: object,
) -> Json:
    """A Pod of one container that asks for little; `fields` and keywords are merged into its spec."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web-1", "namespace": "shop", "uid": "u-1", **(metadata or {})},
        "spec": {"containers": [container()], **(fields or {}), **spec},
        "status": {"phase": "Pending", **(status or {})},
    }


def container(requests: Mapping[str, object] | None = None, **more: object) -> Json:
    """A container."""
    return {"name": "app", "resources": {"requests": dict(requests or {"cpu": "100m"})}, **more}


def required_terms(*terms: Mapping[str, object]) -> Json:
    """An affinity of these required node selector terms."""
    required = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
