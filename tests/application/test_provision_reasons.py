"""Provision when something can't be launched: it says what, where and how to mend it."""

from dataclasses import replace

import pytest

from nodewright.domain.claims import ClaimState
from nodewright.domain.nodeclasses import SelectorTerm
from tests.application.provisioning import killed_at, world
from tests.application.world import CLUSTER, MINUTE, node_class
from tests.builders import node, pod, pods, pool, resources


def test_a_pool_without_its_class_is_warned_of_while_others_launch() -> None:
    here = world(pod())
    here.cluster.add(pool("broken", node_class="absent", weight=10))
    assert here.provision().launched == 1
    told = here.decided()
    assert "NodePool/broken spec.template.spec.nodeClassRef.name: no EC2NodeClass 'absent'" in told
    assert "name one there is (default)" in told


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"subnet_terms": (SelectorTerm(id="subnet-x"),)}, "spec.subnetSelectorTerms: matches no subnet"),
        ({"security_group_terms": (SelectorTerm(id="sg-x"),)}, "spec.securityGroupSelectorTerms: matches no security"),
        ({"ami_terms": (SelectorTerm(id="ami-x"),)}, "spec.amiSelectorTerms: finds no image for Kubernetes 1.37"),
        (
            {"ami_family": "AL2", "ami_terms": (SelectorTerm(alias="al2@latest"),), "user_data": "#!/bin/sh"},
            "spec.userData: is written for AL2, which has no image for Kubernetes 1.37; set amiFamily AL2023",
        ),
        ({"role": "unknown"}, "IAM has no role unknown: make it, or change spec.role"),
        ({"subnet_terms": (SelectorTerm(),)}, "says nothing to look for"),
    ],
)
def test_a_class_that_cannot_launch_is_warned_of_while_others_launch(changes: dict[str, object], told: str) -> None:
    here = world(pod())
    here.cluster.add(pool("broken", node_class="bad", weight=10), node_class("bad", **changes))
    assert here.provision().launched == 1
    assert [claim.pool for claim in here.claims] == ["default"]
    assert "EC2NodeClass/bad spec" in here.decided()
    assert told in here.decided()


def test_pods_that_only_a_broken_pool_could_host_are_told_of_it() -> None:
    here = world(pod())
    here.cluster.add(node_class(subnet_terms=(SelectorTerm(id="subnet-x"),)))
    report = here.provision()
    assert (report.launched, report.unschedulable) == (0, 1)
    assert "pool default" in here.cluster.events[0].message


def test_an_impossible_requirement_is_told_and_nothing_is_bought() -> None:
    here = world(pod(selector={"kubernetes.io/arch": "sparc"}), pod("fine"))
    report = here.provision()
    assert (report.launched, report.unschedulable) == (1, 1)
    (event,) = here.cluster.events
    assert (event.pod.name, event.reason) == ("p", "FailedScheduling")
    assert "kubernetes.io/arch" in event.message


def test_the_same_reasons_are_recorded_and_told_once() -> None:
    here = world(pod(cpu="500"))
    for _ in range(3):
        here.provision()
        here.later(MINUTE)
    assert len(here.ledger.decisions(CLUSTER, 10)) == 1
    assert here.cluster.events[0].count == 1


def test_a_changed_reason_is_recorded_again() -> None:
    here = world(pod(cpu="500"))
    here.provision()
    here.cluster.add(pool("another"))
    here.later(MINUTE)
    here.provision()
    assert len(here.ledger.decisions(CLUSTER, 10)) == 2


def test_a_purchase_is_recorded_each_time_though_it_looks_the_same() -> None:
    here = world(pod(cpu="1500m"))
    here.provision()
    here.fleet.terminate([here.running[0].id])
    here.ledger.save_claim(CLUSTER, replace(here.claims[0], state=ClaimState.GONE))
    here.later(MINUTE)
    here.provision()
    assert len(here.ledger.decisions(CLUSTER, 10)) == 2


def test_limits_are_kept_and_what_stays_waiting_is_told() -> None:
    here = world(*pods(6, cpu="1500m"))
    here.cluster.add(pool(limits=resources(cpu="4")))
    report = here.provision()
    assert (report.launched, report.unschedulable) == (2, 4)
    here.provision()
    assert len(here.running) == 2
    assert "LimitReached" in here.decided()


def test_what_is_reserved_counts_against_limits() -> None:
    here = world(*pods(2, cpu="1500m"))
    here.cluster.add(pool(limits=resources(cpu="4")))
    killed_at(here, "InMemoryLedger.reserve")
    here.fuse.renew()
    here.cluster.add(*pods(4, "q", cpu="1500m"))
    assert here.provision().launched == 0


def test_a_pod_nominated_by_somebody_else_is_left_alone_while_that_node_is_there() -> None:
    here = world(pod(nominated_node_name="elsewhere"))
    here.cluster.add(node("elsewhere", cpu="100m"))
    assert here.provision().launched == 0
    del here.cluster.nodes["elsewhere"]
    assert here.provision().launched == 1
