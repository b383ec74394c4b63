import json

from nodewright.adapters.manifests.daemon_sets import read_daemon_set, read_daemon_sets
from nodewright.adapters.manifests.pod_specs import PodSpecs
from nodewright.domain.pods import PodKey
from tests.adapters.manifests.raw import Json, container


def daemon_set(name: str = "agent") -> Json:
    spec = {
        "containers": [container({"cpu": "300m", "memory": "256Mi"})],
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"operator": "Exists"}],
    }
    return {
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": "kube-system"},
        "spec": {"selector": {}, "template": {"metadata": {"labels": {}}, "spec": spec}},
        "status": {"desiredNumberScheduled": 3},
    }


def test_a_daemon_set_is_what_its_template_asks() -> None:
    read = read_daemon_set(daemon_set())
    assert read.key == PodKey("kube-system", "agent")
    assert dict(read.requests) == {"cpu": 300, "memory": 256 * 2**20, "pods": 1}
    assert read.alternatives[0].admits({"kubernetes.io/os": "linux"})
    assert read.tolerations[0].operator == "Exists"


def test_a_list_is_read_with_the_names_in_it() -> None:
    body = json.dumps({"metadata": {"continue": "more"}, "items": [daemon_set("a"), daemon_set("b")]}).encode()
    page = read_daemon_sets(body, PodSpecs())
    assert [d.key.name for d in page.items] == ["a", "b"]
    assert page.next_page == "more"
