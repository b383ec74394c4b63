"""Access as kubectl has it, by the kubeconfig's current context."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from nodewright.adapters.kubeconfig import kubeconfig_api
from nodewright.adapters.kubernetes import KubernetesCluster
from nodewright.application.errors import RefusedError
from tests.adapters.api_server import ApiServer, group, page
from tests.adapters.manifests.raw import node_pool

POOLS = "/apis/karpenter.sh/v1/nodepools"


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with ApiServer() as server:
        server.on("GET", "/apis/karpenter.sh", group("v1"))
        server.on("GET", POOLS, page(node_pool()))
        yield server


def kubeconfig(folder: Path, api: ApiServer, user: dict[str, str]) -> Path:
    path = folder / "kubeconfig"
    path.write_text(
        json.dumps(
            {
                "current-context": "c",
                "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
                "clusters": [{"name": "k", "cluster": {"server": api.url}}],
                "users": [{"name": "u", "user": user}],
            }
        )
    )
    return path


@pytest.mark.parametrize(("user", "sent"), [({"token": "t-1"}, "Bearer t-1"), ({}, None)], ids=["token", "certificate"])
def test_a_cluster_is_read_by_it_and_a_header_is_sent_only_where_there_is_a_token(
    tmp_path: Path, api: ApiServer, user: dict[str, str], sent: str | None
) -> None:
    cluster = KubernetesCluster(kubeconfig_api("prod", kubeconfig(tmp_path, api, user)))
    assert [pool.name for pool in cluster.node_pools()] == ["default"]
    (call,) = [each for each in api.made("GET") if each.path == POOLS]
    assert call.headers.get("Authorization") == sent


@pytest.mark.parametrize("text", ["", "{}", "not: [a kubeconfig"])
def test_what_is_no_kubeconfig_is_refused_by_its_path(tmp_path: Path, text: str) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(text)
    with pytest.raises(RefusedError, match=f"kubeconfig {path}"):
        kubeconfig_api("prod", path)
