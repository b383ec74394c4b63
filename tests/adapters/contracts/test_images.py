"""The laws of the Images port: in memory, and on EC2 and SSM as the sandbox has them."""

from dataclasses import dataclass, field

import pytest
from moto.ec2.models import ec2_backends

from nodewright.adapters import aws_clients
from nodewright.adapters.images import AwsImages
from nodewright.adapters.memory import InMemoryImages, OwnedImage
from nodewright.application.errors import RefusedError
from nodewright.application.ports import Image, Images
from nodewright.domain.nodeclasses import SelectorTerm
from sandbox.aws.server import SandboxAws

AL2023 = "/aws/service/eks/optimized-ami/1.37/amazon-linux-2023/{}/standard/recommended/image_id"
PARAMETERS = [AL2023.format("x86_64"), AL2023.format("arm64")]
#: Own images: name → architecture and tags.
OWN = {
    "golden-a": ("x86_64", {"team": "a"}),
    "golden-b": ("arm64", {"team": "a", "tested": "yes"}),
    "other": ("x86_64", {"team": "b"}),
    "mac": ("x86_64_mac", {"team": "a"}),
}


@dataclass
class Shelf:
    images: Images
    own: dict[str, str] = field(default_factory=dict)

    def names(self, *terms: SelectorTerm) -> set[str]:
        return {image.name for image in self.images.by_terms(terms)}


@pytest.fixture(params=["memory", "ec2"])
def shelf(request: pytest.FixtureRequest) -> Shelf:
    return memory_shelf() if request.param == "memory" else ec2_shelf(request.getfixturevalue("sandbox"))


def memory_shelf() -> Shelf:
    images = InMemoryImages()
    shelf = Shelf(images)
    for day, arch in ((14, "amd64"), (14, "arm64"), (15, "amd64"), (15, "arm64")):
        image = Image(f"ami-{arch}{day}", arch, f"amazon-eks-node-al2023-{arch}-{day}", f"2026-09-{day}T00:00:00Z")  # type: ignore[arg-type]
        images.registered.append(OwnedImage(image, owner="amazon"))
    images.parameters = dict(zip(PARAMETERS, ["ami-amd6415", "ami-arm6415"], strict=True))
    for name, (arch, tags) in OWN.items():
        shelf.own[name] = f"ami-{name}"
        if arch != "x86_64_mac":
            image = Image(f"ami-{name}", "arm64" if arch == "arm64" else "amd64", name, "2026-11-01T00:00:00Z")
            images.registered.append(OwnedImage(image, tags=tags))
    return shelf


def ec2_shelf(aws: SandboxAws) -> Shelf:
    ec2 = aws_clients.ec2(aws.region)
    shelf = Shelf(AwsImages(ec2, aws_clients.ssm(aws.region)))
    for name, (arch, tags) in OWN.items():
        made = ec2.register_image(Name=name, RootDeviceName="/dev/xvda")["ImageId"]
        # moto drops the architecture it is given.
        ec2_backends[aws.account][aws.region].amis[made].architecture = arch
        shelf.own[name] = made
        ec2.create_tags(Resources=[made], Tags=[{"Key": k, "Value": v} for k, v in tags.items()])
    return shelf


def test_parameters_name_images_and_unknown_ones_are_left_out(shelf: Shelf) -> None:
    unknown = [f"/aws/service/nothing/{n}" for n in range(11)]
    found = shelf.images.by_parameters([*unknown, *PARAMETERS, PARAMETERS[0]])
    assert set(found) == set(PARAMETERS)
    assert all(image.startswith("ami-") for image in found.values())
    assert shelf.images.by_parameters([]) == {}


def test_an_image_is_picked_by_its_id(shelf: Shelf) -> None:
    (image,) = shelf.images.by_terms((SelectorTerm(id=shelf.own["golden-b"]),))
    assert (image.id, image.arch, image.name) == (shelf.own["golden-b"], "arm64", "golden-b")


def test_an_id_that_is_gone_matches_nothing(shelf: Shelf) -> None:
    assert shelf.images.by_terms((SelectorTerm(id="ami-0123456789abcdef0"),)) == ()


def test_images_are_picked_by_name_with_wildcards_and_by_tags(shelf: Shelf) -> None:
    assert shelf.names(SelectorTerm(name="golden-*")) == {"golden-a", "golden-b"}
    assert shelf.names(SelectorTerm(tags={"tested": "*"})) == {"golden-b"}
    assert shelf.names(SelectorTerm(tags={"team": "b"}), SelectorTerm(name="golden-a")) == {"golden-a", "other"}
    assert shelf.names(SelectorTerm(name="golden-*", tags={"tested": "yes"})) == {"golden-b"}


def test_an_image_for_an_architecture_that_is_not_ours_is_left_out(shelf: Shelf) -> None:
    assert shelf.names(SelectorTerm(tags={"team": "a"})) == {"golden-a", "golden-b"}


def test_an_owner_restricts_a_name(shelf: Shelf) -> None:
    assert shelf.names(SelectorTerm(name="golden-a", owner="self")) == {"golden-a"}
    assert shelf.names(SelectorTerm(name="golden-a", owner="amazon")) == set()


def test_a_parameter_stands_for_the_image_it_names(shelf: Shelf) -> None:
    terms = (SelectorTerm(ssm_parameter=PARAMETERS[1]), SelectorTerm(ssm_parameter="/aws/service/nothing"))
    (image,) = shelf.images.by_terms(terms)
    assert (image.id, image.arch) == (shelf.images.by_parameters(PARAMETERS)[PARAMETERS[1]], "arm64")


def test_images_come_newest_first(shelf: Shelf) -> None:
    found = shelf.images.by_terms((SelectorTerm(name="amazon-eks-node-al2023-*"),))
    assert len(found) >= 4
    assert [image.created for image in found] == sorted((image.created for image in found), reverse=True)
    assert found[0].created != found[-1].created


@pytest.mark.parametrize("term", [SelectorTerm(), SelectorTerm(owner="self"), SelectorTerm(alias="al2023@latest")])
def test_a_term_that_would_match_everything_is_refused(shelf: Shelf, term: SelectorTerm) -> None:
    with pytest.raises(RefusedError, match="says nothing to look for"):
        shelf.images.by_terms((term,))
