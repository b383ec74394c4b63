"""One pod in one pool: which of its instance types fall to which rule."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nodewright.domain import nodes
from nodewright.domain.host_ports import conflicts
from nodewright.domain.limits import shown
from nodewright.domain.pods import EBS_DRIVER, DaemonSet, Pod
from nodewright.domain.quantities import format_amount
from nodewright.domain.scheduling import flexibility
from nodewright.domain.scheduling.arrays import Bools, Ints, every
from nodewright.domain.scheduling.company import FRESH, Company, Labels, Objection
from nodewright.domain.scheduling.explanations import Rule
from nodewright.domain.scheduling.offerings import Market
from nodewright.domain.scheduling.shelf_words import culprits, kind_name, named, nearest_by_labels
from nodewright.domain.scheduling.sieves import Stage
from nodewright.domain.scheduling.tiers import Tier
from nodewright.domain.taints import untolerated
from nodewright.domain.usage import node_usage


def own_stages(market: Market) -> Iterator[Stage]:
    """What the pool itself rules out, whatever the pod."""
    pool = market.pool
    yield Stage(
        Rule.REQUIREMENTS,
        market.permitted,
        lambda rows: culprits(market, (pool.requirements,), rows),
        lambda rows: nearest_by_labels(market, (pool.requirements,), rows),
        lambda _: f"loosen the requirements of {pool}",
    )


def sale_stages(place: Tier, number: int) -> Iterator[Stage]:
    """What EC2 and the pool's limits rule out."""
    market = place.markets[number]
    pool = market.pool
    yield Stage(
        Rule.CAPACITY,
        market.shelf.available,
        lambda rows: f"{named(market, rows & ~market.shelf.available)}: none to be had just now",
        lambda rows: f"{named(market, rows)} would do",
        lambda _: f"it is tried again by itself; more types, zones or capacity types in {pool} make it likelier",
    )
    affordable = place.affordable[place.rows(number)]
    yield Stage(
        Rule.LIMITS,
        affordable,
        lambda _: f"more than what is left: {', '.join(_left_of_limits(place, number))}",
        lambda rows: _smallest(place, number, rows),
        lambda _: f"raise the limits of {pool}, or wait until nodes of it are gone",
    )


