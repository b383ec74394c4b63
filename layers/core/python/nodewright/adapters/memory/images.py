"""Images that a test or a simulation registers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nodewright.adapters.memory.selection import matches
from nodewright.application.ports import Image
from nodewright.domain.nodeclasses import SelectorTerm

DEFAULT_OWNERS = ("self", "amazon")


@dataclass(frozen=True, slots=True)
class OwnedImage:
    """An image with what selectors see of it."""

    image: Image
    owner: str = "self"
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass
class InMemoryImages:
    """Public parameters and images."""

    parameters: dict[str, str] = field(default_factory=dict)
    registered: list[OwnedImage] = field(default_factory=list)

    def by_parameters(self, names: Sequence[str]) -> Mapping[str, str]:
        """Parameter → image id; unknown names are left out."""
        return {name: self.parameters[name] for name in names if name in self.parameters}

    def by_terms(self, terms: tuple[SelectorTerm, ...]) -> tuple[Image, ...]:
        """Newest first, then by id."""
        known = [term for term in map(self._resolved, terms) if term is not None]
        found = sorted(
            (one.image for one in self.registered if any(_picks(term, one) for term in known)),
            key=lambda image: image.id,
        )
        return tuple(sorted(found, key=lambda image: image.created, reverse=True))

    def _resolved(self, term: SelectorTerm) -> SelectorTerm | None:
        """A parameter's term picks the image the parameter names, or nothing."""
        if not term.ssm_parameter:
            return term
        image = self.parameters.get(term.ssm_parameter)
        return SelectorTerm(id=image) if image else None


def _picks(term: SelectorTerm, one: OwnedImage) -> bool:
    owners = (term.owner,) if term.owner else DEFAULT_OWNERS if term.name else (one.owner,)
    return matches((term,), one.image.id, one.tags, one.image.name) and one.owner in owners
