import pytest

from nodewright.adapters.manifests.nodeclasses import read_node_class
from tests.adapters.manifests.raw import node_class


@pytest.mark.parametrize(
    ("kubelet", "path", "message"),
    [
        ({"evictionSoft": {"memory.available": "5%"}}, "evictionSoft", "memory.available must stand in"),
        ({"evictionSoftGracePeriod": {"pid.available": "1m"}}, "evictionSoft", "pid.available must stand in"),
        (
            {"imageGCHighThresholdPercent": 70, "imageGCLowThresholdPercent": 70},
            "imageGCLowThresholdPercent",
            "70 is not below imageGCHighThresholdPercent 70; lower it",
        ),
    ],
)
def test_settings_that_kubelet_would_not_start_with_refuse_the_class(
    kubelet: dict[str, object], path: str, message: str
) -> None:
    reading = read_node_class(node_class(kubelet=kubelet))
    assert reading.node_class is None
    (warning,) = reading.warnings
    assert warning.path == f"spec.kubelet.{path}"
    assert message in warning.message
