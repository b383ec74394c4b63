"""What the memory adapters have beyond the ports: virtual time, a cluster's objects, an observer's record."""

from datetime import timedelta

import pytest

from nodewright.adapters.memory import (
    InMemoryCluster,
    InMemoryClusters,
    InMemoryDirectory,
    InMemoryEc2Catalogue,
    RecordingObserver,
    VirtualClock,
)
from nodewright.application.errors import NotFoundError, UnavailableError
from nodewright.application.ports import FleetAnswer, Price
from nodewright.domain.instance_facts import InstanceFacts
from nodewright.domain.nodes import Node
from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.pools import NodePool
from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirements
from nodewright.domain.storage import PersistentVolumeClaim, Storage
from nodewright.domain.taints import Taint
from tests.adapters.builders import NOW, claim, cluster, node_class

UNREGISTERED = Taint("karpenter.sh/unregistered", "", "NoExecute")
KEY = PodKey("shop", "web-0")


def pod(name: str, phase: str = "Pending") -> Pod:
    return Pod(
        PodKey("shop", name), f"uid-{name}", {}, {}, Resources({"cpu": 100}), (Requirements(),), (), NOW, phase=phase
    )


def node(name: str) -> Node:
    taints = (Taint("dedicated", "a", "NoSchedule"), UNREGISTERED)
    return Node(
        name=name,
        uid=f"uid-{name}",
        provider_id=f"aws:///a/i-{name}",
        labels={"a": "b"},
        annotations={},
        taints=taints,
        capacity=Resources(),
        allocatable=Resources(),
        ready=True,
        created=NOW,
    )


def test_time_moves_only_forward_and_only_when_it_is_moved() -> None:
    clock = VirtualClock(NOW)
    assert clock.now() == clock.now() == NOW
    clock.sleep(timedelta(seconds=2))
    clock.sleep(timedelta(seconds=-2))
    assert clock.now() == NOW + timedelta(seconds=2)
    clock.advance_to(NOW)
    assert clock.now() == NOW + timedelta(seconds=2)
    clock.advance_to(NOW + timedelta(days=1))
    assert clock.now() == NOW + timedelta(days=1)


def test_a_cluster_shows_what_was_put_there_sorted_without_finished_pods() -> None:
    k8s = InMemoryCluster()
    k8s.add(pod("b"), pod("a"), pod("done", "Succeeded"), node("n2"), node("n1"), NodePool("p", "c"), node_class())
    state = k8s.read()
    assert [p.key.name for p in state.pods] == ["a", "b"]
    assert [n.name for n in state.nodes] == ["n1", "n2"]
    assert [p.name for p in state.pools] == ["p"]
    assert state.node_classes == (node_class(),)


def test_a_bound_pod_is_no_longer_pending() -> None:
    k8s = InMemoryCluster()
    k8s.add(pod("a"), pod("b"), node("n1"))
    k8s.bind(PodKey("shop", "a"), "n1")
    assert [p.key.name for p in k8s.pending_pods()] == ["b"]
    assert k8s.pods[PodKey("shop", "a")].node_name == "n1"


def test_registering_adds_labels_and_takes_the_named_taints_off() -> None:
    k8s = InMemoryCluster()
    k8s.add(node("n1"))
    k8s.register_node("n1", {"karpenter.sh/registered": "true"}, [UNREGISTERED])
    (found,) = k8s.read().nodes
    assert found.labels == {"a": "b", "karpenter.sh/registered": "true"}
    assert found.taints == (Taint("dedicated", "a", "NoSchedule"),)
    with pytest.raises(NotFoundError):
        k8s.register_node("n2", {}, [])


def test_the_same_event_again_counts_up() -> None:
    k8s = InMemoryCluster()
    for second in range(3):
        k8s.record_event(KEY, "uid", "NoPool", "no pool", NOW + timedelta(seconds=second))
    k8s.record_event(KEY, "uid", "NoPool", "other", NOW)
    assert [(event.message, event.count) for event in k8s.events] == [("no pool", 3), ("other", 1)]
    assert k8s.events[0].last == NOW + timedelta(seconds=2)


def test_a_cluster_that_does_not_answer_is_unavailable() -> None:
    clusters = InMemoryClusters()
    opened = clusters.open(cluster())
    assert clusters.open(cluster()) is opened
    opened.reachable = False
    with pytest.raises(UnavailableError):
        opened.pending_pods()


def test_the_catalogue_gives_back_what_it_was_given() -> None:
    facts = (InstanceFacts("b.x", "amd64", 1, 1), InstanceFacts("a.x", "amd64", 1, 1))
    spot, on_demand = (Price("a.x", "spot", "a", 1),), (Price("a.x", "on-demand", "", 2),)
    catalogue = InMemoryEc2Catalogue(facts, {"a.x": frozenset({"a"})}, spot, on_demand)
    assert [one.name for one in catalogue.instance_types()] == ["a.x", "b.x"]
    assert catalogue.zones_by_type() == {"a.x": {"a"}}
    assert (catalogue.spot_prices(NOW), catalogue.on_demand_prices()) == (spot, on_demand)


def test_the_directory_knows_the_clusters_it_was_given() -> None:
    directory = InMemoryDirectory({"prod": cluster()})
    assert directory.describe("prod") == cluster()
    with pytest.raises(NotFoundError):
        directory.describe("test")


def test_the_observer_remembers_every_word() -> None:
    observer = RecordingObserver()
    observer.hint_sent("prod", "provision")
    observer.planned("prod", Plan(), 3)
    observer.launched("prod", "default", FleetAnswer(()))
    observer.registered("prod", "n1", claim())
    observer.initialized("prod", "n1", claim())
    observer.problem("prod", "launch", "refused")
    assert observer.hints == [("prod", "provision")]
    assert observer.plans == [("prod", Plan(), 3)]
    assert observer.launches == [("prod", "default", FleetAnswer(()))]
    assert observer.registrations == observer.initializations == [("prod", "n1", claim())]
    assert observer.problems == [("prod", "launch", "refused")]


def test_a_cluster_reads_back_its_storage_and_namespaces() -> None:
    storage = Storage(claims=(PersistentVolumeClaim("shop", "data"),))
    cluster = InMemoryCluster(storage=storage, namespaces={"shop": {"team": "a"}})
    assert cluster.read().storage == storage
    assert cluster.read().namespaces == {"shop": {"team": "a"}}
