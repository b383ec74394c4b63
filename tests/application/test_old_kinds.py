"""Provisioners and AWSNodeTemplates in the market: launched like any, spoken of by their own names."""

import pytest

from nodewright.application.ports import ManifestWarning
from nodewright.domain.nodeclasses import SelectorTerm
from nodewright.domain.requirements import Requirements
from tests.application.world import World, node_class
from tests.builders import pod, pool

AL2 = {"ami_family": "AL2", "ami_terms": (SelectorTerm(alias="al2@latest"),), "source": "AWSNodeTemplate/old"}


def test_what_is_launched_in_al2_s_place_is_said_and_sold() -> None:
    here = World()
    here.cluster.add(pool("old", kind="Provisioner", node_class="old"), node_class("old", **AL2))
    market = here.market()
    (warning,) = market.warnings
    assert (warning.object, warning.path) == ("AWSNodeTemplate/old", "spec.amiFamily")
    assert market.classes["old"].node_class.ami_family == "AL2023"
    assert set(market.types("old")) == set(market.types("default"))


def test_a_class_no_pool_names_is_not_spoken_of() -> None:
    here = World()
    here.cluster.add(node_class("old", **AL2))
    assert here.market().warnings == ()


def test_a_template_that_can_not_be_launched_is_warned_of_by_its_own_field() -> None:
    here = World()
    lost = (SelectorTerm(tags={"Name": "none"}),)
    here.cluster.add(
        pool("old", kind="Provisioner", node_class="old"),
        node_class("old", security_group_terms=lost, source="AWSNodeTemplate/old"),
    )
    (warning,) = here.market().warnings
    assert (warning.object, warning.path) == ("AWSNodeTemplate/old", "spec.securityGroupSelector")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("NodePool", ("spec.template.spec.nodeClassRef.name", "no EC2NodeClass 'absent'")),
        ("Provisioner", ("spec.providerRef.name", "no AWSNodeTemplate 'absent'")),
    ],
)
def test_a_pool_without_its_class_is_told_where_it_names_it(kind: str, expected: tuple[str, str]) -> None:
    here = World()
    here.cluster.add(pool("lost", kind=kind, node_class="absent"))
    (warning,) = here.market().warnings
    assert warning == ManifestWarning(
        f"{kind}/lost", expected[0], f"{expected[1]}: create it, or name one there is (default)"
    )


def test_an_instance_keeps_the_name_its_template_gives_it() -> None:
    here = World()
    here.cluster.add(
        pool("old", ("team", "In", "a"), kind="Provisioner", node_class="old"),
        node_class("old", **AL2, tags={"Name": "web"}),
        pod(selector={"team": "a"}),
    )
    assert here.provision().launched == 1
    here.join()
    here.reconcile()
    (instance,) = here.running
    assert (instance.tags["Name"], instance.tags["karpenter.sh/nodepool"]) == ("web", "old")
    (node,) = here.cluster.nodes.values()
    assert node.labels["karpenter.sh/provisioner-name"] == node.labels["karpenter.sh/nodepool"] == "old"


def test_a_pod_that_selects_a_provisioner_by_its_old_label_gets_a_node_that_carries_it() -> None:
    here = World()
    here.cluster.add(pool("old", kind="Provisioner"))
    selector = {"karpenter.sh/provisioner-name": "old"}
    terms = (Requirements.from_labels(selector),)
    here.cluster.add(pod(terms=terms))
    assert here.provision().launched == 1
    (born,) = here.join()
    assert selector.items() <= born.labels.items()
    assert terms[0].admits(born.labels)
