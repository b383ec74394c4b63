from dataclasses import replace

import pytest

from nodewright.adapters.memory import InMemoryImages, OwnedImage
from nodewright.application.errors import RefusedError
from nodewright.application.node_class_resolution import ResolvedNodeClass, UnusableNodeClassError, variant
from nodewright.application.ports import Image, Subnet
from nodewright.domain.images import FAMILIES, Family
from nodewright.domain.nodeclasses import NodeClass, SelectorTerm
from tests.application.world import CLUSTER, World, connected, node_class, parameters
from tests.builders import instance_type

GPU = {"karpenter.k8s.aws/instance-gpu-manufacturer": "nvidia"}
AL2 = (SelectorTerm(alias="al2@latest"),)
NEURON = {"karpenter.k8s.aws/instance-accelerator-manufacturer": "aws"}


def resolved(here: World | None = None, of: NodeClass | None = None) -> ResolvedNodeClass:
    world = here or World()
    return world.resolver().resolve(of or node_class(), connected(), world.images.parameters)


def test_each_zone_has_its_subnet_with_most_free_addresses() -> None:
    here = World()
    tags = {"discovery": CLUSTER}
    here.networks.tagged_subnets += [
        (Subnet("subnet-small", "us-east-1a", "use1-az1", 3), tags),
        (Subnet("subnet-big", "us-east-1b", "use1-az2", 4000), tags),
    ]
    found = resolved(here)
    assert {zone: subnet.id for zone, subnet in found.subnets.items()} == {
        "us-east-1a": "subnet-a",
        "us-east-1b": "subnet-big",
    }
    assert found.zones == {"us-east-1a", "us-east-1b"}


@pytest.mark.parametrize(
    ("changes", "profile"),
    [
        ({}, "stack-profile"),
        ({"instance_profile": "mine"}, "mine"),
        ({"role": "nodes"}, "prod-default-nodes"),
    ],
)
def test_the_profile_is_the_classes_own_or_made_for_its_role_or_the_stacks(
    changes: dict[str, str], profile: str
) -> None:
    assert resolved(of=node_class(**changes)).instance_profile == profile


@pytest.mark.parametrize("family", [f for f in FAMILIES if f.alias], ids=lambda family: family.name)
def test_an_alias_finds_an_image_for_each_architecture_and_variant(family: Family) -> None:
    here = World(images=InMemoryImages(parameters("1.32")))
    aliased = node_class(ami_family=family.name, ami_terms=(SelectorTerm(alias=f"{family.alias}@latest"),))
    found = here.resolver().resolve(aliased, connected(version="1.32"), here.images.parameters)
    assert {(query.arch, query.variant) for query in family.queries("1.32", "latest")} == set(found.images)
    assert found.warnings == ()
    assert found.image_for(instance_type(arch="arm64")) == found.images["arm64", "standard"]
    assert found.image_for(instance_type(labels=GPU)) == found.images["amd64", "nvidia"]
    assert found.image_for(instance_type(labels=NEURON)) == found.images["amd64", "neuron"]


def test_a_type_without_an_image_has_none() -> None:
    assert resolved().image_for(instance_type(arch="arm64", labels=NEURON)) is None


def test_images_refresh_has_stored_are_not_asked_for() -> None:
    here = World()
    known = dict(here.images.parameters)
    here.images.parameters.clear()
    assert here.resolver().resolve(node_class(), connected(), known).images


def test_images_of_a_pinned_version_are_asked_for() -> None:
    here = World()
    (family, *_) = FAMILIES
    (query, *_) = family.queries("1.37", "v20261101")
    here.images.parameters[query.parameter] = "ami-pinned"
    found = resolved(here, node_class(ami_terms=(SelectorTerm(alias="al2023@v20261101"),)))
    assert found.images == {("amd64", "standard"): "ami-pinned"}


