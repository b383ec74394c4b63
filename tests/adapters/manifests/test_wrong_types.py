"""Whatever is of a wrong type in a pod's spec is told with the whole path of its field."""

from collections.abc import Iterator, Mapping
from typing import Final

import pytest

from nodewright.adapters.manifests.objects import ManifestError
from nodewright.adapters.manifests.pods import read_pod
from tests.adapters.manifests.raw import Json, pod

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_EXPRESSION: Final[Json] = {"key": "a", "operator": "In", "values": ["b"]}
_LABELS: Final[Json] = {"matchLabels": {"a/long.er-key": "b", "c": "d"}, "matchExpressions": [_EXPRESSION]}
_TERM: Final[Json] = {
    "topologyKey": "kubernetes.io/hostname",
    "labelSelector": _LABELS,
    "namespaces": ["x"],
    "namespaceSelector": _LABELS,
    "matchLabelKeys": ["a"],
    "mismatchLabelKeys": ["z"],
}
_TERMS: Final[Json] = {_REQUIRED: [_TERM], _PREFERRED: [{"weight": 1, "podAffinityTerm": _TERM}]}
_NODES: Final[Json] = {"matchExpressions": [_EXPRESSION], "matchFields": [{**_EXPRESSION, "key": "metadata.name"}]}
SPEC: Final[Json] = {
    "nodeSelector": {"a": "b", "c": "d"},
    "affinity": {
        "nodeAffinity": {
            _REQUIRED: {"nodeSelectorTerms": [_NODES]},
            _PREFERRED: [{"weight": 1, "preference": _NODES}],
        },
        "podAffinity": _TERMS,
        "podAntiAffinity": _TERMS,
    },
    "tolerations": [{"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"}],
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "z",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": _LABELS,
            "minDomains": 1,
            "matchLabelKeys": ["a"],
            "nodeAffinityPolicy": "Honor",
            "nodeTaintsPolicy": "Honor",
        }
    ],
}
WRONG: Final = (7, "text", ["x"], {"k": "v"}, True)


def fields(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Each field and entry inside."""
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from fields(inner, (*path, key))


def with_wrong(value: object, path: tuple[str | int, ...], wrong: object) -> object:
    if not path:
        return wrong
    if isinstance(value, Mapping):
        return {**value, path[0]: with_wrong(value[path[0]], path[1:], wrong)}
    assert isinstance(value, list)
    return [with_wrong(each, path[1:], wrong) if at == path[0] else each for at, each in enumerate(value)]


def told(spec: Json) -> str:
    try:
        return "; ".join(read_pod(pod(**spec)).problems)  # type: ignore[arg-type]
    except ManifestError as error:
        return str(error)


@pytest.mark.parametrize("path", [path for name in SPEC for path in fields(SPEC[name], (name,))])
def test_the_path_is_whole(path: tuple[str | int, ...]) -> None:
    shown = "spec" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    for wrong in WRONG:
        spec = with_wrong(SPEC, path, wrong)
        assert isinstance(spec, dict)
        problem = told(spec)
        if "Expected" in problem:
            assert shown in problem
            assert "..." not in problem
