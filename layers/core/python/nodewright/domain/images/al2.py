"""Amazon Linux 2: a shell script in MIME user data calls the image's own bootstrap.sh."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from nodewright.domain.images.family import Arch, Bootstrap, ImageQuery, Variant
from nodewright.domain.images.mime import SHELL_SCRIPT, Part, document, user_parts
from nodewright.domain.nodeclasses import AmiFamily, BlockDevice, Kubelet

#: The GPU image serves Neuron too (karpenter-behaviour §2.5).
_VARIANTS: tuple[tuple[Arch, Variant, str], ...] = (
    ("amd64", "standard", ""),
    ("arm64", "standard", "-arm64"),
    ("amd64", "nvidia", "-gpu"),
    ("amd64", "neuron", "-gpu"),
)
#: EKS published none for later versions.
_LAST: Final = (1, 32)
_FIRST_LINES: Final = "#!/bin/bash\nset -ex\n"


@dataclass(frozen=True, slots=True)
class Al2:
    """The family."""

    name: AmiFamily = "AL2"
    alias: str = "al2"
    block_devices: tuple[BlockDevice, ...] = (
        BlockDevice("/dev/xvda", volume_size_gib=20, volume_type="gp3", encrypted=True, delete_on_termination=True),
    )

    def queries(self, kubernetes: str, version: str) -> tuple[ImageQuery, ...]:
        """Parameters as EKS published them; none for a Kubernetes that has no AL2 image."""
        if not has_image(kubernetes):
            return ()
        root = f"/aws/service/eks/optimized-ami/{kubernetes}/amazon-linux-2"
        return tuple(
            ImageQuery(f"{root}{suffix}/{_leaf(kubernetes, version, suffix)}/image_id", arch, variant)
            for arch, variant, suffix in _VARIANTS
        )

    def user_data(self, bootstrap: Bootstrap) -> str:
        """The class's parts first, ours last, so that what theirs prepares is there when kubelet starts."""
        parts = user_parts(bootstrap.user_data, yaml_is_node_config=False)
        return document((*parts, Part(SHELL_SCRIPT, _script(bootstrap))))


AL2 = Al2()


def has_image(kubernetes: str) -> bool:
    """Whether EKS published AL2 images for a Kubernetes minor (`1.32`)."""
    return tuple(int(part) for part in kubernetes.split(".")[:2]) <= _LAST


def _leaf(kubernetes: str, version: str, suffix: str) -> str:
    return "recommended" if version == "latest" else f"amazon-eks{suffix}-node-{kubernetes}-{version}"


def _script(bootstrap: Bootstrap) -> str:
    """bootstrap.sh with its arguments, an option a line."""
    call = f"/etc/eks/bootstrap.sh {shlex.quote(bootstrap.cluster)}"
    options = (f"--{name} {shlex.quote(value)}" for name, value in _arguments(bootstrap))
    return _FIRST_LINES + " \\\n  ".join([call, *options]) + "\n"


def _arguments(bootstrap: Bootstrap) -> Iterator[tuple[str, str]]:
    """Without a maxPods of the class's own the image's table says how many pods a node takes."""
    dns = (*bootstrap.kubelet.cluster_dns, bootstrap.dns_ip)[0]
    yield "apiserver-endpoint", bootstrap.endpoint
    yield "b64-cluster-ca", bootstrap.certificate_authority
    if ":" in dns:
        yield "ip-family", "ipv6"
    yield "dns-cluster-ip", dns
    if bootstrap.kubelet.max_pods is not None:
        yield "use-max-pods", "false"
    extra = " ".join(f"--{name}={value}" for name, value in _kubelet_flags(bootstrap))
    if extra:
        yield "kubelet-extra-args", extra
    if bootstrap.raid0:
        yield "local-disks", "raid0"


def _kubelet_flags(bootstrap: Bootstrap) -> Iterator[tuple[str, str]]:
    """Kubelet's flags that are set, in Karpenter's order (karpenter-behaviour §2.4)."""
    flags = {
        "node-labels": _pairs(bootstrap.labels),
        "register-with-taints": ",".join(map(str, bootstrap.taints)),
        **_settings(bootstrap.kubelet),
    }
    return ((name, value) for name, value in flags.items() if value)


def _settings(kubelet: Kubelet) -> dict[str, str]:
    return {
        "max-pods": _number(kubelet.max_pods),
        "pods-per-core": _number(kubelet.pods_per_core),
        "system-reserved": _pairs(kubelet.system_reserved),
        "kube-reserved": _pairs(kubelet.kube_reserved),
        "eviction-hard": _pairs(kubelet.eviction_hard, "<"),
        "eviction-soft": _pairs(kubelet.eviction_soft, "<"),
        "eviction-soft-grace-period": _pairs(kubelet.eviction_soft_grace_period),
        "eviction-max-pod-grace-period": _number(kubelet.eviction_max_pod_grace_period),
        "image-gc-high-threshold": _number(kubelet.image_gc_high_threshold_percent),
        "image-gc-low-threshold": _number(kubelet.image_gc_low_threshold_percent),
        "cpu-cfs-quota": "" if kubelet.cpu_cfs_quota is None else str(kubelet.cpu_cfs_quota).lower(),
    }


def _pairs(each: Mapping[str, str], between: str = "=") -> str:
    return ",".join(f"{key}{between}{value}" for key, value in sorted(each.items()))


def _number(number: int | None) -> str:
    return "" if number is None else str(number)
