"""Rules that select namespaces by labels nobody may read."""

import pytest

from nodewright.domain.requirements import Requirements
from nodewright.domain.topology import NAMESPACE_NAME, PodAffinityTerm, PodSelector
from nodewright.domain.unknown_namespaces import without_namespaces
from tests.builders import pod, requirements


@pytest.mark.parametrize(
    ("selector", "needs"),
    [
        (None, False),
        (Requirements(), False),
        (requirements((NAMESPACE_NAME, "In", "shop")), False),
        (requirements(("team", "In", "a")), True),
    ],
)
@pytest.mark.parametrize("kind", ["affinity", "anti_affinity"])
def test_a_term_that_needs_their_labels_is_a_problem(selector: Requirements | None, kind: str, *, needs: bool) -> None:
    term = PodAffinityTerm("zone", PodSelector(Requirements(), frozenset(), selector))
    (found,) = without_namespaces([pod(**{kind: (term,)})])  # type: ignore[arg-type]
    assert bool(found.problems) == needs
    assert all("nodewright connect" in each for each in found.problems)
