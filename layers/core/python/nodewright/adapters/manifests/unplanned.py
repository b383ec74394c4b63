"""Hard constraints of pods that are read, but that this version doesn't plan yet.

A pod with one of them gets a reason instead of a node, because a node that ignores it might be
useless to the pod. A constraint leaves this list when the planner knows it.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace

from nodewright.adapters.manifests.pod_affinity import REQUIRED
from nodewright.adapters.manifests.pod_rules import RuleTemplates
from nodewright.adapters.manifests.pod_volumes import PodVolumes
from nodewright.domain.host_ports import HostPort


def unplanned_placement(rules: RuleTemplates | None, host_ports: Collection[HostPort]) -> Iterator[str]:
    """Each such constraint with the path of its field."""
    if rules is not None and any(each.spread.hard for each in rules.spreads):
        yield "spec.topologySpreadConstraints: DoNotSchedule is not planned yet; use ScheduleAnyway"
    for name, terms in (
        ("podAffinity", rules and rules.pods.affinity),
        ("podAntiAffinity", rules and rules.pods.anti_affinity),
    ):
        if terms:
            yield f"spec.affinity.{name}.{REQUIRED}: it is not planned yet; use preferredDuringScheduling…"
    if host_ports:
        yield "spec.containers: hostPort is not planned yet; use a Service"


def unplanned_volumes(volumes: PodVolumes) -> PodVolumes:
    """With that as a problem."""
    if not (volumes.claims or volumes.ephemeral):
        return volumes
    return replace(volumes, problems=(*volumes.problems, "spec.volumes: zones of volumes are not planned yet"))
