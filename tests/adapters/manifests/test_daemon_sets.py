import json
from typing import Any

from nodewright.adapters.manifests.container_defaults import NO_DEFAULTS, ContainerDefaults
from nodewright.adapters.manifests.daemon_sets import read_daemon_sets
from nodewright.adapters.manifests.pod_specs import PodSpecs
from nodewright.domain.host_ports import HostPort
from nodewright.domain.pods import DaemonSet, PodKey
from tests.adapters.manifests.raw import container


def daemon_set(name: str = "agent") -> dict[str, Any]:
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


def read(raw: dict[str, Any], defaults: ContainerDefaults = NO_DEFAULTS) -> DaemonSet:
    (found,) = read_daemon_sets(json.dumps({"items": [raw]}).encode(), PodSpecs(), defaults).items
    return found


def test_a_daemon_set_is_what_its_template_asks() -> None:
    found = read(daemon_set())
    assert found.key == PodKey("kube-system", "agent")
    assert dict(found.requests) == {"cpu": 300, "memory": 256 * 2**20, "pods": 1}
    assert found.alternatives[0].admits({"kubernetes.io/os": "linux"})
    assert found.tolerations[0].operator == "Exists"


def test_a_list_is_read_with_the_names_in_it() -> None:
    body = json.dumps({"metadata": {"continue": "more"}, "items": [daemon_set("a"), daemon_set("b")]}).encode()
    page = read_daemon_sets(body, PodSpecs())
    assert [d.key.name for d in page.items] == ["a", "b"]
    assert page.next_page == "more"


def test_what_its_pods_will_be_known_by_is_read_from_the_template() -> None:
    raw = daemon_set()
    raw["metadata"]["annotations"] = {"deprecated.daemonset.template.generation": "3"}
    template = raw["spec"]["template"]
    template["metadata"]["labels"] = {"app": "agent"}
    template["spec"]["containers"] = [container(ports=[{"containerPort": 9100}])]
    template["spec"]["hostNetwork"] = True
    found = read(raw)
    assert (found.labels, found.generation, found.host_ports) == ({"app": "agent"}, "3", (HostPort(9100),))


def test_limit_ranges_of_its_namespace_fill_in_what_its_containers_do_not_say() -> None:
    raw = daemon_set()
    raw["spec"]["template"]["spec"]["initContainers"] = [{"name": "i", "resources": {}}]
    raw["spec"]["template"]["spec"]["containers"] = [
        {"name": "a", "resources": {"limits": {"cpu": "2"}}},
        {"name": "b"},
    ]
    defaults = {"kube-system": {"cpu": "100m", "memory": "1Gi"}, "shop": {"cpu": "9"}}
    assert dict(read(raw, defaults).requests) == {"cpu": 2100, "memory": 2 * 2**30, "pods": 1}
    assert dict(read(raw).requests) == {"cpu": 2000, "pods": 1}
