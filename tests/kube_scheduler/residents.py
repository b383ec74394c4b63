"""Nodes that exist already, with the pods that run on them."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nodewright.domain.catalogue import InstanceType
from nodewright.domain.pods import PodKey
from sandbox.controlplane.client import Object
from tests.kube_scheduler import machines
from tests.kube_scheduler.daemons import PORT as DAEMON_PORT
from tests.kube_scheduler.daemons import pods_for
from tests.kube_scheduler.drafts import Draft
from tests.kube_scheduler.pod_rules import ZONE
from tests.kube_scheduler.pools import own_labels, zone_labels
from tests.kube_scheduler.storage import with_volumes

_CORDONED: Object = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
#: What stays free for DaemonSets, their pods possibly still to come: millicores, MiB, slots.
_SPARE = (700, 800, 4)


@dataclass(slots=True)
class Existing:
    """All of it."""

    nodes: list[Object] = field(default_factory=list)
    csi_nodes: list[Object] = field(default_factory=list)
    pods: list[Object] = field(default_factory=list)
    """Bound, DaemonSets' included."""
    storage: list[Object] = field(default_factory=list)
    finished: list[PodKey] = field(default_factory=list)
    """Pods that are to have finished; they hold nothing any more."""
    terminating: list[PodKey] = field(default_factory=list)
    """Pods that are being deleted and are still there."""


def draw_existing(
    chance: random.Random,
    names: Sequence[str],
    pools: Sequence[Object],
    daemon_sets: Sequence[Object],
    drafts: Sequence[Draft],
) -> Existing:
    """Nodes of these names; pods of the same templates as those that wait, wherever there is room."""
    there = Existing()
    for name in names:
        kind = chance.choice(machines.catalogue())
        node = _node(chance, name, kind, chance.choice(pools))
        there.nodes.append(node)
        there.csi_nodes.append(machines.csi_node(name, kind))
        there.pods += [pod for pod in pods_for(node, daemon_sets) if chance.random() < 0.85]
        _settle(chance, there, node, kind, drafts)
    return there


def _node(chance: random.Random, name: str, kind: InstanceType, pool: Object) -> Object:
    labels = {**zone_labels(kind, machines.place(chance, kind)), **own_labels(chance, pool)}
    cordoned = chance.random() < 0.12
    taints = [*pool["spec"]["template"]["spec"]["taints"], *([_CORDONED] if cordoned else [])]
    return machines.node(name, kind, labels, taints, unschedulable=cordoned)


def _settle(chance: random.Random, there: Existing, node: Object, kind: InstanceType, drafts: Sequence[Draft]) -> None:
    name = node["metadata"]["name"]
    for number, draft in enumerate(_fitting(chance, kind, drafts)):
        pod = draft.pod(0, f"{draft.identity.app}-on-{name}-{number}")
        pod["spec"]["nodeName"] = name
        if draft.claims:
            there.storage += with_volumes(chance, draft, pod, node["metadata"]["labels"][ZONE])
        there.pods.append(pod)
        key = PodKey(draft.identity.namespace, pod["metadata"]["name"])
        fate = chance.random()
        if fate < 0.1:
            there.finished.append(key)
        elif fate < 0.2:
            there.terminating.append(key)


def _fitting(chance: random.Random, kind: InstanceType, drafts: Sequence[Draft]) -> Iterator[Draft]:
    """A few, one after the other, as long as they fit; one template's host port only once."""
    cpu, memory, slots = _SPARE
    left = [kind.allocatable.get("cpu") - cpu, kind.allocatable.get("memory") // 2**20 - memory]
    slots, volumes = kind.allocatable.get("pods") - slots, kind.volumes or 0
    # A DaemonSet may have the other port.
    ports_taken = False
    for draft in chance.choices(drafts, k=chance.randint(0, 5)):
        ports = draft.spec["containers"][0].get("ports", [])
        takes_port, impossible = bool(ports), any(port["hostPort"] == DAEMON_PORT for port in ports)
        left = [left[0] - draft.cpu, left[1] - draft.memory]
        slots, volumes = slots - 1, volumes - (2 if draft.claims else 0)
        wants_gpu = "limits" in draft.spec["containers"][0]["resources"]
        if min(*left, slots, volumes) < 0 or (takes_port and ports_taken) or impossible or wants_gpu:
            return
        ports_taken = ports_taken or takes_port
        yield draft
