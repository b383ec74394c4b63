import pytest

from nodewright.domain.nodeclasses import Kubelet
from nodewright.domain.overhead import kubelet_problem


@pytest.mark.parametrize(
    "kubelet",
    [
        Kubelet(),
        Kubelet(kube_reserved={"cpu": "100m"}, eviction_hard={"memory.available": "5%", "nodefs.available": "1Gi"}),
    ],
)
def test_readable_settings_have_no_problem(kubelet: Kubelet) -> None:
    assert kubelet_problem(kubelet) is None


def test_a_problem_names_the_field_and_the_fix() -> None:
    problem = kubelet_problem(Kubelet(eviction_hard={"nodefs.available": "half"}))
    assert problem is not None
    assert problem.startswith("kubelet.evictionHard[nodefs.available]: 'half' is not a quantity")
    assert "10%" in problem
