"""CapacityBuffers, with what they refer to."""

from collections.abc import Callable

import pytest

from nodewright.adapters.manifests.admission import Admission
from nodewright.adapters.manifests.buffer_statuses import written_status
from nodewright.adapters.manifests.capacity_buffers import BufferReader, Object, ReadBuffers, Reference
from nodewright.application.errors import NotFoundError, RefusedError, UnavailableError
from nodewright.application.ports import ManifestWarning
from nodewright.domain.buffer_status import READY, BufferReading, BufferStatus
from nodewright.domain.headroom import CapacityBuffer
from nodewright.domain.taints import Toleration
from tests.adapters.manifests.raw import Json
from tests.builders import requirements, resources

CONTAINERS: Json = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}]}
TEMPLATE: Json = {"metadata": {"labels": {"app": "web"}}, "spec": CONTAINERS}
THERE: dict[Reference, Object] = {
    Reference("PodTemplate", "shop", "unit"): {"metadata": {"generation": 4}, "template": TEMPLATE},
    Reference("Deployment", "shop", "web"): {"spec": {"replicas": 10, "template": TEMPLATE}},
    Reference("StatefulSet", "shop", "db"): {"spec": {"template": TEMPLATE}},
}


def find(reference: Reference) -> Object:
    if reference not in THERE:
        raise NotFoundError(f"404 {reference.name}")
    return THERE[reference]


def read(spec: Json, **metadata: object) -> tuple[tuple[CapacityBuffer, ...], tuple[ManifestWarning, ...]]:
    raw: Json = {"metadata": {"name": "spare", "namespace": "shop", **metadata}, "spec": spec}
    came = BufferReader(find, Admission()).read([raw])
    return came.buffers, came.warnings


def reading(spec: Json, status: Json | None = None, **metadata: object) -> BufferReading:
    raw: Json = {"metadata": {"name": "spare", "namespace": "shop", **metadata}, "spec": spec, "status": status}
    (came,) = BufferReader(find, Admission()).read([raw]).readings
    return came


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
    came = BufferReader(lambda _: broken, Admission()).read([raw])
    (warning,) = came.warnings
    assert came.buffers == ()
    assert "the template of PodTemplate/default/unit can't be read: spec.containers" in warning.message


def test_what_may_not_be_read_is_told_and_what_cant_be_now_is_no_answer() -> None:
    raw: Json = {"metadata": {"name": "spare"}, "spec": {"podTemplateRef": {"name": "unit"}, "replicas": 1}}

    def failing(error: Exception) -> BufferReader:
        def fail(_: Reference) -> Object:
            raise error

        return BufferReader(fail, Admission())

    came = failing(RefusedError("403")).read([raw])
    (warning,) = came.warnings
    assert came.buffers == ()
    assert "run `nodewright connect` again (403)" in warning.message
    with pytest.raises(UnavailableError):
        failing(UnavailableError("no answer")).read([raw])


def test_buffers_are_in_the_order_of_their_names() -> None:
    raws: list[Object] = [
        {"metadata": {"name": name, "namespace": "shop"}, "spec": {"podTemplateRef": {"name": "unit"}, "replicas": 1}}
        for name in ("b", "a")
    ]
    buffers = BufferReader(find, Admission()).read(raws).buffers
    assert [each.key.name for each in buffers] == ["a", "b"]


# ---- classes that the pod template names -------------------------------------------------------

CLASSES: dict[Reference, Object] = {
    Reference("PriorityClass", "", "high"): {"metadata": {"name": "high"}, "value": 1000},
    Reference("RuntimeClass", "", "gvisor"): {
        "metadata": {"name": "gvisor"},
        "overhead": {"podFixed": {"cpu": "250m", "memory": "120Mi"}},
        "scheduling": {
            "nodeSelector": {"sandbox": "gvisor"},
            "tolerations": [{"key": "sandbox", "operator": "Exists", "effect": "NoSchedule"}],
        },
    },
}
NAMING: Json = {**CONTAINERS, "priorityClassName": "high", "runtimeClassName": "gvisor"}


def naming(find_class: Callable[[Reference], Object], spec: Json = NAMING) -> ReadBuffers:
    """A buffer of a template with this spec."""
    unit: Json = {"metadata": {"name": "unit"}, "template": {"spec": spec}}
    raw: Json = {"metadata": {"name": "spare"}, "spec": {"podTemplateRef": {"name": "unit"}, "replicas": 1}}
    asked = BufferReader(lambda ref: unit if ref.kind == "PodTemplate" else find_class(ref), Admission())
    return asked.read([raw])