@dataclass(frozen=True, slots=True, eq=False)
class PodInMarket:
    """A pod before a market's rows."""

    place: Tier
    number: int
    pod: Pod
    request: Ints
    daemon_sets: Sequence[DaemonSet]
    company: Company
    host: str
    """Name of the node that is bought for it, where it has companions; else it is nobody's yet."""

    @property
    def market(self) -> Market:
        """The one it looks at."""
        return self.place.markets[self.number]

    def stages(self) -> Iterator[Stage]:
        """Every rule in turn."""
        yield from own_stages(self.market)
        yield self._taints()
        yield self._labels()
        yield self._volumes()
        yield self._size()
        yield self._attachments()
        yield self._host_ports()
        yield self._company()
        yield from sale_stages(self.place, self.number)
        yield self._min_values()

    def _taints(self) -> Stage:
        pool = self.market.pool
        taints = ", ".join(map(str, untolerated(self.pod.tolerations, pool.taints)))
        return Stage(
            Rule.TAINTS,
            np.full(self.market.shelf.rows, not taints),
            lambda _: taints,
            lambda _: f"every node of {pool} has {taints}",
            lambda _: f"tolerate {taints} in the pod's spec.tolerations, or take it off {pool}",
        )

    def _labels(self) -> Stage:
        wanted = self.pod.alternatives
        return Stage(
            Rule.LABELS,
            self.market.columns.admits_any(wanted),
            lambda rows: culprits(self.market, wanted, rows),
            lambda rows: nearest_by_labels(self.market, wanted, rows),
            lambda _: f"change the pod's node selector or affinity, or let {self.market.pool} have such nodes",
        )

    def _volumes(self) -> Stage:
        wanted = self.pod.volume_nodes
        return Stage(
            Rule.VOLUMES,
            self.market.columns.admits_any(wanted),
            lambda rows: culprits(self.market, wanted, rows),
            lambda rows: nearest_by_labels(self.market, wanted, rows),
            lambda _: f"let the pod and {self.market.pool} use the zone of its volumes",
        )

    def _size(self) -> Stage:
        return Stage(
            Rule.SIZE,
            every(self._room >= self.request),
            self._short_of,
            self._nearest_size,
            lambda rows: f"ask for at most {self._largest(rows)}, or allow larger types in {self.market.pool}",
        )

    def _attachments(self) -> Stage:
        count = sum(each.driver == EBS_DRIVER for each in self.pod.attachments)
        kinds = self.market.shelf.types
        holds = np.array([kind.volumes is None or kind.volumes >= count for kind in kinds], dtype=np.bool_)
        most = max((kind.volumes or 0 for kind in kinds), default=0)
        return Stage(
            Rule.ATTACHMENTS,
            holds[self.market.shelf.type_of],
            lambda _: f"it mounts {count} volumes",
            lambda _: f"at most {most} can be attached",
            lambda _: "mount fewer volumes in one pod",
        )

    def _host_ports(self) -> Stage:
        keeps = np.ones(self.market.shelf.rows, dtype=np.bool_)
        taken = []
        for daemon_set, rows in self._daemons():
            clash = next(conflicts(self.pod.host_ports, daemon_set.host_ports), None)
            if clash:
                keeps &= ~rows
                taken.append(f"hostPort {clash[0]} is taken by DaemonSet {daemon_set.key}")
        told = ", ".join(taken)
        return Stage(
            Rule.HOST_PORTS,
            keeps,
            lambda _: told,
            lambda _: told,
            lambda _: "use another host port, or keep that DaemonSet off some nodes",
        )

    def _company(self) -> Stage:
        objections = self._objections()
        keeps = np.array([objection is None for objection in objections], dtype=np.bool_)
        return Stage(
            Rule.COMPANY,
            keeps,
            lambda rows: _grouped(_distinct(objections, rows)),
            lambda rows: _grouped(_distinct(objections, rows)[:1]),
            lambda rows: next((each.advice for each in _distinct(objections, rows)), ""),
        )

    def _min_values(self) -> Stage:
        market = self.market
        room = every(self._room >= self.request)
        keeps = flexibility.narrow(market, market.on_sale, room) if flexibility.wishes(market) else room | True
        return Stage(
            Rule.MIN_VALUES,
            keeps,
            lambda rows: "; ".join(self._choice(rows)),
            lambda rows: "; ".join(self._choice(rows)),
            lambda _: f"lower minValues, or allow more types in {market.pool}",
        )

    @property
    def _room(self) -> Ints:
        return self.place.room[self.place.rows(self.number)]

    def _short_of(self, rows: Bools) -> str:
        """Which resources are short, of how many types."""
        short = (self._room < self.request) & rows[:, None]
        kinds = self.market.shelf.type_of
        counts = {name: len(np.unique(kinds[short[:, i]])) for i, name in enumerate(self.place.resources)}
        asked = dict(zip(self.place.resources, self.request.tolist(), strict=True))
        return ", ".join(
            f"{name} {format_amount(name, asked[name])} is too much for {count}"
            for name, count in counts.items()
            if count
        )

    def _nearest_size(self, rows: Bools) -> str:
        found = np.flatnonzero(rows)
        lacking = np.maximum(self.request - self._room[found], 0)
        share = (lacking / np.maximum(self.request, 1)).sum(axis=1)
        best = int(np.argmin(share))
        names = self.place.resources
        missing = ", ".join(
            f"{name} {format_amount(name, int(amount))}"
            for name, amount in zip(names, lacking[best], strict=True)
            if amount
        )
        return f"{kind_name(self.market, int(found[best]))} lacks {missing} after DaemonSets"

    def _largest(self, rows: Bools) -> str:
        """What the row that is nearest has of what it lacks."""
        found = np.flatnonzero(rows)
        lacking = np.maximum(self.request - self._room[found], 0)
        best = int(np.argmin((lacking / np.maximum(self.request, 1)).sum(axis=1)))
        room = np.maximum(self._room[found[best]], 0)
        names = [(i, name) for i, name in enumerate(self.place.resources) if lacking[best][i]]
        return ", ".join(f"{name} {format_amount(name, int(room[i]))}" for i, name in names)

    def _objections(self) -> list[Objection | None]:
        """Of each row; rows that look alike to the rules are judged once."""
        keys = sorted(self.company.keys)
        daemons = list(self._daemons()) if keys else []
        known: dict[object, Objection | None] = {}
        found = []
        for row, labels in enumerate(row_labels(self.market, keys, self.host)):
            beside = tuple(number for number, (_, rows) in enumerate(daemons) if rows[row])
            alike = (tuple(labels.get(key) for key in keys), beside)
            if alike not in known:
                known[alike] = self.company.objection(labels, [daemons[number][0] for number in beside])
            found.append(known[alike])
        return found

    def _daemons(self) -> Iterator[tuple[DaemonSet, Bools]]:
        """Those that run in the pool, and on which rows."""
        for daemon_set in self.daemon_sets:
            if not untolerated(daemon_set.tolerations, self.market.pool.taints):
                yield daemon_set, self.market.columns.admits_any(daemon_set.alternatives)

    def _choice(self, rows: Bools) -> Iterator[str]:
        for key, least in flexibility.wishes(self.market).items():
            found = max(
                flexibility.distinct(self.market, rows & (self.market.shelf.capacity_types == kind), key)
                for kind in np.unique(self.market.shelf.capacity_types)
            )
            yield f"{key}: {found} of {least} values hold it"


