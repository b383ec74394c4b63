from email import message_from_string

import pytest
import yaml

from nodewright.domain.images import UserDataError
from nodewright.domain.images.al2023 import AL2023, node_config
from sandbox.nodes.user_data import read
from tests.domain.images.bootstraps import ALL_SETTINGS, bootstrap

SCRIPT = "#!/bin/bash\necho hello\n"
NODE_CONFIG = """apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster: {name: theirs}
  kubelet: {config: {maxPods: 7}}
"""
MIME = f"""MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="THEIRS"

--THEIRS
Content-Type: text/x-shellscript; charset="us-ascii"

{SCRIPT}
--THEIRS
Content-Type: application/node.eks.aws

{NODE_CONFIG}
--THEIRS--
"""


def parts(user_data: str) -> list[tuple[str, str]]:
    """Content type and text of each part, read as cloud-init reads."""
    message = message_from_string(AL2023.user_data(bootstrap(user_data=user_data)))
    assert message.is_multipart()
    assert not message.defects
    return [(p.get_content_type(), str(p.get_payload()).strip()) for p in message.walk() if not p.is_multipart()]


def test_alone_it_is_one_node_config() -> None:
    ((kind, text),) = parts("")
    assert kind == "application/node.eks.aws"
    assert yaml.safe_load(text) == node_config(bootstrap())


@pytest.mark.parametrize(
    ("user_data", "kinds"),
    [
        pytest.param(SCRIPT, ["text/x-shellscript"], id="script"),
        pytest.param("just words", ["text/x-shellscript"], id="words"),
        pytest.param(": not yaml : [", ["text/x-shellscript"], id="no yaml"),
        pytest.param(NODE_CONFIG, ["application/node.eks.aws"], id="yaml"),
        pytest.param(MIME, ["text/x-shellscript", "application/node.eks.aws"], id="mime"),
        pytest.param("\n" + MIME, ["text/x-shellscript", "application/node.eks.aws"], id="mime after a blank line"),
        pytest.param(
            MIME.partition("\n")[2], ["text/x-shellscript", "application/node.eks.aws"], id="mime, no version"
        ),
        pytest.param(" \n", [], id="blank"),
    ],
)
def test_the_classes_own_comes_first_and_ours_last(user_data: str, kinds: list[str]) -> None:
    assert [kind for kind, _ in parts(user_data)] == [*kinds, "application/node.eks.aws"]


@pytest.mark.parametrize("user_data", [SCRIPT, MIME], ids=["alone", "in MIME"])
def test_a_script_arrives_as_it_was_written(user_data: str) -> None:
    assert parts(user_data)[0] == ("text/x-shellscript", SCRIPT.strip())


def test_what_the_class_sets_survives_where_we_say_nothing_and_ours_wins() -> None:
    joining = read(AL2023.user_data(bootstrap(user_data=NODE_CONFIG)), "al2023")
    assert (joining.cluster, joining.max_pods) == ("prod", 7)


def test_encoding_and_name_of_a_part_are_kept() -> None:
    theirs = (
        'Content-Type: multipart/mixed; boundary="B"\n\n--B\nContent-Type: text/x-shellscript\n'
        'Content-Transfer-Encoding: base64\nContent-Disposition: attachment; filename="a.sh"\n\n'
        "IyEvYmluL3NoCg==\n--B--\n"
    )
    message = message_from_string(AL2023.user_data(bootstrap(user_data=theirs)))
    first = next(part for part in message.walk() if not part.is_multipart())
    assert first.get_payload(decode=True) == b"#!/bin/sh\n"
    assert first.get_filename() == "a.sh"


def test_a_single_part_of_mime_is_a_part() -> None:
    assert parts(f"MIME-Version: 1.0\nContent-Type: text/x-shellscript\n\n{SCRIPT}")[0][1] == SCRIPT.strip()


@pytest.mark.parametrize(
    "user_data",
    ["MIME-Version: 1.0\nContent-Type: multipart/mixed\n\nno parts", 'Content-Type: multipart/mixed; boundary="B"\n'],
)
def test_mime_without_parts_is_refused_by_field(user_data: str) -> None:
    with pytest.raises(UserDataError, match=r"spec\.userData .*MIME"):
        AL2023.user_data(bootstrap(user_data=user_data))


def test_kubelet_settings_have_their_kubelet_names() -> None:
    config = node_config(bootstrap(kubelet=ALL_SETTINGS))["spec"]["kubelet"]["config"]  # type: ignore[index]
    assert config == {
        "clusterDNS": ["10.100.0.53"],
        "maxPods": 58,
        "podsPerCore": 10,
        "systemReserved": {"cpu": "100m"},
        "kubeReserved": {"memory": "300Mi"},
        "evictionHard": {"memory.available": "5%"},
        "evictionSoft": {"memory.available": "10%"},
        "evictionSoftGracePeriod": {"memory.available": "1m"},
        "evictionMaxPodGracePeriod": 60,
        "imageGCHighThresholdPercent": 85,
        "imageGCLowThresholdPercent": 80,
        "cpuCFSQuota": False,
    }


def test_without_a_dns_of_its_own_a_class_has_the_clusters() -> None:
    assert node_config(bootstrap())["spec"]["kubelet"]["config"] == {"clusterDNS": ["10.100.0.10"]}  # type: ignore[index]


def test_local_disks_become_one_where_the_class_says_so() -> None:
    assert "instance" not in node_config(bootstrap())["spec"]  # type: ignore[operator]
    spec = node_config(bootstrap(raid0=True))["spec"]
    assert spec["instance"] == {"localStorage": {"strategy": "RAID0"}}  # type: ignore[index]


def test_images_are_where_eks_publishes_them() -> None:
    root = "/aws/service/eks/optimized-ami/1.37/amazon-linux-2023"
    assert {q.parameter for q in AL2023.queries("1.37", "latest")} == {
        f"{root}/x86_64/standard/recommended/image_id",
        f"{root}/arm64/standard/recommended/image_id",
        f"{root}/x86_64/nvidia/recommended/image_id",
        f"{root}/arm64/nvidia/recommended/image_id",
        f"{root}/x86_64/neuron/recommended/image_id",
    }
    pinned = AL2023.queries("1.37", "v20261101")[1]
    assert pinned.parameter == f"{root}/arm64/standard/amazon-eks-node-al2023-arm64-standard-1.37-v20261101/image_id"
