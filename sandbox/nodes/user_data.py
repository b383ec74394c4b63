"""What a booting instance reads: nodeadm's NodeConfig, Bottlerocket's settings or AL2's bootstrap.sh, not believed.

Written against the images' documentation and not against the code that writes user data: wrong user data
must leave the instance without a Node, as it would on AWS.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email import message_from_string
from typing import Any

import yaml

from sandbox.nodes import bootstrap_script

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
    """Parse as the image of this name would; one of somebody's own takes after what its user data is written for."""
    try:
        return _reader(user_data, image_name)(user_data)
    except (KeyError, TypeError, ValueError, AttributeError, yaml.YAMLError) as error:
        raise UnreadableUserDataError(f"{image_name}: {type(error).__name__}: {error}") from error


def _reader(user_data: str, image_name: str) -> Callable[[str], Joining]:
    if image_name.startswith("bottlerocket"):
        return _bottlerocket
    if "al2023" in image_name:
        return _nodeadm
    if image_name.startswith("amazon-eks"):
        return _al2
    return _by_shape(user_data)


def _by_shape(user_data: str) -> Callable[[str], Joining]:
    if "node.eks.aws/v1alpha1" in user_data:
        return _nodeadm
    if re.search(r"^\[settings", user_data, re.MULTILINE):
        return _bottlerocket
    return _al2


def _al2(user_data: str) -> Joining:
    """Kubelet's flags count over what bootstrap.sh works out for the machine."""
    call = bootstrap_script.read(user_data)
    flags = call.kubelet_flags
    most = flags.get("max-pods") or ("110" if call.options.get("use-max-pods") == "false" else None)
    return Joining(
        cluster=call.cluster,
        endpoint=call.options["apiserver-endpoint"],
        certificate_authority=call.options["b64-cluster-ca"],
        labels=_listed(flags.get("node-labels", "")),
        taints=tuple(_flag_taint(text) for text in flags.get("register-with-taints", "").split(",") if text),
        max_pods=None if most is None else int(most),
        kube_reserved=_listed(flags.get("kube-reserved", "")),
        system_reserved=_listed(flags.get("system-reserved", "")),
        eviction_hard=_listed(flags.get("eviction-hard", ""), "<"),
    )


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
        return [_document(user_data)]
    parts = [p for p in message.walk() if p.get_content_type() == "application/node.eks.aws"]
    return [_document(str(part.get_payload())) for part in parts]


def _document(text: str) -> Table:
    document = yaml.safe_load(text)
    if not isinstance(document, dict):
        raise ValueError("neither MIME multipart nor a NodeConfig")  # noqa: TRY004  unreadable, as all else here
    return document


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
            labels |= _listed(value)
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


def _flag_taint(text: str) -> Mapping[str, str]:
    """`key=value:effect` or `key:effect`."""
    named, _, effect = text.rpartition(":")
    key, _, value = named.partition("=")
    return _taint(key, f"{value}:{effect}")


def _listed(text: str, between: str = "=") -> dict[str, str]:
    """`a=1,b=2`."""
    return dict(_pair(pair, between) for pair in text.split(",") if pair)


def _pair(text: str, between: str) -> tuple[str, str]:
    key, _, value = text.partition(between)
    return key, value
