"""Clusters drawn by chance, as Kubernetes manifests: mostly feasible, and every hard constraint in them."""

import itertools
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeVar

from nodewright.domain.catalogue import InstanceType
from nodewright.domain.pods import PodKey
from sandbox.controlplane.client import Object
from tests.kube_scheduler import containers, node_rules, pod_rules
from tests.kube_scheduler.daemons import draw_daemon_sets
from tests.kube_scheduler.drafts import Draft, Identity
from tests.kube_scheduler.machines import catalogue
from tests.kube_scheduler.pools import draw_pools
from tests.kube_scheduler.residents import Existing, draw_existing
from tests.kube_scheduler.storage import WAYS, storage_classes, with_volumes, zones_of_claims

NAMESPACES: Final = ("red", "blue")
MOST_PODS: Final = 60
PRIORITIES: Final = {"high": 1000, "low": -10}

T = TypeVar("T")


@dataclass(frozen=True)
class GeneratedCluster:
    """What is there before anything is planned, and the pods that wait."""

    seed: int
    types: tuple[InstanceType, ...]
    pools: tuple[Object, ...]
    daemon_sets: tuple[Object, ...]
    storage: tuple[Object, ...]
    """Claims and volumes."""
    existing: Existing
    pending: tuple[Object, ...]

    @cached_property
    def twins(self) -> Mapping[PodKey, str]:
        """Pod → what it shares with the pods that are its equals to the scheduler."""
        volumes = zones_of_claims(self.storage)
        return {pod_key(pod): _likeness(pod, volumes) for pod in self.pending}

    @property
    def cordoned(self) -> frozenset[str]:
        """Names of nodes that are to take no more pods."""
        return frozenset(n["metadata"]["name"] for n in self.existing.nodes if n["spec"].get("unschedulable"))

    @property
    def objects(self) -> tuple[Object, ...]:
        """Everything but the catalogue, in an order in which it can be created."""
        there = self.existing
        return (*shared(), *self.pools, *self.daemon_sets, *there.nodes, *there.csi_nodes, *self.storage, *there.pods,
                *self.pending)  # fmt: skip


def generate(seed: int) -> GeneratedCluster:
    """The same cluster for the same seed."""
    chance = random.Random(seed)
    pools = draw_pools(chance)
    daemon_sets = draw_daemon_sets(chance)
    names = [f"s{seed}-n{number}" for number in range(chance.choice((0, 1, 2, 3, 4, 6)))]
    drafts = _draw_templates(seed, chance, names)
    existing = draw_existing(chance, names, pools, daemon_sets, drafts)
    pending, storage = _pending(chance, drafts)
    return GeneratedCluster(
        seed=seed,
        types=catalogue(),
        pools=tuple(pools),
        daemon_sets=tuple(daemon_sets),
        storage=_once([*existing.storage, *storage]),
        existing=existing,
        pending=tuple(pending),
    )


def shared() -> Iterator[Object]:
    """What all generated clusters have; created once."""
    for name in NAMESPACES:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": name}}}
        yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}}
    for name, value in PRIORITIES.items():
        yield {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
        }
    yield containers.runtime_class()
    yield from storage_classes()
    yield {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": "default"},
        "spec": {
            "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "subnetSelectorTerms": [{"tags": {"team": "a"}}],
            "securityGroupSelectorTerms": [{"id": "sg-1"}],
            "role": "node",
        },
    }


def pod_key(pod: Object) -> PodKey:
    """Namespace and name of a Pod object."""
    return PodKey(pod["metadata"]["namespace"], pod["metadata"]["name"])


def _likeness(pod: Object, volumes: Mapping[tuple[str, str], str]) -> str:
    """One volume of a pod's own is as good as another in its zone."""
    namespace, spec = pod["metadata"]["namespace"], pod["spec"]
    mounts = [volumes[namespace, v["persistentVolumeClaim"]["claimName"]] for v in spec.get("volumes", [])]
    return json.dumps([namespace, pod["metadata"]["labels"], {**spec, "volumes": mounts}], sort_keys=True)


def _draw_templates(seed: int, chance: random.Random, names: Sequence[str]) -> list[Draft]:
    identities = [
        Identity(f"app{n}", chance.choice(NAMESPACES), chance.choice(("front", "back")), chance.choice(("t1", "t2")))
        for n in range(chance.randint(3, 8))
    ]
    # One cluster goes on about where the last one ended, so that each rule has its turn in a few of them.
    of_pods, of_nodes = _dealt(pod_rules.RULES, seed * 5), _dealt(node_rules.RULES, seed * 3)
    ways = _dealt(WAYS, seed)
    drafts = []
    for identity in identities:
        draft = Draft(identity, chance.randint(1, 14))
        containers.request(chance, draft)
        if chance.random() < 0.65:
            next(of_nodes)(chance, draft, names)
        _take(chance, draft)
        if chance.random() < 0.3:
            draft.claims, draft.count = next(ways), min(draft.count, 6)
        for likely in (0.85, 0.25):
            if chance.random() < likely:
                next(of_pods)(chance, draft, identities)
        drafts.append(draft)
    return drafts


def _take(chance: random.Random, draft: Draft) -> None:
    if chance.random() < 0.35:
        node_rules.tolerate(chance, draft)
    if chance.random() < 0.15:
        node_rules.take_port(chance, draft)
    if chance.random() < 0.08:
        node_rules.want_gpu(draft)
    if chance.random() < 0.25:
        draft.spec["priorityClassName"] = chance.choice(tuple(PRIORITIES))


def _dealt(cards: Sequence[T], start: int) -> Iterator[T]:
    """From this position on, of a deck that is shuffled anew whenever all cards were out."""
    for position in itertools.count(start):
        shuffling, card = divmod(position, len(cards))
        yield random.Random(shuffling).sample(cards, len(cards))[card]


def _pending(chance: random.Random, drafts: Sequence[Draft]) -> tuple[list[Object], list[Object]]:
    pods: list[Object] = []
    storage: list[Object] = []
    for draft in drafts:
        for pod in draft.pods():
            if len(pods) < MOST_PODS:
                storage += with_volumes(chance, draft, pod) if draft.claims else []
                pods.append(pod)
    return pods, storage


def _once(objects: Sequence[Object]) -> tuple[Object, ...]:
    """Pods of one template may share a claim."""
    named = {(each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]): each for each in objects}
    return tuple(named.values())
