"""The labels a pool's nodes carry of their own, and the choices it leaves open.

A pool may require a label that no instance type has: `team In [a, b]`. Each of its nodes then gets
one of the values, the one its pods ask for. A lane is one such choice; pods that ask for different
values can't share a node, which lanes make plain by being packed apart.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from nodewright.domain import nodes
from nodewright.domain.labels import AWS_DOMAIN, WELL_KNOWN
from nodewright.domain.pools import NodePool
from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.scheduling.shapes import Wish


def own_labels(pool: NodePool) -> dict[str, str]:
    """What every node of the pool carries once it is up, whatever was bought."""
    return {
        **pool.labels,
        nodes.NODE_POOL_LABEL: pool.name,
        f"{AWS_DOMAIN}/ec2nodeclass": pool.node_class,
        nodes.REGISTERED_LABEL: "true",
        nodes.INITIALIZED_LABEL: "true",
    }


def lanes(pool: NodePool, wishes: Iterable[Wish], type_keys: frozenset[str]) -> tuple[Mapping[str, str], ...]:
    """Every choice of open labels that some pod can make use of, the undecided one first.

    Linear in the pods' alternatives, so a pool shared by a thousand teams stays affordable.
    """
    open_keys = _open_requirements(pool, type_keys)
    undecided = {key: value for key, r in open_keys.items() if (value := _unasked(r)) is not None}
    asked = {alternative for wish in wishes for alternative in wish.alternatives}
    choices = {tuple(sorted(undecided.items()))}
    for alternative in asked:
        choices.update(_choices(open_keys, undecided, alternative))
    rest = sorted(choices - {tuple(sorted(undecided.items()))})
    return (undecided, *(dict(choice) for choice in rest))


_MOST_CHOICES: Final = 64
"""Of one alternative; several open labels with several values each multiply."""


def _open_requirements(pool: NodePool, type_keys: frozenset[str]) -> dict[str, Requirement]:
    known = WELL_KNOWN | type_keys | own_labels(pool).keys()
    return {key: requirement for key, requirement in pool.requirements.items() if key not in known}


def _unasked(requirement: Requirement) -> str | None:
    """The value when no pod cares: none where the pool lets it be absent."""
    return None if requirement.allows_absent else requirement.some_value()


def _choices(
    open_keys: Mapping[str, Requirement], undecided: Mapping[str, str], alternative: Requirements
) -> Iterator[tuple[tuple[str, str], ...]]:
    per_key = [
        [(key, value) for value in _values(requirement, undecided.get(key), alternative.get(key))]
        for key, requirement in sorted(open_keys.items())
    ]
    for choice in itertools.islice(itertools.product(*per_key), _MOST_CHOICES):
        yield tuple((key, value) for key, value in choice if value is not None)


def _values(offered: Requirement, undecided: str | None, wanted: Requirement | None) -> list[str | None]:
    if wanted is None or (wanted.allows_absent if undecided is None else wanted.allows(undecided)):
        return [undecided]
    both = offered.intersect(wanted)
    return [*sorted(both.values)] if not both.complement else [both.some_value()]