def test_a_unit_is_what_the_api_server_makes_of_such_a_pod() -> None:
    came = naming(CLASSES.__getitem__)
    (buffer,) = came.buffers
    assert came.warnings == ()
    assert buffer.template.requests == resources(cpu="750m", memory="1144Mi", pods=1)
    assert buffer.template.priority == 1000
    assert buffer.template.alternatives == (requirements(("sandbox", "In", "gvisor")),)
    assert Toleration("sandbox", "Exists", "", "NoSchedule") in buffer.template.tolerations


def test_only_classes_that_are_named_are_looked_up() -> None:
    asked: list[Reference] = []

    def note(reference: Reference) -> Object:
        asked.append(reference)
        return CLASSES[reference]

    naming(note, {**CONTAINERS, "priorityClassName": "system-node-critical"})
    assert asked == []
    naming(note, {**CONTAINERS, "runtimeClassName": "gvisor"})
    assert asked == [Reference("RuntimeClass", "", "gvisor")]


def test_a_class_that_isnt_there_keeps_such_pods_and_their_headroom_out() -> None:
    def find_none(reference: Reference) -> Object:
        raise NotFoundError(reference.name)

    came = naming(find_none)
    assert came.buffers == ()
    assert [each.path for each in came.warnings] == ["spec.podTemplateRef.name"] * 2
    assert "the template of PodTemplate/default/unit names PriorityClass high" in came.warnings[0].message
    assert "create it" in came.warnings[1].message


def test_a_class_that_may_not_be_read_is_told_and_done_without() -> None:
    def forbidden(_: Reference) -> Object:
        raise RefusedError("403")

    came = naming(forbidden)
    assert [buffer.template.requests for buffer in came.buffers] == [resources(cpu="500m", memory="1Gi", pods=1)]
    assert "planned without it; run `nodewright connect` again to grant it (403)" in came.warnings[1].message


# ---- for the status ----------------------------------------------------------------------------


def test_what_was_read_says_which_template_of_which_generation_and_how_many_units() -> None:
    came = reading({"podTemplateRef": {"name": "unit"}, "replicas": 3}, generation=7, resourceVersion="12")
    assert (came.generation, came.version, came.reason) == (7, "12", "Resolved")
    assert came.message == "its units are pods of PodTemplate/shop/unit"
    assert came.wanted == BufferStatus((), 3, "unit", 4, "buffer.x-k8s.io/active-capacity")


def test_of_a_workload_there_is_no_template_to_name() -> None:
    came = reading({**scalable("Deployment", "web"), "percentage": 25})
    assert (came.wanted.replicas, came.wanted.template, came.wanted.template_generation) == (3, "", None)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"podTemplateRef": {"name": "none"}, "replicas": 1}, "PodTemplateNotFound"),
        ({**scalable("Deployment", "none"), "replicas": 1}, "ScalableRefNotFound"),
        ({"podTemplateRef": {"name": "unit"}, "replicas": -1}, "ResolutionFailed"),
        ({}, "ResolutionFailed"),
    ],
)
def test_why_a_buffer_cant_be_used_is_known_with_object_field_and_fix(spec: Json, reason: str) -> None:
    came = reading(spec)
    assert (came.ready, came.reason, came.wanted.replicas) == (False, reason, None)
    assert came.message.startswith("CapacityBuffer/shop/spare spec.")
    assert "it is left out until this is fixed" in came.message


def test_what_another_autoscaler_carries_out_or_is_being_deleted_is_none_of_ours() -> None:
    other: Json = {"metadata": {"name": "a"}, "spec": {"provisioningStrategy": "other", "replicas": 1}}
    leaving: Json = {"metadata": {"name": "b", "deletionTimestamp": "2026-01-01T12:00:00Z"}, "spec": {}}
    assert BufferReader(find, Admission()).read([other, leaving]).readings == ()


def test_a_status_is_read_as_it_is_written() -> None:
    condition = {
        "type": READY,
        "status": "True",
        "reason": "Resolved",
        "message": "",
        "lastTransitionTime": "2026-01-02T03:04:05Z",
        "observedGeneration": 2,
    }
    status: Json = {
        "conditions": [condition],
        "replicas": 3,
        "podTemplateRef": {"name": "unit"},
        "podTemplateGeneration": 4,
        "provisioningStrategy": "buffer.x-k8s.io/active-capacity",
    }
    told = reading({"podTemplateRef": {"name": "unit"}, "replicas": 3}, status).told
    assert told.says(READY)
    assert written_status(told) == status


def test_a_status_nobody_can_read_says_nothing() -> None:
    assert reading({"podTemplateRef": {"name": "unit"}, "replicas": 3}, {"conditions": "none"}).told == BufferStatus()


def test_what_a_status_says_no_more_is_taken_away() -> None:
    assert written_status(BufferStatus()) == {
        "conditions": [],
        "replicas": None,
        "podTemplateRef": None,
        "podTemplateGeneration": None,
        "provisioningStrategy": None,
    }
