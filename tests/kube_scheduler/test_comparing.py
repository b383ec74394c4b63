"""A comparison that can't fail proves nothing: wrong plans are told, right ones are not."""

import random
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from nodewright.adapters.manifests.objects import NEVER
from nodewright.domain.plans import Nomination, Plan, Unschedulable
from nodewright.domain.pods import PodKey
from nodewright.domain.snapshot import Snapshot
from sandbox.controlplane.client import Object
from tests.kube_scheduler import machines
from tests.kube_scheduler.bench import Bench
from tests.kube_scheduler.comparing import MOST_ROUNDS, compare
from tests.kube_scheduler.containers import container
from tests.kube_scheduler.drafts import Draft, Identity
from tests.kube_scheduler.generated import GeneratedCluster, generate
from tests.kube_scheduler.node_rules import TIER
from tests.kube_scheduler.pod_rules import one_per_host
from tests.kube_scheduler.pools import gold, zone_labels
from tests.kube_scheduler.residents import Existing
from tests.kube_scheduler.scenario_files import scenario_file
from tests.kube_scheduler.storage import with_volumes
from tests.scenarios.scenario import read_scenario

pytestmark = pytest.mark.sandbox

KEYS = (PodKey("red", "web-0"), PodKey("red", "web-1"))


def cluster(draft: Draft) -> GeneratedCluster:
    """Two pods of the template, and two nodes in different zones."""
    kind = machines.catalogue()[0]
    offerings = {offering.zone: offering for offering in kind.offerings}
    nodes = [machines.node(f"n-{zone}", kind, zone_labels(kind, offerings[zone])) for zone in ("a", "b")]
    drivers = [machines.csi_node(node["metadata"]["name"], kind) for node in nodes]
    pods = tuple(draft.pods())
    storage: list[Object] = []
    for pod in pods if draft.claims else ():
        storage += with_volumes(random.Random(0), draft, pod)
    return GeneratedCluster(0, (kind,), (), (), tuple(storage), Existing(nodes, drivers), pods)


def web(*, claims: str = "", one_each: bool = False) -> Draft:
    draft = Draft(Identity("web", "red", "front", "t1"), 2, claims=claims)
    draft.spec["containers"] = [container(100, 64)]
    if one_each:
        one_per_host(random.Random(0), draft, ())
    return draft


def sends(*placed: tuple[str, tuple[PodKey, ...]]) -> Plan:
    return Plan(nominations=tuple(Nomination(node, pods) for node, pods in placed))


def test_a_plan_that_holds_is_kept_pod_by_pod(kube_scheduler: Bench) -> None:
    outcome = compare(kube_scheduler, cluster(web()), lambda _: sends(("n-a", KEYS[:1]), ("n-b", KEYS[1:])))
    assert outcome.agrees
    assert dict(outcome.first.bindings.nodes) == {KEYS[0]: "n-a", KEYS[1]: "n-b"}
    assert sorted(outcome.first.kept) == sorted(KEYS)


def test_a_plan_that_breaks_a_rule_is_told_in_the_schedulers_words(kube_scheduler: Bench) -> None:
    """Three pods, one per host, on two hosts: one is planned for again and again."""
    draft = web(one_each=True)
    draft.count = 3
    outcome = compare(kube_scheduler, cluster(draft), lambda s: sends(("n-a", tuple(pod.key for pod in s.pods))))
    assert len(outcome.stranded) == 1
    assert len(outcome.rounds) == MOST_ROUNDS
    assert "anti-affinity rules" in str(outcome)


def test_a_plan_that_is_kept_only_by_going_elsewhere_says_so(kube_scheduler: Bench) -> None:
    outcome = compare(kube_scheduler, cluster(web(one_each=True)), lambda _: sends(("n-a", KEYS)))
    assert outcome.agrees
    assert len(outcome.first.elsewhere) == 1


def gives_up(snapshot: Snapshot) -> Plan:
    return Plan(unschedulable=tuple(Unschedulable(pod.key, "NoPool", "none") for pod in snapshot.pods))


def test_a_pod_called_unschedulable_that_finds_a_node_is_told(kube_scheduler: Bench) -> None:
    outcome = compare(kube_scheduler, cluster(web()), gives_up)
    assert sorted(outcome.underrated) == sorted(KEYS)
    assert "we said NoPool: none" in str(outcome)


def test_a_pod_that_we_could_have_bought_a_node_for_is_told(kube_scheduler: Bench) -> None:
    draft = web()
    draft.spec["nodeSelector"] = {TIER: "gold"}
    outcome = compare(kube_scheduler, replace(cluster(draft), pools=(gold(random.Random(0)),)), gives_up)
    assert outcome.given_up.keys() == set(KEYS)
    assert "would take s0-may" in str(outcome)


def test_a_volume_comes_where_its_pod_goes(kube_scheduler: Bench) -> None:
    outcome = compare(kube_scheduler, cluster(web(claims="late")), lambda _: sends(("n-b", KEYS)))
    assert dict(outcome.first.bindings.nodes) == dict.fromkeys(KEYS, "n-b")


def test_nothing_is_left_for_the_next_cluster(kube_scheduler: Bench) -> None:
    compare(kube_scheduler, cluster(web(claims="zonal")), lambda _: Plan())
    assert kube_scheduler.left() == []


def test_a_cluster_is_planned_from_its_scenario_file_as_it_was_from_the_api_server(
    kube_scheduler: Bench, tmp_path: Path
) -> None:
    outcome = compare(kube_scheduler, generate(13))
    file = tmp_path / "seed.yaml"
    file.write_text(scenario_file(outcome))
    plan = read_scenario(file).plan().plan
    assert plan.cost == outcome.first.plan.cost > 0
    assert plan.nominations == outcome.first.plan.nominations


def test_a_busy_api_server_changes_no_plan(kube_scheduler: Bench) -> None:
    """Its seconds are whole, and pods alike are planned by age."""
    ages: set[datetime] = set()

    def looks(snapshot: Snapshot) -> Plan:
        ages.update(pod.created for pod in snapshot.pods)
        return Plan()

    compare(kube_scheduler, cluster(web()), looks)
    assert ages == {NEVER}
