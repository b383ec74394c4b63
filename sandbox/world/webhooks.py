"""The cluster's webhooks switched off and on as the API server sees it, which learns of a change by and by."""

from collections.abc import Callable
from datetime import UTC, datetime

from sandbox.controlplane.client import Client, Object, wait_until

CONFIGURATION = ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "nodewright")
_EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"


class Webhooks:
    """`calls` counts how often the webhook's function was woken."""

    def __init__(self, client: Client, calls: Callable[[], int]) -> None:
        self._client = client
        self._calls = calls
        self._saved: Object | None = None

    @property
    def saved(self) -> bool:
        """Whether they can be switched on again as they were."""
        return self._saved is not None

    def save(self) -> None:
        """Remember them as they are."""
        found = self._client.get(*CONFIGURATION)
        metadata = {key: found["metadata"][key] for key in ("name", "annotations")}
        self._saved = {**found, "metadata": metadata}

    def forget(self) -> None:
        """They are about to change."""
        self._saved = None

    def on(self) -> None:
        """As they were saved; returns when the API server calls them."""
        if self._saved is None:
            raise RuntimeError("webhooks were not saved: nothing to switch on")
        self._client.create(self._saved)
        wait_until(self._wakes, "the API server to call the webhooks")

    def off(self) -> None:
        """Take them away; returns when the API server calls them no more."""
        self._client.delete(*CONFIGURATION)
        wait_until(lambda: not self._wakes(), "the API server to leave the webhooks alone")

    def _wakes(self) -> bool:
        """Whether a pod that fits nowhere would be told of. It is only said, not done, so it wakes nobody further."""
        before = self._calls()
        self._client.request("POST", _EVENTS, _nothing_happened(), {"dryRun": "All"})
        return self._calls() > before


def _nothing_happened() -> Object:
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"generateName": "nothing-happened-"},
        "eventTime": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}",  # noqa: TID251  an event is of now
        "reportingController": "sandbox",
        "reportingInstance": "sandbox",
        "action": "Scheduling",
        "type": "Warning",
        "reason": "FailedScheduling",
        "regarding": {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "nobody"},
        "note": "asked by the sandbox",
    }