@pytest.mark.parametrize(
    "term",
    [
        SelectorTerm(id="ami-mine"),
        SelectorTerm(name="my-*"),
        SelectorTerm(tags={"for": "nodes"}),
        SelectorTerm(ssm_parameter="/my/image"),
    ],
    ids=["id", "name", "tags", "parameter"],
)
def test_an_image_may_be_named_by(term: SelectorTerm) -> None:
    here = World()
    here.images.parameters["/my/image"] = "ami-mine"
    here.images.registered.append(OwnedImage(Image("ami-mine", "amd64", "my-image"), tags={"for": "nodes"}))
    found = resolved(here, node_class(ami_terms=(term,)))
    assert found.image_for(instance_type()) == found.image_for(instance_type(labels=GPU)) == "ami-mine"
    assert found.image_for(instance_type(arch="arm64")) is None


def test_of_several_images_the_newest_wins() -> None:
    here = World()
    here.images.registered += [
        OwnedImage(Image("ami-old", "amd64", "mine-1", "2026-01-01T00:00:00Z")),
        OwnedImage(Image("ami-new", "amd64", "mine-2", "2026-06-01T00:00:00Z")),
    ]
    found = resolved(here, node_class(ami_terms=(SelectorTerm(name="mine-*"),)))
    assert set(found.images.values()) == {"ami-new"}


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"subnet_terms": (SelectorTerm(id="none"),)}, "spec.subnetSelectorTerms"),
        ({"security_group_terms": (SelectorTerm(id="none"),)}, "spec.securityGroupSelectorTerms"),
        ({"ami_terms": (SelectorTerm(id="none"),)}, "spec.amiSelectorTerms"),
        ({"ami_terms": (SelectorTerm(alias="al2023@v1"),)}, "spec.amiSelectorTerms"),
        ({"ami_terms": (SelectorTerm(alias="suse@latest"),)}, "spec.amiSelectorTerms"),
        ({"ami_family": "AL2", "ami_terms": AL2, "user_data": "#!/bin/sh"}, "spec.userData"),
        ({"ami_family": "Custom", "ami_terms": (SelectorTerm(id="none"),)}, "spec.amiSelectorTerms"),
        ({"role": "unknown"}, "spec.role"),
    ],
)
def test_what_finds_nothing_is_refused_by_class_and_field(changes: dict[str, object], path: str) -> None:
    with pytest.raises(RefusedError, match=path.replace(".", r"\.")):
        resolved(of=replace(node_class(), **changes))  # type: ignore[arg-type]


def test_al2_without_an_image_for_the_cluster_is_launched_as_al2023_with_a_warning() -> None:
    found = resolved(of=node_class(ami_family="AL2", ami_terms=AL2))
    assert found.images == resolved().images
    assert found.node_class.ami_family == "AL2023"
    (warning,) = found.warnings
    assert (warning.object, warning.path) == ("EC2NodeClass/default", "spec.amiFamily")
    assert "AL2 has no image for Kubernetes 1.37" in warning.message


def test_an_image_of_the_class_s_own_boots_whatever_family_its_user_data_is_for() -> None:
    here = World()
    here.images.registered.append(OwnedImage(Image("ami-mine", "amd64")))
    for family in ("AL2", "Custom"):
        found = resolved(here, node_class(ami_family=family, ami_terms=(SelectorTerm(id="ami-mine"),)))
        assert found.image_for(instance_type()) == "ami-mine"
        assert (found.node_class.ami_family, found.warnings) == (family, ())


def test_custom_user_data_may_go_with_the_image_of_an_alias() -> None:
    found = resolved(of=node_class(ami_family="Custom", user_data="#!/bin/sh"))
    assert found.images == resolved().images
    assert found.node_class.ami_family == "Custom"


@pytest.mark.parametrize(
    ("source", "path"),
    [("AWSNodeTemplate/old", "spec.subnetSelector"), ("Provisioner/old", "spec.provider.subnetSelector")],
)
def test_a_refusal_names_the_field_of_the_manifest_that_was_read(source: str, path: str) -> None:
    with pytest.raises(UnusableNodeClassError, match=f"{source}: {path} matches no subnet") as caught:
        resolved(of=node_class(source=source, subnet_terms=(SelectorTerm(id="none"),)))
    assert caught.value.path == path


@pytest.mark.parametrize(("labels", "expected"), [(GPU, "nvidia"), (NEURON, "neuron"), ({}, "standard")])
def test_devices_say_which_variant_boots(labels: dict[str, str], expected: str) -> None:
    assert variant(instance_type(labels=labels)) == expected
