"""A generated cluster as a file for tests/scenarios: what is found once is kept."""

from typing import Final

import yaml

from nodewright.domain.catalogue import InstanceType, Offering
from nodewright.domain.money import to_usd
from sandbox.controlplane.client import Object
from tests.kube_scheduler.generated import GeneratedCluster
from tests.kube_scheduler.machines import amounts
from tests.kube_scheduler.outcomes import Outcome

_GONE: Final = "2026-01-01T12:00:30Z"


def scenario_file(outcome: Outcome) -> str:
    """The whole world, to be made smaller; what is expected is for whoever finds out who is right."""
    cluster = outcome.cluster
    content: Object = {
        "name": f"Seed {cluster.seed} of the comparison with kube-scheduler",
        "source": "tests/kube_scheduler",
        "catalogue": {"instanceTypes": [_type(each) for each in cluster.types]},
        "objects": [_as_listed(each, cluster) for each in cluster.objects],
        "expect": {"unschedulable": {}},
    }
    head = "".join(f"# {line}\n" for line in str(outcome).splitlines())
    text: str = yaml.safe_dump(content, sort_keys=False, width=120)
    return head + text


def _as_listed(found: Object, cluster: GeneratedCluster) -> Object:
    """With what the bench does to it after it was created."""
    there = cluster.existing
    if found["kind"] != "Pod":
        return found
    key = (found["metadata"]["namespace"], found["metadata"]["name"])
    if key in there.finished:
        return {**found, "status": {"phase": "Succeeded"}}
    if key in there.terminating:
        return {**found, "metadata": {**found["metadata"], "deletionTimestamp": _GONE}}
    return found


def _type(of: InstanceType) -> Object:
    return {
        "name": of.name,
        "labels": dict(of.labels),
        "capacity": amounts(of.capacity),
        "allocatable": amounts(of.allocatable),
        "volumes": of.volumes,
        "offerings": [_offering(each) for each in of.offerings],
    }


def _offering(of: Offering) -> Object:
    return {"zone": of.zone, "capacityType": of.capacity_type, "price": float(to_usd(of.price))}
