"""Nodes that may become different things to rules: of pools that ask for choice (minValues)."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

import numpy as np

from nodewright.domain.plans import Launch, LaunchOffering, Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.scheduling import flexibility
from nodewright.domain.scheduling.admission import admission
from nodewright.domain.scheduling.arrays import Ints
from nodewright.domain.scheduling.entangled import Tangle
from nodewright.domain.scheduling.launch_lists import Load, launch_list, relaxed_min_values
from nodewright.domain.scheduling.localities import Localities
from nodewright.domain.scheduling.open_choices import choices
from nodewright.domain.scheduling.planned_rooms import paid, total
from nodewright.domain.scheduling.rules import is_host, topology_keys
from nodewright.domain.scheduling.shapes import group, wish_of
from nodewright.domain.scheduling.tiers import Tier, daemon_rows, tiers
from nodewright.domain.snapshot import PoolOptions, Snapshot


@dataclass(frozen=True, slots=True)
class Versatile:
    """One such node."""

    launch: Launch
    futures: tuple[Launch, ...]
    """The launch as each kind of node that rules can tell apart."""

    @property
    def pods(self) -> tuple[PodKey, ...]:
        """Who is to be there."""
        return self.launch.nodes[0]


def versatile(options: PoolOptions) -> bool:
    """Whether a pool has to have such nodes."""
    strict = options.pool.settings.get(flexibility.POLICY) != "BestEffort"
    asked = any(requirement.min_values for requirement in options.pool.requirements.values())
    return strict and asked and not options.pool.terminating


class Versatility:
    """Those that could be bought for some pods, with what a plan leaves of limits."""

    def __init__(self, snapshot: Snapshot, tangle: Tangle, plan: Plan, pods: Sequence[Pod]) -> None:
        self._pods = tuple(pods)
        self._rules = tangle.rules
        selected = tangle.selections.of
        self._daemons = [
            each for each in snapshot.daemon_sets if each.host_ports or selected(each.key.namespace, each.labels)
        ]
        self._shapes = group(pods)
        pools = [reduce(paid, plan.launches, options) for options in snapshot.pools if versatile(options)]
        self._tiers = tiers(pools, self._shapes, snapshot.daemon_sets, choices(self._rules, pools))

    def nodes(self) -> Iterator[Versatile]:
        """The heaviest pools' first, then the cheapest."""
        for place in self._tiers:
            kinds = self._kinds(place)
            for rows in self._by_price(place):
                launch = self._launch(place, rows)
                if launch is not None:
                    yield Versatile(launch, tuple(_futures(launch, place, rows, kinds)))

    def _kinds(self, place: Tier) -> Ints:
        """Of each offering a number, the same for those that are the same to rules, with DaemonSets' pods there."""
        columns = [Localities(self._rules).of_rows(place), *(daemon_rows(place, each) for each in self._daemons)]
        _, found = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        return np.asarray(found.reshape(-1), dtype=np.int64)

    def _by_price(self, place: Tier) -> list[Ints]:
        """Offerings of which a list may be made, not too many; of those that cost the same the most first."""
        found = list(self._choices(place, self._rows(place)))
        return sorted(found, key=lambda rows: (int(place.prices[rows].min()), -len(rows), int(rows[0])))[:_MOST]

    def _rows(self, place: Tier) -> Ints:
        """Offerings that hold the pods, and that they may use."""
        admitted = admission(place, self._shapes)
        mask = np.logical_and.reduce([admitted.masks[number] for number in admitted.mask_of])
        return np.flatnonzero(mask & place.affordable & place.holds(place.request(total(self._pods))))

    def _choices(self, place: Tier, rows: Ints) -> Iterator[Ints]:
        """Of one market and capacity type each: all, those of a zone, those of a type."""
        for market in np.unique(place.market_of[rows]).tolist():
            shelf, own = place.markets[market].shelf, rows[place.market_of[rows] == market]
            for capacity_type in np.unique(shelf.capacity_types[place.row_of[own]]).tolist():
                alike = own[shelf.capacity_types[place.row_of[own]] == capacity_type]
                yield alike
                zones = np.array([shelf.offerings[row].zone for row in place.row_of[alike].tolist()])
                for values in (zones, shelf.type_of[place.row_of[alike]]):
                    several = np.unique(values)
                    yield from (alike[values == value] for value in several if len(several) > 1)

    def _launch(self, place: Tier, rows: Ints) -> Launch | None:
        """Of one node, from these offerings; None where limits leave too little choice."""
        planned = _cheapest(place, rows)
        mask = np.zeros(len(place.prices), dtype=np.bool_)
        mask[rows] = True
        requests = total(self._pods)
        left = (place.remaining[place.purse_of[planned]] - place.usage[planned]).astype(np.float64)
        offerings = launch_list(place, Load(planned, place.request(requests), mask, 1), left)
        if not offerings:
            return None
        market = place.markets[place.market_of[planned]]
        return Launch(
            pool=market.pool.name,
            capacity_type=market.shelf.offerings[place.row_of[planned]].capacity_type,
            offerings=offerings,
            price=offerings[0].price,
            requests=requests,
            nodes=(tuple(pod.key for pod in self._pods),),
            selected_labels=tuple(sorted(self._keys())),
            labels=market.lane,
            relaxed_min_values=relaxed_min_values(place, planned, offerings),
        )

    def _keys(self) -> set[str]:
        """Labels that the pods and the rules read."""
        keys = {key for rule in self._rules for key in topology_keys(rule) if not is_host(key)}
        return keys.union(*(wish_of(pod).keys for pod in self._pods))


_MOST: Final = 24


def _cheapest(place: Tier, rows: Ints) -> int:
    return int(rows[np.argmin(place.prices[rows])])


def _futures(launch: Launch, place: Tier, rows: Ints, kinds: Ints) -> Iterator[Launch]:
    """The launch with the offerings of each kind."""
    found: defaultdict[int, list[LaunchOffering]] = defaultdict(list)
    kind_of = {_named(place, row): int(kinds[row]) for row in rows.tolist()}
    for offering in launch.offerings:
        found[kind_of[offering.instance_type, offering.zone]].append(offering)
    yield from (replace(launch, offerings=tuple(each)) for each in found.values())


def _named(place: Tier, row: int) -> tuple[str, str]:
    shelf = place.markets[place.market_of[row]].shelf
    number = place.row_of[row]
    return shelf.types[shelf.type_of[number]].name, shelf.offerings[number].zone
