import tomllib
from typing import Any

import pytest

from nodewright.domain.images import UserDataError
from nodewright.domain.images.bottlerocket import BOTTLEROCKET
from nodewright.domain.taints import Taint
from tests.domain.images.bootstraps import ALL_SETTINGS, TAINTS, bootstrap

THEIRS = """
[settings.kubernetes]
cluster-name = "theirs"
max-pods = 7
log-level = 3

[settings.kubernetes.node-labels]
team = "theirs"
own = "1"

[settings.kubernetes.node-taints]
own = ["x:NoSchedule"]

[settings.host-containers.admin]
enabled = true
"""


def written(**changes: object) -> dict[str, Any]:
    return tomllib.loads(BOTTLEROCKET.user_data(bootstrap(**changes)))


def test_alone_it_says_which_cluster_to_join() -> None:
    assert written() == {
        "settings": {
            "kubernetes": {
                "cluster-name": "prod",
                "api-server": "https://k8s.example",
                "cluster-certificate": "Q0E=",
                "cluster-dns-ip": "10.100.0.10",
                "node-labels": {"team": "a", "example.com/disk": "fast"},
            }
        }
    }


def test_the_classes_other_settings_survive_and_ours_win() -> None:
    settings = written(user_data=THEIRS)["settings"]
    assert settings["host-containers"] == {"admin": {"enabled": True}}
    assert settings["kubernetes"]["log-level"] == 3
    assert settings["kubernetes"]["max-pods"] == 7
    assert settings["kubernetes"]["cluster-name"] == "prod"


def test_labels_and_taints_are_added_to_the_classes_own() -> None:
    kubernetes = written(user_data=THEIRS, taints=(Taint("ours"),))["settings"]["kubernetes"]
    assert kubernetes["node-labels"] == {"team": "a", "own": "1", "example.com/disk": "fast"}
    assert kubernetes["node-taints"] == {"own": ["x:NoSchedule"], "ours": [":NoSchedule"]}


def test_taints_of_one_key_are_one_list() -> None:
    assert written(taints=TAINTS)["settings"]["kubernetes"]["node-taints"] == {
        "dedicated": ["web:NoSchedule", ":NoExecute"],
        "boot": [":NoSchedule"],
    }


def test_kubelet_settings_have_bottlerockets_names() -> None:
    kubernetes = written(kubelet=ALL_SETTINGS, labels={})["settings"]["kubernetes"]
    assert {key: value for key, value in kubernetes.items() if key not in {"cluster-name", "api-server"}} == {
        "cluster-certificate": "Q0E=",
        "cluster-dns-ip": ["10.100.0.53"],
        "max-pods": 58,
        "system-reserved": {"cpu": "100m"},
        "kube-reserved": {"memory": "300Mi"},
        "eviction-hard": {"memory.available": "5%"},
        "eviction-soft": {"memory.available": "10%"},
        "eviction-soft-grace-period": {"memory.available": "1m"},
        "eviction-max-pod-grace-period": 60,
        "image-gc-high-threshold-percent": 85,
        "image-gc-low-threshold-percent": 80,
        "cpu-cfs-quota-enforced": False,
    }


@pytest.mark.parametrize(
    ("user_data", "told"),
    [
        ("#!/bin/bash\necho hello", r"spec\.userData is not TOML, which Bottlerocket needs: .*line 2"),
        ("settings = 3", r"spec\.userData: settings is 3; it must be a table"),
        ("[settings]\nkubernetes = []", r"spec\.userData: settings\.kubernetes is \[\]; it must be a table"),
    ],
)
def test_what_cannot_be_merged_is_refused_by_field(user_data: str, told: str) -> None:
    with pytest.raises(UserDataError, match=told):
        written(user_data=user_data)


def test_local_disks_hold_pods_data_where_the_class_says_so() -> None:
    commands = written(raid0=True)["settings"]["bootstrap-commands"]["000-mount-instance-storage"]
    assert commands["commands"][0] == ["apiclient", "ephemeral-storage", "init"]
    assert commands["commands"][1][:4] == ["apiclient", "ephemeral-storage", "bind", "--dirs"]
    assert "/var/lib/kubelet" in commands["commands"][1]
    assert (commands["mode"], commands["essential"]) == ("always", True)
    assert "bootstrap-commands" not in written()["settings"]


def test_images_are_where_bottlerocket_publishes_them() -> None:
    assert {q.parameter for q in BOTTLEROCKET.queries("1.37", "latest")} == {
        "/aws/service/bottlerocket/aws-k8s-1.37/x86_64/latest/image_id",
        "/aws/service/bottlerocket/aws-k8s-1.37/arm64/latest/image_id",
        "/aws/service/bottlerocket/aws-k8s-1.37-nvidia/x86_64/latest/image_id",
        "/aws/service/bottlerocket/aws-k8s-1.37-nvidia/arm64/latest/image_id",
    }
    pinned = BOTTLEROCKET.queries("1.37", "v1.62.0")[0]
    assert pinned.parameter == "/aws/service/bottlerocket/aws-k8s-1.37/x86_64/1.62.0/image_id"
