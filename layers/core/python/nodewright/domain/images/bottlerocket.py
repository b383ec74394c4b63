"""Bottlerocket: settings in TOML; the class's own survive, ours win under settings.kubernetes."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

import tomli_w

from nodewright.domain.images.family import Arch, Bootstrap, ImageQuery, UserDataError, Variant
from nodewright.domain.nodeclasses import AmiFamily, BlockDevice, Kubelet
from nodewright.domain.taints import Taint

_SSM_ARCH: dict[Arch, str] = {"amd64": "x86_64", "arm64": "arm64"}
#: The x86 standard image serves Neuron too (karpenter-behaviour §2.5).
_VARIANTS: tuple[tuple[Arch, Variant, str], ...] = (
    ("amd64", "standard", ""),
    ("arm64", "standard", ""),
    ("amd64", "nvidia", "-nvidia"),
    ("arm64", "nvidia", "-nvidia"),
    ("amd64", "neuron", ""),
)


@dataclass(frozen=True, slots=True)
class Bottlerocket:
    """The family."""

    name: AmiFamily = "Bottlerocket"
    alias: str = "bottlerocket"
    block_devices: tuple[BlockDevice, ...] = (
        BlockDevice("/dev/xvda", volume_size_gib=4, volume_type="gp3", encrypted=True, delete_on_termination=True),
        BlockDevice("/dev/xvdb", volume_size_gib=20, volume_type="gp3", encrypted=True, delete_on_termination=True),
    )

    def queries(self, kubernetes: str, version: str) -> tuple[ImageQuery, ...]:
        """Parameters as Bottlerocket publishes them; versions stand there without their v."""
        leaf = version.removeprefix("v")
        return tuple(
            ImageQuery(
                f"/aws/service/bottlerocket/aws-k8s-{kubernetes}{suffix}/{_SSM_ARCH[arch]}/{leaf}/image_id",
                arch,
                variant,
            )
            for arch, variant, suffix in _VARIANTS
        )

    def user_data(self, bootstrap: Bootstrap) -> str:
        """One TOML document."""
        document = _parse(bootstrap.user_data)
        settings = _table(document, "settings")
        settings["kubernetes"] = _merged(_table(settings, "kubernetes", "settings."), _kubernetes(bootstrap))
        if bootstrap.raid0:
            commands = _table(settings, "bootstrap-commands", "settings.")
            commands["000-mount-instance-storage"] = _mount_instance_storage()
        return tomli_w.dumps(document)


BOTTLEROCKET = Bottlerocket()


def _parse(user_data: str) -> dict[str, object]:
    try:
        return tomllib.loads(user_data)
    except tomllib.TOMLDecodeError as error:
        raise UserDataError(f"spec.userData is not TOML, which Bottlerocket needs: {error}") from error


def _table(parent: dict[str, object], key: str, path: str = "") -> dict[str, object]:
    value = parent.setdefault(key, {})
    if not isinstance(value, dict):
        raise UserDataError(f"spec.userData: {path}{key} is {value!r}; it must be a table")
    return value


def _merged(user: Mapping[str, object], ours: Mapping[str, object]) -> dict[str, object]:
    """Ours wins per setting; labels and taints are added to the user's, key by key."""
    merged = {**user, **ours}
    for key in ("node-labels", "node-taints"):
        own, added = user.get(key), ours.get(key)
        if isinstance(own, dict) and isinstance(added, dict):
            merged[key] = {**own, **added}
    return merged


def _kubernetes(bootstrap: Bootstrap) -> dict[str, object]:
    dns: object = list(bootstrap.kubelet.cluster_dns) or bootstrap.dns_ip
    table: dict[str, object] = {
        "cluster-name": bootstrap.cluster,
        "api-server": bootstrap.endpoint,
        "cluster-certificate": bootstrap.certificate_authority,
        "cluster-dns-ip": dns,
        **_kubelet(bootstrap.kubelet),
    }
    if bootstrap.labels:
        table["node-labels"] = dict(sorted(bootstrap.labels.items()))
    if bootstrap.taints:
        table["node-taints"] = _taints(bootstrap.taints)
    return table


def _taints(taints: tuple[Taint, ...]) -> dict[str, list[str]]:
    """`key = ["value:effect", …]`."""
    table: dict[str, list[str]] = {}
    for taint in taints:
        table.setdefault(taint.key, []).append(f"{taint.value}:{taint.effect}")
    return table


def _kubelet(kubelet: Kubelet) -> dict[str, object]:
    """The settings Bottlerocket has a name for; podsPerCore has none."""
    named: dict[str, object] = {
        "max-pods": kubelet.max_pods,
        "system-reserved": dict(kubelet.system_reserved) or None,
        "kube-reserved": dict(kubelet.kube_reserved) or None,
        "eviction-hard": dict(kubelet.eviction_hard) or None,
        "eviction-soft": dict(kubelet.eviction_soft) or None,
        "eviction-soft-grace-period": dict(kubelet.eviction_soft_grace_period) or None,
        "eviction-max-pod-grace-period": kubelet.eviction_max_pod_grace_period,
        "image-gc-high-threshold-percent": kubelet.image_gc_high_threshold_percent,
        "image-gc-low-threshold-percent": kubelet.image_gc_low_threshold_percent,
        "cpu-cfs-quota-enforced": kubelet.cpu_cfs_quota,
    }
    return {name: value for name, value in named.items() if value is not None}


def _mount_instance_storage() -> dict[str, object]:
    """Set the instance store up and bind the folders that hold pods' data onto it."""
    return {
        "commands": [
            ["apiclient", "ephemeral-storage", "init"],
            [
                "apiclient",
                "ephemeral-storage",
                "bind",
                "--dirs",
                "/var/lib/containerd",
                "/var/lib/kubelet",
                "/var/log/pods",
            ],
        ],
        "mode": "always",
        "essential": True,
    }
