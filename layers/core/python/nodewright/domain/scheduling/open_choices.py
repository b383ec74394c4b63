"""By which values of open labels rules between pods tell nodes apart, whatever pods ask for themselves."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.scheduling.rules import Rule, SpreadRule, is_host, topology_keys
from nodewright.domain.scheduling.shapes import Wish
from nodewright.domain.snapshot import PoolOptions


def choices(rules: Sequence[Rule], pools: Sequence[PoolOptions]) -> Sequence[Wish]:
    """All values that are domains; and of a label that spreads read to see which nodes they count a value that none
    of them names: of nodes with that they don't hear.
    """
    found = sorted({*_domains(rules, pools), *_unnamed(_named(rules), pools)})
    return [Wish((Requirements([Requirement.of(key, "In", [value])]),), ()) for key, value in found]


def _domains(rules: Iterable[Rule], pools: Iterable[PoolOptions]) -> Iterator[tuple[str, str]]:
    keys = {key for rule in rules for key in topology_keys(rule) if not is_host(key)}
    listed = (options.pool.requirements.get(key) for options in pools for key in keys)
    for each in listed:
        if each is not None and not each.complement:
            yield from ((each.key, value) for value in each.values)


def _unnamed(named: Mapping[str, set[str]], pools: Iterable[PoolOptions]) -> Iterator[tuple[str, str]]:
    for options in pools:
        for key, values in named.items():
            offered = options.pool.requirements.get(key)
            if offered is not None:
                value = offered.intersect(Requirement.of(key, "NotIn", sorted(values))).some_value()
                if value is not None:
                    yield key, value


def _named(rules: Iterable[Rule]) -> Mapping[str, set[str]]:
    """Label → values that spreads name."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for rule in rules:
        if isinstance(rule, SpreadRule):
            for each in rule.nodes.alternatives or ():
                for key, requirement in each.items():
                    found[key] |= requirement.values
    return {key: values for key, values in found.items() if values}
