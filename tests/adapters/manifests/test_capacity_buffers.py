"""CapacityBuffers, with what they refer to."""

import pytest

from nodewright.adapters.manifests.admission import Admission
from nodewright.adapters.manifests.capacity_buffers import BufferReader, Object, Reference
from nodewright.application.errors import NotFoundError, RefusedError, UnavailableError
from nodewright.application.ports import ManifestWarning
from nodewright.domain.headroom import CapacityBuffer
from tests.adapters.manifests.raw import Json
from tests.builders import resources

CONTAINERS: Json = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}]}
TEMPLATE: Json = {"metadata": {"labels": {"app": "web"}}, "spec": CONTAINERS}
THERE: dict[Reference, Object] = {
    Reference("PodTemplate", "shop", "unit"): {"template": TEMPLATE},
    Reference("Deployment", "shop", "web"): {"spec": {"replicas": 10, "template": TEMPLATE}},
    Reference("StatefulSet", "shop", "db"): {"spec": {"template": TEMPLATE}},
}


def find(reference: Reference) -> Object:
    if reference not in THERE:
        raise NotFoundError(f"404 {reference.name}")
    return THERE[reference]


def read(spec: Json, **metadata: object) -> tuple[tuple[CapacityBuffer, ...], tuple[ManifestWarning, ...]]:
    raw: Json = {"metadata": {"name": "spare", "namespace": "shop", **metadata}, "spec": spec}
    return BufferReader(find, Admission()).read([raw])


def scalable(kind: str, name: str, group: str = "apps") -> Json:
    return {"scalableRef": {"apiGroup": group, "kind": kind, "name": name}}


@pytest.mark.parametrize(
    ("spec", "units"),
    [
        ({"podTemplateRef": {"name": "unit"}, "replicas": 3}, 3),
        ({"podTemplateRef": {"name": "unit"}, "limits": {"cpu": "2"}}, 4),
        ({**scalable("Deployment", "web"), "percentage": 25}, 3),
        ({**scalable("Deployment", "web"), "replicas": 4, "percentage": 25}, 4),
        ({**scalable("Deployment", "web"), "replicas": 4, "limits": {"cpu": "1", "memory": "9Gi"}}, 2),
        ({**scalable("StatefulSet", "db"), "percentage": 100}, 1),
        ({**scalable("StatefulSet", "db", ""), "replicas": 2}, 2),
        (
            {"provisioningStrategy": "buffer.x-k8s.io/active-capacity", **scalable("StatefulSet", "db"), "replicas": 2},
            2,
        ),
    ],
)
def test_a_buffer_is_so_many_units_of_what_it_refers_to(spec: Json, units: int) -> None:
    (buffer,), warnings = read(spec)
    assert warnings == ()
    assert str(buffer) == "CapacityBuffer/shop/spare"
    assert buffer.units == units
    assert buffer.template.requests == resources(cpu="500m", memory="1Gi", pods=1)
    assert buffer.template.labels == {"app": "web"}
    assert buffer.template.key.namespace == "shop"


@pytest.mark.parametrize(
    ("spec", "path", "message"),
    [
        ({}, "spec.podTemplateRef", "name either a PodTemplate here or a workload in scalableRef"),
        (
            {**scalable("Deployment", "web"), "podTemplateRef": {"name": "unit"}, "replicas": 1},
            "spec.podTemplateRef",
            "name either",
        ),
        (
            {**scalable("Rollout", "web", "argoproj.io"), "replicas": 1},
            "spec.scalableRef.kind",
            "Rollout of argoproj.io",
        ),
        (
            {**scalable("Deployment", "none"), "replicas": 1},
            "spec.scalableRef.name",
            "no Deployment shop/none; create it",
        ),
        ({"podTemplateRef": {"name": "none"}, "replicas": 1}, "spec.podTemplateRef.name", "no PodTemplate shop/none"),
        ({"podTemplateRef": {"name": "unit"}, "percentage": 10}, "spec.percentage", "write replicas instead"),
        ({"podTemplateRef": {"name": "unit"}}, "spec.replicas", "set replicas, percentage or limits"),
        ({"podTemplateRef": {"name": "unit"}, "replicas": -1}, "spec.replicas", "not a whole number from 0"),
        ({"podTemplateRef": {"name": "unit"}, "limits": {"cpu": "lots"}}, "spec.limits", "'lots' is not a quantity"),
        ({"provisioningStrategy": "other", "podTemplateRef": {"name": "unit"}}, "spec.provisioningStrategy", "'other'"),
    ],
)
def test_a_buffer_that_cant_be_used_is_left_out_and_told(spec: Json, path: str, message: str) -> None:
    buffers, (warning,) = read(spec)
    assert buffers == ()
    assert (warning.object, warning.path) == ("CapacityBuffer/shop/spare", path)
    assert message in warning.message
    assert "it is left out until this is fixed" in warning.message


@pytest.mark.parametrize(
    ("spec", "path", "message"),
    [
        (
            {"podTemplateRef": {"name": "unit"}, "replicas": 1, "limits": {"nvidia.com/gpu": 1}},
            "spec.limits",
            "nothing",
        ),
        ({"podTemplateRef": {"name": "unit"}, "replicas": 5000}, "spec.replicas", "no more than 1000 units"),
        ({"podTemplateRef": {"name": "unit"}, "replica": 1, "replicas": 1}, "spec.replica", "did you mean replicas?"),
    ],
)
def test_what_has_no_effect_is_told(spec: Json, path: str, message: str) -> None:
    buffers, (warning,) = read(spec)
    assert len(buffers) == 1
    assert (warning.path, message in warning.message) == (path, True)


def test_a_buffer_that_is_being_deleted_keeps_nothing() -> None:
    spec: Json = {"podTemplateRef": {"name": "unit"}, "replicas": 3}
    assert read(spec, deletionTimestamp="2026-01-01T12:00:00Z") == ((), ())


def test_a_template_that_cant_be_read_is_told() -> None:
    broken: Json = {"template": {"spec": {"containers": "none"}}}
    raw: Json = {"metadata": {"name": "spare"}, "spec": {"podTemplateRef": {"name": "unit"}, "replicas": 1}}
    buffers, (warning,) = BufferReader(lambda _: broken, Admission()).read([raw])
    assert buffers == ()
    assert "the template of PodTemplate/default/unit can't be read: spec.containers" in warning.message


def test_what_may_not_be_read_is_told_and_what_cant_be_now_is_no_answer() -> None:
    raw: Json = {"metadata": {"name": "spare"}, "spec": {"podTemplateRef": {"name": "unit"}, "replicas": 1}}

    def failing(error: Exception) -> BufferReader:
        def fail(_: Reference) -> Object:
            raise error

        return BufferReader(fail, Admission())

    buffers, (warning,) = failing(RefusedError("403")).read([raw])
    assert buffers == ()
    assert "run `nodewright connect` again (403)" in warning.message
    with pytest.raises(UnavailableError):
        failing(UnavailableError("no answer")).read([raw])


def test_buffers_are_in_the_order_of_their_names() -> None:
    raws: list[Object] = [
        {"metadata": {"name": name, "namespace": "shop"}, "spec": {"podTemplateRef": {"name": "unit"}, "replicas": 1}}
        for name in ("b", "a")
    ]
    buffers, _ = BufferReader(find, Admission()).read(raws)
    assert [each.key.name for each in buffers] == ["a", "b"]
