import pytest

from nodewright.domain.quantities import Resources
from nodewright.domain.requests import ContainerRequests, effective_requests

NONE = Resources()


def container(name: str, cpu: str, memory: str, restart_always: bool = False) -> ContainerRequests:
    return ContainerRequests(name, Resources.parse({"cpu": cpu, "memory": memory}), restart_always)


APP = container("app", "500m", "512Mi")
SHIP = container("ship", "200m", "128Mi", restart_always=True)
MIGRATE = container("migrate", "900m", "256Mi")


@pytest.mark.parametrize(
    ("init", "overhead", "pod_level", "cpu", "memory"),
    [
        pytest.param([SHIP, MIGRATE], {}, {}, "1100m", "640Mi", id="an init container runs beside an earlier sidecar"),
        pytest.param([MIGRATE, SHIP], {}, {}, "900m", "640Mi", id="and not beside a later one"),
        pytest.param([SHIP, MIGRATE], {"cpu": "250m"}, {}, "1350m", "640Mi", id="overhead comes on top"),
        pytest.param([SHIP, MIGRATE], {}, {"cpu": "2"}, "2", "640Mi", id="pod level replaces what it names"),
        pytest.param([SHIP, MIGRATE], {"cpu": "250m"}, {"cpu": "2"}, "2250m", "640Mi", id="and overhead tops that too"),
        pytest.param([MIGRATE, MIGRATE], {}, {}, "900m", "512Mi", id="init containers run one by one"),
        pytest.param([], {}, {}, "500m", "512Mi", id="no init containers"),
        pytest.param(
            [SHIP, container("proxy", "300m", "1Gi", restart_always=True)], {}, {}, "1", "1664Mi", id="sidecars add up"
        ),
    ],
)
def test_a_pod_takes_the_larger_of_start_up_and_running(
    init: list[ContainerRequests], overhead: dict[str, str], pod_level: dict[str, str], cpu: str, memory: str
) -> None:
    taken = effective_requests([APP], init, Resources.parse(overhead), Resources.parse(pod_level))
    assert taken == Resources.parse({"cpu": cpu, "memory": memory, "pods": 1})


def test_a_pod_without_requests_still_takes_a_place() -> None:
    assert effective_requests([ContainerRequests("app", NONE)], [], NONE, NONE) == Resources({"pods": 1})


@pytest.mark.parametrize(
    ("pod_level", "pod_limits", "cpu", "hugepages"),
    [
        pytest.param({}, {"cpu": "2"}, "500m", "4Mi", id="containers say more than a pod-level limit"),
        pytest.param({}, {"hugepages-2Mi": "8Mi"}, "500m", "8Mi", id="but not of huge pages"),
        pytest.param({"cpu": "3"}, {"cpu": "4"}, "3", "4Mi", id="a pod-level request is larger than its limit's word"),
        pytest.param({"example.com/fpga": "3"}, {}, "500m", "4Mi", id="no other resources have a pod level"),
    ],
)
def test_a_pod_level_limit_stands_in_where_nobody_requests_any(
    pod_level: dict[str, str], pod_limits: dict[str, str], cpu: str, hugepages: str
) -> None:
    app = ContainerRequests("app", Resources.parse({"cpu": "500m", "hugepages-2Mi": "4Mi"}))
    taken = effective_requests([app], [], NONE, Resources.parse(pod_level), Resources.parse(pod_limits))
    assert taken == Resources.parse({"cpu": cpu, "hugepages-2Mi": hugepages, "pods": 1})


def test_a_pod_level_limit_of_what_no_container_requests_counts() -> None:
    limits = Resources.parse({"memory": "1Gi"})
    taken = effective_requests([ContainerRequests("app", Resources.parse({"cpu": "1"}))], [], NONE, NONE, limits)
    assert taken == Resources.parse({"cpu": "1", "memory": "1Gi", "pods": 1})
