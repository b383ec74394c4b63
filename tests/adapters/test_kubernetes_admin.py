from collections.abc import Iterator

import pytest
from kubernetes.client.configuration import Configuration

from nodewright.adapters.kubernetes_admin import KubernetesAdministrator
from nodewright.application.errors import RefusedError, UnavailableError
from tests.adapters.api_server import ApiServer, failure

NODE = "/api/v1/nodes/n-1"
OURS = "karpenter.sh/termination"


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with ApiServer() as server:
        yield server


def administrator(api: ApiServer) -> KubernetesAdministrator:
    return KubernetesAdministrator(Configuration(host=api.url))


def test_our_finalizer_is_taken_off_by_its_place(api: ApiServer) -> None:
    api.on("GET", NODE, (200, {"metadata": {"name": "n-1", "finalizers": ["a/b", OURS]}}))
    api.on("PATCH", NODE, (200, {}))
    administrator(api).release_node("n-1")
    (call,) = api.made("PATCH")
    assert call.headers["Content-Type"] == "application/json-patch+json"
    assert call.body == [
        {"op": "test", "path": "/metadata/finalizers/1", "value": OURS},
        {"op": "remove", "path": "/metadata/finalizers/1"},
    ]


def test_a_node_without_it_or_that_is_gone_is_left_alone(api: ApiServer) -> None:
    administrator(api).release_node("n-1")
    api.on("GET", NODE, (200, {"metadata": {"name": "n-1"}}))
    administrator(api).release_node("n-1")
    assert api.made("PATCH") == []


@pytest.mark.parametrize(
    ("status", "error"), [(422, RefusedError), (403, RefusedError), (429, UnavailableError), (503, UnavailableError)]
)
def test_a_refusal_says_what_was_refused(api: ApiServer, status: int, error: type[Exception]) -> None:
    api.on("GET", NODE, failure(status, "no"))
    with pytest.raises(error, match=f"GET {NODE}: {status} no"):
        administrator(api).release_node("n-1")
