"""Domains as another plan has them, for what is packed by shape again: that plan keeps the rules over domains."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from nodewright.domain.plans import Launch, Plan
from nodewright.domain.pods import PodKey
from nodewright.domain.requirements import Requirement
from nodewright.domain.scheduling.allotments import Portion
from nodewright.domain.scheduling.entangled import Tangle
from nodewright.domain.scheduling.final_state import offered_labels
from nodewright.domain.scheduling.gathering import OVER_DOMAINS, Gathering
from nodewright.domain.scheduling.rules import topology_keys
from nodewright.domain.snapshot import Snapshot


class AsPlanned:
    """For pods of a tangle, all on new nodes."""

    def __init__(self, snapshot: Snapshot, tangle: Tangle, plan: Plan) -> None:
        self._tangle = tangle
        self._labels: dict[PodKey, Mapping[str, str]] = {}
        for launch in plan.launches:
            labels = _certain_labels(snapshot, launch)
            self._labels |= {key: labels for node in launch.nodes for key in node}

    def portions(self, gathering: Gathering) -> Sequence[Portion] | None:
        """None where the plan has somebody in no certain domain."""
        found: list[Portion] = []
        for number in gathering.kinds:
            key = self._key(gathering, number)
            mine = (
                [Portion(number, len(self._tangle.kinds[number].pods), None)] if key is None else self._in(number, key)
            )
            if mine is None:
                return None
            found += mine
        return found

    def _key(self, gathering: Gathering, number: int) -> str | None:
        """Of the domains that pods of a kind have to be in (gathering.py: there is but one)."""
        kind = self._tangle.kinds[number]
        over = (rule for rule in (*kind.owns, *kind.selected) if gathering.rules[rule] in OVER_DOMAINS)
        return next((topology_keys(self._tangle.rules[rule])[0] for rule in over), None)

    def _in(self, number: int, key: str) -> list[Portion] | None:
        pods = self._tangle.kinds[number].pods
        domains = Counter(self._labels.get(pod.key, {}).get(key) for pod in pods)
        return None if None in domains else list(_portions(number, key, domains))


def _portions(number: int, key: str, domains: Mapping[str | None, int]) -> Iterator[Portion]:
    for domain, many in sorted((str(domain), many) for domain, many in domains.items()):
        yield Portion(number, many, Requirement.of(key, "In", [domain]))


def _certain_labels(snapshot: Snapshot, launch: Launch) -> Mapping[str, str]:
    """Labels of its nodes, whichever offering comes."""
    options = next(each for each in snapshot.pools if each.pool.name == launch.pool)
    first, *others = (offered_labels(options, launch, each) for each in launch.offerings)
    return {key: value for key, value in first.items() if all(each.get(key) == value for each in others)}
