"""Waiting for kube-scheduler until nothing moves any more."""

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from nodewright.domain.pods import PodKey
from sandbox.controlplane.client import Object
from tests.kube_scheduler.bench import Bench
from tests.kube_scheduler.generated import pod_key

_QUIET_SECONDS: Final = 1.0
"""Without a change, once every pod has been looked at, means that the scheduler is at rest."""
_PATIENT_SECONDS: Final = 3.0
"""The same where a planned pod has no node yet. An idle scheduler retries before a back-off is over."""
_BINDING_SECONDS: Final = 0.3
"""The scheduler binds in the background, and may look at another pod meanwhile."""
_LONGEST_SECONDS: Final = 180.0
_PAUSE_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class Bindings:
    """Where pods are, and what kube-scheduler says of those that are nowhere."""

    nodes: Mapping[PodKey, str] = field(default_factory=dict)
    words: Mapping[PodKey, str] = field(default_factory=dict)

    def is_at_rest(self, pods: Collection[PodKey], planned: Collection[PodKey], quiet: float) -> bool:
        """Whether no more seems to come, `quiet` seconds after the last change."""
        if len(self.nodes) + len(self.words) < len(pods):
            # Not looked at yet, every one.
            return False
        return quiet > (_QUIET_SECONDS if self.nodes.keys() >= set(planned) else _PATIENT_SECONDS)


def settle(bench: Bench, pods: Mapping[PodKey, Object], planned: Collection[PodKey]) -> Bindings:
    """Where the pods are in the end; `pods` as they were made."""
    seen = _wait(bench, pods, planned)
    stuck = [pods[pod] for pod in planned if pod not in seen.nodes]
    if not stuck:
        return seen
    bench.make_anew(stuck)
    return _wait(bench, pods, planned)


def _wait(bench: Bench, pods: Collection[PodKey], planned: Collection[PodKey]) -> Bindings:
    """Until nothing moves; volumes come as they are asked for.

    On a busy machine the scheduler may have been stopped for longer than that takes, so it is asked whether it is
    there: it looks at a new pod after all that it has to look at.
    """
    started = changed = time.monotonic()
    seen, asked = Bindings(), False
    while True:
        bench.provision_volumes()
        found = _look(bench, pods)
        now = time.monotonic()
        if found != seen:
            seen, changed, asked = found, now, False
        done = seen.is_at_rest(pods, planned, now - changed)
        if len(seen.nodes) == len(pods) or (done and asked) or now - started > _LONGEST_SECONDS:
            return seen
        if done:
            bench.let_it_see()
            time.sleep(_BINDING_SECONDS)
            asked = True
        time.sleep(_PAUSE_SECONDS)


def _look(bench: Bench, pods: Collection[PodKey]) -> Bindings:
    found = {key: pod for pod in bench.pods() for key in (pod_key(pod),) if key in pods}
    nodes = {key: pod["spec"]["nodeName"] for key, pod in found.items() if "nodeName" in pod["spec"]}
    waiting = {key: _words(pod) for key, pod in found.items() if key not in nodes}
    return Bindings(nodes, {key: words for key, words in waiting.items() if words})


def _words(pod: Object) -> str:
    conditions = pod["status"].get("conditions", [])
    refused = (c for c in conditions if c["type"] == "PodScheduled" and c.get("reason") == "Unschedulable")
    return next((str(c.get("message", "")) for c in refused), "")
