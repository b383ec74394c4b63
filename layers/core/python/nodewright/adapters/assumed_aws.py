"""AWS as a plan from manifests takes it to be: subnets in every zone, and whatever a class names is there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from nodewright.application.ports import Image, Subnet
from nodewright.domain.nodeclasses import SelectorTerm

_PLENTY: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class AssumedNetworks:
    """A subnet in each zone, whatever is selected."""

    zones: tuple[str, ...]

    def subnets(self, terms: tuple[SelectorTerm, ...]) -> tuple[Subnet, ...]:  # noqa: ARG002
        """One a zone."""
        return tuple(Subnet(f"subnet-{zone}", zone, "", _PLENTY) for zone in self.zones)

    def security_groups(self, terms: tuple[SelectorTerm, ...]) -> tuple[str, ...]:
        """One for each term."""
        return tuple(f"sg-{number}" for number, _ in enumerate(terms))


@dataclass(frozen=True, slots=True)
class AssumedImages:
    """Every image there may be."""

    def by_parameters(self, names: Sequence[str]) -> Mapping[str, str]:
        """All of them."""
        return dict.fromkeys(names, "ami-assumed")

    def by_terms(self, terms: tuple[SelectorTerm, ...]) -> tuple[Image, ...]:  # noqa: ARG002
        """For both architectures, as nothing says which it is."""
        return Image("ami-amd64", "amd64"), Image("ami-arm64", "arm64")


@dataclass(frozen=True, slots=True)
class AssumedProfiles:
    """Every role has one."""

    def ensure(self, cluster: str, node_class: str, role: str) -> str:  # noqa: ARG002
        """Named as its role."""
        return role
