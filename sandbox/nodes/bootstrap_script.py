"""/etc/eks/bootstrap.sh of the AL2 images, as far as its arguments go (documented in awslabs/amazon-eks-ami)."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email import message_from_string

_PROGRAM = "/etc/eks/bootstrap.sh"
_OPTIONS = frozenset(
    {
        "apiserver-endpoint",
        "aws-api-retry-attempts",
        "b64-cluster-ca",
        "cluster-id",
        "container-runtime",
        "containerd-config-file",
        "dns-cluster-ip",
        "docker-config-json",
        "enable-docker-bridge",
        "enable-local-outpost",
        "ip-family",
        "kubelet-extra-args",
        "local-disks",
        "mount-bpf-fs",
        "pause-container-account",
        "pause-container-version",
        "service-ipv6-cidr",
        "use-max-pods",
    }
)
# Those of kubelet's that anybody gives it there; it doesn't start with one it doesn't know.
_KUBELET_FLAGS = frozenset(
    {
        "cluster-dns",
        "cpu-cfs-quota",
        "eviction-hard",
        "eviction-max-pod-grace-period",
        "eviction-soft",
        "eviction-soft-grace-period",
        "feature-gates",
        "image-gc-high-threshold",
        "image-gc-low-threshold",
        "kube-reserved",
        "max-pods",
        "node-labels",
        "pods-per-core",
        "register-with-taints",
        "system-reserved",
        "v",
    }
)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of bootstrap.sh."""

    cluster: str
    options: Mapping[str, str]
    kubelet_flags: Mapping[str, str]


def read(user_data: str) -> Call:
    """The last call in the shell scripts of a user data document. ValueError without one that works."""
    calls = [words for script in _scripts(user_data) for words in _calls(script)]
    if not calls:
        raise ValueError(f"no shell script that calls {_PROGRAM}")
    return _call(calls[-1])


def _scripts(user_data: str) -> Iterator[str]:
    """Documents of the type that cloud-init runs."""
    message = message_from_string(user_data)
    if not message.is_multipart():
        yield user_data
        return
    for part in message.walk():
        if part.get_content_type() == "text/x-shellscript":
            yield bytes(part.get_payload(decode=True)).decode().lstrip("\n")


def _calls(script: str) -> Iterator[list[str]]:
    """None in a script without its first line, which doesn't run."""
    if not script.startswith("#!"):
        return
    for line in script.replace("\\\n", " ").splitlines():
        if line.strip().startswith(_PROGRAM):
            yield shlex.split(line, comments=True)[1:]


def _call(words: list[str]) -> Call:
    """One word alone is the cluster; every option has a value."""
    left, alone, options = list(words), [], {}
    while left:
        word = left.pop(0)
        if not word.startswith("--"):
            alone.append(word)
        elif word.removeprefix("--") in _OPTIONS and left:
            options[word.removeprefix("--")] = left.pop(0)
        else:
            raise ValueError(f"{_PROGRAM} has no option {word}, or it lacks its value")
    (cluster,) = alone
    return Call(cluster, options, _flags(options.get("kubelet-extra-args", "")))


def _flags(extra: str) -> dict[str, str]:
    flags = dict(word.removeprefix("--").split("=", 1) for word in shlex.split(extra))
    unknown = flags.keys() - _KUBELET_FLAGS
    if unknown:
        raise ValueError(f"kubelet has no flag {', '.join(sorted(unknown))}")
    return flags
