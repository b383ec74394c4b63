"""Subnets and security groups that a test or a simulation lays out."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nodewright.adapters.memory.selection import matches
from nodewright.application.ports import Subnet
from nodewright.domain.nodeclasses import SelectorTerm


@dataclass(frozen=True, slots=True)
class SecurityGroup:
    """A group as selectors see it."""

    id: str
    name: str = ""


@dataclass
class InMemoryNetworks:
    """Each thing with its tags."""

    tagged_subnets: list[tuple[Subnet, Mapping[str, str]]] = field(default_factory=list)
    tagged_groups: list[tuple[SecurityGroup, Mapping[str, str]]] = field(default_factory=list)

    def subnets(self, terms: tuple[SelectorTerm, ...]) -> tuple[Subnet, ...]:
        """Matches of any term, most free addresses first."""
        found = [subnet for subnet, tags in self.tagged_subnets if matches(terms, subnet.id, tags)]
        return tuple(sorted(found, key=lambda subnet: (-subnet.free_addresses, subnet.id)))

    def security_groups(self, terms: tuple[SelectorTerm, ...]) -> tuple[str, ...]:
        """Ids of the matches of any term."""
        return tuple(sorted(g.id for g, tags in self.tagged_groups if matches(terms, g.id, tags, g.name)))
