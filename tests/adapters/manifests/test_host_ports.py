import pytest

from nodewright.adapters.manifests.pods import read_pod
from nodewright.domain.host_ports import HostPort
from tests.adapters.manifests.raw import Json, container, pod


def ports(*raw: Json, **spec: object) -> tuple[HostPort, ...]:
    return read_pod(pod({"containers": [container(ports=list(raw))], **spec})).host_ports


def test_a_host_port_is_read_with_protocol_and_address() -> None:
    assert ports({"containerPort": 80, "hostPort": 8080}) == (HostPort(8080),)
    assert ports({"hostPort": 53, "protocol": "UDP", "hostIP": "10.0.0.9"}) == (HostPort(53, "UDP", "10.0.0.9"),)
    assert ports({"containerPort": 80}, {"containerPort": 81, "hostPort": 0}) == ()


def test_those_of_all_containers_count_once_in_one_order() -> None:
    both = [container(ports=[{"hostPort": 2}]), container(ports=[{"hostPort": 1}, {"hostPort": 2}])]
    assert read_pod(pod(containers=both)).host_ports == (HostPort(1), HostPort(2))


def test_of_init_containers_only_sidecars_take_ports() -> None:
    asked = container(ports=[{"hostPort": 7}])
    assert read_pod(pod(initContainers=[asked])).host_ports == ()
    assert read_pod(pod(initContainers=[{**asked, "restartPolicy": "Always"}])).host_ports == (HostPort(7),)


def test_on_the_host_s_network_every_port_is_one_of_the_host() -> None:
    """The API server fills hostPort in for pods, not for the templates of DaemonSets."""
    assert ports({"containerPort": 9100}, hostNetwork=True) == (HostPort(9100),)
    assert ports({"containerPort": 9100}, hostNetwork=False) == ()


@pytest.mark.parametrize(
    ("port", "says"),
    [
        ({"hostPort": 70000}, "hostPort: 70000 is no port; it must lie between 1 and 65535"),
        ({"hostPort": -1}, "hostPort: -1 is no port"),
        ({"hostPort": 80, "protocol": "HTTP"}, "protocol: 'HTTP' is not known; use one of TCP, UDP, SCTP"),
    ],
)
def test_what_is_no_port_is_a_problem_with_its_path(port: Json, says: str) -> None:
    read = read_pod(pod(containers=[container(), container(ports=[{"hostPort": 0}, port])]))
    assert read.problems[0].startswith(f"spec.containers[1].ports[1].{says}")