def row_labels(market: Market, keys: Sequence[str], host: str = FRESH) -> Iterator[Labels]:
    """Of each row, these labels; a new node's host name is nobody's unless it is said."""
    columns = {key: market.columns.column(key) for key in keys if key != nodes.HOSTNAME_LABEL}
    for row in range(market.shelf.rows):
        values = {key: column.values[column.codes[row]] for key, column in columns.items()}
        if nodes.HOSTNAME_LABEL in keys:
            values[nodes.HOSTNAME_LABEL] = host
        yield {key: value for key, value in values.items() if value is not None}


def _grouped(objections: Iterable[Objection]) -> str:
    """Each rule once, with all it found."""
    found: dict[str, list[str]] = {}
    for each in objections:
        found.setdefault(each.rule, []).append(each.here)
    return "; ".join(f"{rule}: {', '.join(here)}" for rule, here in found.items())


def _distinct(objections: Sequence[Objection | None], rows: Bools) -> list[Objection]:
    told = (objections[row] for row in np.flatnonzero(rows).tolist())
    return list(dict.fromkeys(each for each in told if each is not None))


def _left_of_limits(place: Tier, number: int) -> Iterator[str]:
    purse = int(place.purse_of[place.rows(number)][0])
    for key, amount in zip(place.limited, place.remaining[purse].tolist(), strict=True):
        if amount < _ENOUGH:
            yield shown(key, amount)


_ENOUGH = 2**61


def _smallest(place: Tier, number: int, rows: Bools) -> str:
    market = place.markets[number]
    found = np.flatnonzero(rows)
    usage = place.usage[place.rows(number)][found]
    row = int(found[np.lexsort((found, *usage.T[::-1]))[0]])
    kind = market.shelf.types[market.shelf.type_of[row]]
    counted: Mapping[str, int] = node_usage(kind.capacity, int(market.shelf.prices[row]))
    left = dict(zip(place.limited, place.remaining[place.purse_of[place.rows(number)][0]].tolist(), strict=True))
    takes = [
        f"{shown(key, counted.get(key, 0))} where {shown(key, left[key]).rpartition(' ')[2]} is left"
        for key in place.limited
        if counted.get(key, 0) > left[key]
    ]
    return f"the smallest, {kind.name}, takes " + ", ".join(takes)
