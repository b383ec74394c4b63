"""The Images port: images by public parameter or by a class's selector terms."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from nodewright.adapters.aws_errors import outside
from nodewright.adapters.instance_type_facts import ARCHITECTURES
from nodewright.adapters.selector_filters import filters_of
from nodewright.application.ports import Image
from nodewright.domain.nodeclasses import SelectorTerm

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_ec2.type_defs import DescribeImagesRequestPaginateTypeDef, ImageTypeDef
    from mypy_boto3_ssm import SSMClient

#: The most GetParameters takes.
PARAMETERS_A_CALL = 10

#: Whose images a name may mean when a term names no owner (karpenter-behaviour §2.5).
DEFAULT_OWNERS = ("self", "amazon")


class AwsImages:
    """SSM for parameters, EC2 for images."""

    def __init__(self, ec2: "EC2Client", ssm: "SSMClient") -> None:
        self._ec2 = ec2
        self._ssm = ssm

    def by_parameters(self, names: Sequence[str]) -> Mapping[str, str]:
        """Parameter → image id; SSM leaves out names it doesn't know, and so do we."""
        found: dict[str, str] = {}
        wanted = list(dict.fromkeys(names))
        for start in range(0, len(wanted), PARAMETERS_A_CALL):
            with outside("reading image parameters"):
                answer = self._ssm.get_parameters(Names=wanted[start : start + PARAMETERS_A_CALL])
            found |= {p["Name"]: p["Value"] for p in answer["Parameters"]}
        return found

    def by_terms(self, terms: tuple[SelectorTerm, ...]) -> tuple[Image, ...]:
        """Available images that match any term, deprecated ones too; newest first, then by id."""
        found = {image.id: image for term in self._resolved(terms) for image in self._search(term)}
        by_id = sorted(found.values(), key=lambda image: image.id)
        return tuple(sorted(by_id, key=lambda image: image.created, reverse=True))

    def _resolved(self, terms: tuple[SelectorTerm, ...]) -> Iterator[SelectorTerm]:
        """Terms with the images their parameters name in the parameters' place."""
        images = self.by_parameters([term.ssm_parameter for term in terms if term.ssm_parameter])
        for term in terms:
            if not term.ssm_parameter:
                yield term
            elif term.ssm_parameter in images:
                yield SelectorTerm(id=images[term.ssm_parameter])

    def _search(self, term: SelectorTerm) -> Iterator[Image]:
        (filters,) = filters_of((term,), id="image-id", name="name")
        request: DescribeImagesRequestPaginateTypeDef = {
            "Filters": [*filters, {"Name": "state", "Values": ["available"]}],
            "IncludeDeprecated": True,
        }
        if owners := _owners(term):
            request["Owners"] = owners
        with outside("describing images"):
            for page in self._ec2.get_paginator("describe_images").paginate(**request):
                yield from (image for raw in page.get("Images", []) if (image := _image(raw)))


def _owners(term: SelectorTerm) -> list[str]:
    if term.owner:
        return [term.owner]
    return list(DEFAULT_OWNERS) if term.name else []


def _image(raw: "ImageTypeDef") -> Image | None:
    """None for an architecture that isn't ours."""
    arch = ARCHITECTURES.get(raw.get("Architecture", ""))
    if arch is None:
        return None
    return Image(id=raw.get("ImageId", ""), arch=arch, name=raw.get("Name", ""), created=raw.get("CreationDate", ""))
