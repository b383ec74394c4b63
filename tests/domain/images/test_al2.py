from email import message_from_string

import pytest

from nodewright.domain.images.al2 import AL2, has_image
from tests.domain.images.bootstraps import ALL_SETTINGS, TAINTS, bootstrap

SCRIPT = "#!/bin/bash\necho hello\n"
NODE_CONFIG = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n"


def parts(user_data: str, **changes: object) -> list[tuple[str, str]]:
    """Content type and text of each part, read as cloud-init reads."""
    message = message_from_string(AL2.user_data(bootstrap(user_data=user_data, **changes)))
    assert message.is_multipart()
    assert not message.defects
    return [(p.get_content_type(), str(p.get_payload()).strip()) for p in message.walk() if not p.is_multipart()]


def script(**changes: object) -> str:
    ((kind, text),) = parts("", **changes)
    assert kind == "text/x-shellscript"
    return text


def test_alone_it_is_one_script_that_calls_the_image_s_own() -> None:
    assert script(labels={}) == (
        "#!/bin/bash\n"
        "set -ex\n"
        "/etc/eks/bootstrap.sh prod \\\n"
        "  --apiserver-endpoint https://k8s.example \\\n"
        "  --b64-cluster-ca Q0E= \\\n"
        "  --dns-cluster-ip 10.100.0.10"
    )


def test_options_and_kubelet_s_flags_are_in_karpenter_s_order() -> None:
    extra = (
        "--node-labels=example.com/disk=fast,team=a"
        " --register-with-taints=dedicated=web:NoSchedule,dedicated:NoExecute,boot:NoSchedule"
        " --max-pods=58 --pods-per-core=10"
        " --system-reserved=cpu=100m --kube-reserved=memory=300Mi"
        " --eviction-hard=memory.available<5% --eviction-soft=memory.available<10%"
        " --eviction-soft-grace-period=memory.available=1m --eviction-max-pod-grace-period=60"
        " --image-gc-high-threshold=85 --image-gc-low-threshold=80 --cpu-cfs-quota=false"
    )
    assert script(kubelet=ALL_SETTINGS, taints=TAINTS, raid0=True).splitlines()[5:] == [
        "  --dns-cluster-ip 10.100.0.53 \\",
        "  --use-max-pods false \\",
        f"  --kubelet-extra-args '{extra}' \\",
        "  --local-disks raid0",
    ]


def test_an_ipv6_dns_means_an_ipv6_cluster() -> None:
    assert "--ip-family ipv6 \\\n  --dns-cluster-ip fd00::a" in script(dns_ip="fd00::a")


def test_nothing_a_value_holds_is_run_by_the_shell() -> None:
    assert "/etc/eks/bootstrap.sh '$(reboot)' " in script(cluster="$(reboot)")


@pytest.mark.parametrize(
    ("user_data", "kinds"),
    [
        pytest.param(SCRIPT, ["text/x-shellscript"], id="script"),
        pytest.param(NODE_CONFIG, ["text/x-shellscript"], id="yaml"),
        pytest.param(
            f'Content-Type: multipart/mixed; boundary="B"\n\n--B\nContent-Type: text/cloud-config\n\n{SCRIPT}\n--B--\n',
            ["text/cloud-config"],
            id="mime",
        ),
        pytest.param(" \n", [], id="blank"),
    ],
)
def test_the_classes_own_comes_first_and_ours_last(user_data: str, kinds: list[str]) -> None:
    found = parts(user_data)
    assert [kind for kind, _ in found] == [*kinds, "text/x-shellscript"]
    assert "/etc/eks/bootstrap.sh" in found[-1][1]


def test_images_are_where_eks_published_them() -> None:
    root = "/aws/service/eks/optimized-ami/1.32"
    latest = {(q.arch, q.variant): q.parameter for q in AL2.queries("1.32", "latest")}
    assert latest == {
        ("amd64", "standard"): f"{root}/amazon-linux-2/recommended/image_id",
        ("arm64", "standard"): f"{root}/amazon-linux-2-arm64/recommended/image_id",
        ("amd64", "nvidia"): f"{root}/amazon-linux-2-gpu/recommended/image_id",
        ("amd64", "neuron"): f"{root}/amazon-linux-2-gpu/recommended/image_id",
    }
    pinned = AL2.queries("1.32", "v20261109")[1]
    assert pinned.parameter == f"{root}/amazon-linux-2-arm64/amazon-eks-arm64-node-1.32-v20261109/image_id"


@pytest.mark.parametrize(("kubernetes", "there"), [("1.9", True), ("1.32", True), ("1.33", False), ("2.0", False)])
def test_later_versions_have_no_image(kubernetes: str, there: bool) -> None:
    assert has_image(kubernetes) == there
    assert bool(AL2.queries(kubernetes, "latest")) == there
