"""What an instance makes of user data by its image, of Amazon Linux 2 and of images of somebody's own."""

import pytest

from nodewright.domain.images.al2 import AL2
from nodewright.domain.images.al2023 import AL2023
from nodewright.domain.images.bottlerocket import BOTTLEROCKET
from nodewright.domain.images.family import Family
from sandbox.nodes.user_data import UnreadableUserDataError, read
from tests.domain.images.bootstraps import bootstrap

IMAGE = "amazon-eks-node-1.32-v20261109"
CALL = "/etc/eks/bootstrap.sh prod --apiserver-endpoint https://k8s.example --b64-cluster-ca Q0E="


def script(*lines: str) -> str:
    return "\n".join(("#!/bin/bash", *lines)) + "\n"


def mime(*scripts: str) -> str:
    parts = "".join(f"--B\nContent-Type: text/x-shellscript\n\n{each}\n" for each in scripts)
    return f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n{parts}--B--\n'


@pytest.mark.parametrize("document", [script(CALL), mime("#!/bin/sh\ntrue", script(CALL))], ids=["script", "mime"])
def test_al2_joins_by_its_bootstrap_script(document: str) -> None:
    joining = read(document, IMAGE)
    assert (joining.cluster, joining.endpoint, joining.certificate_authority) == ("prod", "https://k8s.example", "Q0E=")
    assert joining.max_pods is None
    assert joining.labels == {}


def test_lines_that_go_on_and_comments_are_read_as_a_shell_reads_them() -> None:
    joining = read(script("# /etc/eks/bootstrap.sh other", CALL + " \\", "  --use-max-pods false # as I say"), IMAGE)
    assert joining.max_pods == 110


def test_kubelet_s_flags_are_read() -> None:
    flags = (
        "--node-labels=team=a,tier= --register-with-taints=a=b:NoSchedule,c:NoExecute --max-pods=20"
        " --kube-reserved=cpu=100m,memory=300Mi --system-reserved=cpu=50m --eviction-hard=memory.available<200Mi"
    )
    joining = read(script(f"{CALL} --kubelet-extra-args '{flags}'"), IMAGE)
    assert joining.labels == {"team": "a", "tier": ""}
    assert joining.taints == (
        {"key": "a", "value": "b", "effect": "NoSchedule"},
        {"key": "c", "effect": "NoExecute"},
    )
    assert joining.max_pods == 20
    assert joining.kube_reserved == {"cpu": "100m", "memory": "300Mi"}
    assert joining.system_reserved == {"cpu": "50m"}
    assert joining.eviction_hard == {"memory.available": "200Mi"}


@pytest.mark.parametrize(
    "document",
    [
        "",
        script("echo nothing"),
        CALL,
        script("/etc/eks/bootstrap.sh"),
        script("/etc/eks/bootstrap.sh prod --apiserver-endpoint https://k8s.example"),
        script(f"{CALL} --label team=a"),
        script(f"{CALL} --dns-cluster-ip"),
        script(f"{CALL} --kubelet-extra-args '--labels=team=a'"),
        script(f"{CALL} --kubelet-extra-args --node-labels"),
        AL2023.user_data(bootstrap()),
    ],
)
def test_what_al2_can_not_use_makes_no_node(document: str) -> None:
    with pytest.raises(UnreadableUserDataError, match="amazon-eks-node"):
        read(document, IMAGE)


@pytest.mark.parametrize("family", [AL2, AL2023, BOTTLEROCKET], ids=lambda family: str(family.name))
def test_an_image_of_somebody_s_own_takes_after_its_user_data(family: Family) -> None:
    joining = read(family.user_data(bootstrap()), "my-image")
    assert (joining.cluster, joining.labels) == ("prod", {"team": "a", "example.com/disk": "fast"})


def test_nodeadm_takes_a_config_without_mime_too() -> None:
    config = AL2023.user_data(bootstrap()).partition("node.eks.aws\n\n")[2].partition("\n--//")[0]
    assert read(config, "my-image").cluster == "prod"


@pytest.mark.parametrize("document", ["", "words", "#!/bin/sh\necho hello\n"])
def test_an_image_of_somebody_s_own_that_joins_nothing_makes_no_node(document: str) -> None:
    with pytest.raises(UnreadableUserDataError, match="my-image"):
        read(document, "my-image")
