import json

from nodewright.adapters.manifests.container_defaults import ContainerDefaults, container_defaults, read_limit_ranges
from tests.adapters.manifests.raw import Json


def limit_range(*limits: Json, namespace: str = "shop") -> Json:
    return {"metadata": {"name": "l", "namespace": namespace}, "spec": {"limits": list(limits)}}


def defaults(*listed: Json) -> ContainerDefaults:
    return container_defaults(read_limit_ranges(json.dumps({"items": list(listed)}).encode()).items)


def test_default_requests_of_containers_are_read_by_namespace() -> None:
    found = defaults(
        limit_range({"type": "Container", "defaultRequest": {"cpu": "1"}}),
        limit_range({"type": "Container", "defaultRequest": {"cpu": "2"}}, namespace="dev"),
    )
    assert found == {"shop": {"cpu": "1"}, "dev": {"cpu": "2"}}


def test_a_default_limit_stands_in_then_the_largest_and_the_least() -> None:
    amounts: Json = {
        "type": "Container",
        "min": {"a": 1, "b": 1, "c": 1, "d": 1},
        "max": {"b": 2, "c": 2, "d": 2},
        "default": {"c": 3, "d": 3},
        "defaultRequest": {"d": 4},
    }
    assert defaults(limit_range(amounts)) == {"shop": {"a": 1, "b": 2, "c": 3, "d": 4}}


def test_limits_of_pods_and_claims_are_no_defaults() -> None:
    assert defaults(limit_range({"type": "Pod", "min": {"cpu": "1"}}, {"type": "PersistentVolumeClaim"})) == {
        "shop": {}
    }


def test_of_several_the_first_one_that_says_something_counts() -> None:
    first = limit_range({"type": "Container", "defaultRequest": {"cpu": "1"}})
    second = limit_range({"type": "Container", "defaultRequest": {"cpu": "2", "memory": "1Gi"}})
    assert defaults(first, second) == {"shop": {"cpu": "1", "memory": "1Gi"}}
