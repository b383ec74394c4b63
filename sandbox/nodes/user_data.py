"""What a booting instance reads: nodeadm's NodeConfig or Bottlerocket's settings, parsed and not believed.

Written against the images' documentation and not against the code that writes user data: wrong user data
must leave the instance without a Node, as it would on AWS.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from email import message_from_string
from typing import Any

import yaml

# User data is whatever a launch template says.
Table = dict[str, Any]


class UnreadableUserDataError(Exception):
    """The instance boots, and never becomes a Node; the message says why."""


@dataclass(frozen=True, slots=True)
class Joining:
    """How kubelet is told to join."""

    cluster: str
    endpoint: str
    certificate_authority: str
    labels: Mapping[str, str]
    taints: tuple[Mapping[str, str], ...]
    max_pods: int | None = None
    kube_reserved: Mapping[str, str] = field(default_factory=dict)
    system_reserved: Mapping[str, str] = field(default_factory=dict)
    eviction_hard: Mapping[str, str] = field(default_factory=dict)


def read(user_data: str, image_name: str) -> Joining:
    """Parse as the image of this name would."""
    reader = _bottlerocket if image_name.startswith("bottlerocket") else _nodeadm
    try:
        return reader(user_data)
    except (KeyError, TypeError, ValueError, AttributeError, yaml.YAMLError) as error:
        raise UnreadableUserDataError(f"{image_name}: {type(error).__name__}: {error}") from error


def _nodeadm(user_data: str) -> Joining:
    """All NodeConfig parts merged in order, later ones winning; `--node-labels` is a kubelet flag."""
    spec: Table = {}
    for document in _node_configs(user_data):
        if document.get("apiVersion") != "node.eks.aws/v1alpha1" or document.get("kind") != "NodeConfig":
            raise ValueError(f"{document.get('kind')} of {document.get('apiVersion')} is no NodeConfig")
        spec = _merge(spec, document["spec"])
    cluster, kubelet = spec["cluster"], spec.get("kubelet", {})
    if not cluster["cidr"]:
        raise ValueError("spec.cluster.cidr is empty")
    config = kubelet.get("config", {})
    return Joining(
        cluster=cluster["name"],
        endpoint=cluster["apiServerEndpoint"],
        certificate_authority=cluster["certificateAuthority"],
        labels=_flag_labels(kubelet.get("flags", [])),
        taints=tuple(config.get("registerWithTaints", [])),
        max_pods=config.get("maxPods"),
        kube_reserved=config.get("kubeReserved", {}),
        system_reserved=config.get("systemReserved", {}),
        eviction_hard=config.get("evictionHard", {}),
    )


def _node_configs(user_data: str) -> list[Table]:
    message = message_from_string(user_data)
    if not message.is_multipart():
        raise ValueError("no MIME multipart document")
    parts = [p for p in message.walk() if p.get_content_type() == "application/node.eks.aws"]
    return [yaml.safe_load(str(part.get_payload())) for part in parts]


def _merge(below: Table, above: Table) -> Table:
    merged = dict(below)
    for key, value in above.items():
        inner = merged.get(key)
        merged[key] = _merge(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return merged


def _flag_labels(flags: list[str]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for flag in flags:
        name, _, value = flag.partition("=")
        if name == "--node-labels":
            labels |= dict(pair.split("=", 1) for pair in value.split(",") if pair)
    return labels


def _bottlerocket(user_data: str) -> Joining:
    settings = tomllib.loads(user_data)["settings"]["kubernetes"]
    return Joining(
        cluster=settings["cluster-name"],
        endpoint=settings["api-server"],
        certificate_authority=settings["cluster-certificate"],
        labels=settings.get("node-labels", {}),
        taints=tuple(_taint(key, value) for key, values in settings.get("node-taints", {}).items() for value in values),
        max_pods=settings.get("max-pods"),
        kube_reserved=settings.get("kube-reserved", {}),
        system_reserved=settings.get("system-reserved", {}),
        eviction_hard=settings.get("eviction-hard", {}),
    )


def _taint(key: str, value_effect: str) -> Mapping[str, str]:
    value, _, effect = value_effect.rpartition(":")
    return {"key": key, "effect": effect} | ({"value": value} if value else {})
