"""Everything the careful path works on: nodes that are there, nodes opened, and what rules count where."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from nodewright.domain.pods import DaemonSet, Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.demands import Demands
from nodewright.domain.scheduling.entangled import Tangle
from nodewright.domain.scheduling.expecting import expect_daemons, expect_on_hosts, find_homes, never_full
from nodewright.domain.scheduling.localities import Localities, counts, passing
from nodewright.domain.scheduling.moving import Freedom
from nodewright.domain.scheduling.new_daemons import NewDaemons
from nodewright.domain.scheduling.offers import Offers
from nodewright.domain.scheduling.opened import Opened
from nodewright.domain.scheduling.ports import Ports
from nodewright.domain.scheduling.residents import resident_roles, uncertain_roles
from nodewright.domain.scheduling.roles import Role, roles
from nodewright.domain.scheduling.rules import NodeFilter, is_host, topology_keys
from nodewright.domain.scheduling.shapes import Wish
from nodewright.domain.scheduling.standing import Standing
from nodewright.domain.scheduling.steps import Need, Step
from nodewright.domain.scheduling.tallies import Tallies
from nodewright.domain.scheduling.tiers import Tier
from nodewright.domain.scheduling.waiting_order import ranks
from nodewright.domain.snapshot import Room


class Scene:
    """Sites are numbered: rooms first, in the order in which they are filled, then nodes as they are opened."""

    def __init__(
        self,
        tangle: Tangle,
        rooms: Sequence[Room],
        bystanders: Iterable[Room],
        tiers: Sequence[Tier],
        daemon_sets: Sequence[DaemonSet],
    ) -> None:
        self.tangle = tangle
        self.daemon_sets = daemon_sets
        self.demands = Demands(tangle.kinds)
        self.localities = Localities(tangle.rules)
        others = tuple(sorted(bystanders, key=lambda room: room.name))
        of_rooms = [self.localities.of_room(room) for room in (*rooms, *others)]
        self._possible = {room.name: self.localities.possible(room) for room in rooms if room.open_labels}
        of_rows = [self.localities.of_rows(tier) for tier in tiers]
        self.standing = Standing(rooms, self.demands, of_rooms[: len(rooms)])
        self._had = self.standing.free.copy()
        self.tallies = Tallies(tangle.rules, self.localities)
        self.ports = Ports()
        self.placed: list[Counter[int]] = [Counter() for _ in tangle.kinds]
        """Pods of each kind by locality."""
        self.wanted = [self.demands.of(kind) for kind in tangle.kinds]
        self.waiting = [{pod.key: pod for pod in kind.pods} for kind in tangle.kinds]
        """Of each kind, in the order in which they are served."""
        self._offers = [Offers(tier, tangle, daemon_sets) for tier in tiers]
        self.opened = [
            Opened(tier, rows, each.masks, self.demands)
            for tier, rows, each in zip(tiers, of_rows, self._offers, strict=True)
        ]
        self.lost: list[PodKey] = []
        """Pods of nodes whose launch lists didn't come about."""
        self.contents: list[list[tuple[int, Pod]]] = [[] for _ in rooms]
        """What was placed at each site: kind and pod."""
        self.explorable = 20_000_000
        """What crossings may still go through: states × cells × rules."""
        self.freedom = Freedom(tangle, self.localities)
        self._countable: dict[tuple[int, NodeFilter], Bools] = {}
        # Nodes that take no pods have sites below 0.
        sites = (*range(len(rooms)), *range(-1, -1 - len(others), -1))
        there = list(zip((*rooms, *others), of_rooms, sites, strict=True))
        for each in there:
            self._furnish(*each)
        self.tallies.begin()
        # Nodes that take no pods have the DaemonSets' pods that they will have.
        for each in there[: len(rooms)]:
            expect_daemons(self.tallies, tangle, daemon_sets, *each)
        self._daemons = [
            NewDaemons(tier, rows, tangle, daemon_sets, self.tallies) for tier, rows in zip(tiers, of_rows, strict=True)
        ]
        expect_on_hosts(self.tallies, self.opened, self._daemons)
        self._guarded_before = {rule: each.guarded for rule, each in self.tallies.repulsions.items()}
        unfilled = never_full(self.tallies, tangle, self._daemons)
        self.ranks = ranks(tangle.rules, tangle.kinds, unfilled, self.tallies.supported())
        self.roles = [roles(kind, self.ranks) for kind in tangle.kinds]

    @property
    def sites(self) -> int:
        """How many there are."""
        return len(self.contents)

    def used(self, site: int) -> Ints:
        """What entangled pods took of a room."""
        taken: Ints = self._had[site] - self.standing.free[site]
        return taken

    def waits(self, kind: int, pod: PodKey) -> bool:
        """Whether it has no place yet."""
        return pod in self.waiting[kind]

    def mask_index(self, tier: int, kind: int, *, loose: bool) -> int:
        """Of the offerings it may use."""
        return (self._offers[tier].loose if loose else self._offers[tier].strict)[kind]

    def mask(self, tier: int, kind: int, *, loose: bool) -> Bools:
        """The offerings it may use."""
        return self._offers[tier].masks[self.mask_index(tier, kind, loose=loose)]

    def wanted_at(self, kind: int, sites: Ints) -> Ints:
        """What one pod needs of these sites: one vector, unless some have a volume of it already."""
        spared = self.demands.spared(self.tangle.kinds[kind])
        if not spared:
            return self.wanted[kind]
        rows = [self.wanted[kind] - spared.get(int(site), 0) for site in sites]
        return np.array(rows, dtype=np.int64).reshape(len(sites), len(self.wanted[kind]))

    def within_reach(self, kind: int) -> Bools:
        """Localities where its pods could be for all that rules between pods say."""
        mask = np.zeros(len(self.localities), dtype=np.bool_)
        everywhere = np.ones(len(self.localities), dtype=np.bool_)
        rooms = self.standing.candidates(self.tangle.kinds[kind].wish, self.wanted[kind], everywhere)
        mask[self.standing.locality[rooms]] = True
        for tier, opened in enumerate(self.opened):
            mask[opened.locality[opened.holding(self.wanted[kind]) & self.mask(tier, kind, loose=True)]] = True
        return mask

    def company(self, tier: int, kind: int) -> Bools | None:
        """Offerings on whose nodes DaemonSets are the company that all affinity of these pods asks for."""
        affinities = [rule for rule in self.tangle.kinds[kind].owns if self.tallies.affinity(rule) is not None]
        daemons = self._daemons[tier]
        if not affinities or not set(affinities).issubset(daemons.rules):
            return None
        found = np.logical_and.reduce([daemons.counted(rule) > 0 for rule in affinities])
        for key in {key for rule in affinities for key in topology_keys(self.tangle.rules[rule]) if not is_host(key)}:
            found &= (self.localities.codes(key) >= 0)[self.opened[tier].locality]
        return np.asarray(found)

    def bearable(self, tier: int, kind: int) -> Bools | None:
        """Offerings whose DaemonSets' pods don't break a rule when a node is opened; None where rules count none."""
        daemons = self._daemons[tier]
        if not daemons.rules:
            return None
        where, roles_of = self.opened[tier].locality, self.roles[kind]
        masks = [self.tallies.bears(rule, roles_of, daemons.counted(rule), where) for rule in daemons.rules]
        return np.asarray(np.logical_and.reduce(masks))

    def newly_guarded(self, rule: int) -> frozenset[str]:
        """Domains in which none but planned pods have this anti-affinity."""
        repels = self.tallies.repulsions[rule].guarded & ~self._guarded_before[rule]
        names = self.localities.names(topology_keys(self.tangle.rules[rule])[0])
        return frozenset(names[domain] for domain in np.flatnonzero(repels).tolist())

    def look_round(self, *, reaching: bool = True) -> None:
        """Find anew which domains each spread's pods can reach by buying, with what the limits leave, or by moving."""
        buyable = np.zeros(len(self.localities), dtype=np.bool_)
        sold = [opened.affordable for opened in self.opened]
        for opened, mask in zip(self.opened, sold, strict=True):
            buyable[opened.locality[mask & opened.place.on_sale]] = True
        reach = self._reaches([mask | self._by_moving(tier) for tier, mask in enumerate(sold)])
        nowhere = np.zeros(len(self.localities), dtype=np.bool_)
        for rule, spread in self.tallies.spreads_by_rule.items():
            spread.reach(reach.get(rule, nowhere) if reaching else nowhere)
        for rule, host_spread in self.tallies.host_spreads.items():
            host_spread.growing = reaching or bool(reach.get(rule, nowhere).any())
        self.tallies.watch(buyable)
        find_homes(self.tallies, self.tangle, self.waiting, self.ranks)

    def _reaches(self, sold: Sequence[Bools]) -> Mapping[int, Bools]:
        """Where nodes could be bought for pods of each rule."""
        found: dict[int, Bools] = {}
        known: dict[tuple[Resources, Wish], Bools] = {}
        for number, kind in enumerate(self.tangle.kinds):
            if kind.owns:
                alike = (kind.requests, kind.reach)
                mask = known[alike] = known[alike] if alike in known else self._reach(number, sold)
                found |= {rule: found[rule] | mask if rule in found else mask for rule in kind.owns}
        return found

    def is_surprising(self, room: Room) -> bool:
        """Whether a node of this locality is a domain that some spread didn't expect."""
        locality = self.localities.known(room)
        return locality is not None and not bool(self.tallies.openings()[locality])

    def settle(self, kind: int, site: int, pod: PodKey) -> None:
        """A pod goes to a room."""
        found = self.waiting[kind][pod]
        self.standing.free[site] -= self.wanted_at(kind, np.array([site])).reshape(-1)
        self._note(kind, found, site, int(self.standing.locality[site]))

    def open_or_join(self, kind: int, pod: Pod, tier: int, step: Step, need: Need) -> None:
        """A pod goes to a node that is opened for it or was for others."""
        opened = self.opened[tier]
        before = None if step.node is None else int(opened.row[step.node])
        locality = int(opened.locality[step.row])
        site = opened.put(step, need, self.sites)
        if before is None:
            self.contents.append([])
            self._arrive(tier, site, locality)
            for each in self._daemons[tier].on(step.row):
                self.tallies.add(each, locality, site)
                self.freedom.pin((role.rule for role in each), site, locality)
        elif opened.locality[before] != locality:
            self._move(tier, site, before, step.row)
        self._note(kind, pod, site, locality)
        self.freedom.pin((role.rule for role in self.roles[kind]), site, locality)

    def moved(self, tier: int, need: Need, sites: Bools, below: int, *, any_node: bool) -> Step | None:
        """An opened node that has to be in another locality for a pod, if it gets dearer by no more than `below`.

        Where a spread might notice any node at all, none may be moved.
        """
        opened = self.opened[tier]
        if below < 0 or self.tallies.is_wary or not len(opened.row):
            return None
        nodes = sites[opened.site] & (any_node | opened.barred(need))
        if not nodes.any():
            return None
        return opened.moved(need, self.freedom.of(opened.site) & nodes[:, None], below)

    def relocate(self, tier: int, node: int, row: int) -> None:
        """Plan an opened node as another offering elsewhere, whatever its pods' spreads say."""
        opened = self.opened[tier]
        before = int(opened.row[node])
        opened.become(node, row)
        self._move(tier, int(opened.site[node]), before, row)

    def spread_counted(self, site: int) -> Bools:
        """Localities that all spreads of the pods there count."""
        mask = np.ones(len(self.localities), dtype=np.bool_)
        for rule in {role.rule for kind, _ in self.contents[site] for role in self.roles[kind] if role.owner}:
            if rule in self.tallies.spreads_by_rule:
                mask &= self.tallies.spreads_by_rule[rule].domain >= 0
        return mask

    def _arrive(self, tier: int, site: int, locality: int) -> None:
        """There is a new node."""
        self.tallies.there(locality)
        self.tallies.there_by_name(site, lambda rule: bool(self._counted(tier, rule.nodes)[locality]))

    def _by_moving(self, tier: int) -> Bools:
        """Offerings that an opened node may become elsewhere; without limits they are for sale anyway."""
        opened = self.opened[tier]
        if not opened.place.limited or self.tallies.is_wary:
            return np.zeros(len(opened.place.prices), dtype=np.bool_)
        return opened.within_move(self.freedom.but_for_spreads(opened.site))

    def _move(self, tier: int, site: int, before: int, row: int) -> None:
        """An opened node is planned as another offering, elsewhere: all count anew but affinities that are held."""
        old, new = (int(self.opened[tier].locality[each]) for each in (before, row))
        self.tallies.gone(old)
        self._arrive(tier, site, new)
        for each in self._daemons[tier].on(before):
            self.tallies.add(self._moving(each), old, site, -1)
        for each in self._daemons[tier].on(row):
            self.tallies.add(self._moving(each), new, site)
        for kind, _ in self.contents[site]:
            self.tallies.add(self._moving(self.roles[kind]), old, site, -1)
            self.tallies.add(self._moving(self.roles[kind]), new, site)
            self.placed[kind] = self.placed[kind] - Counter([old]) + Counter([new])
        self.freedom.pin((), site, new)

    def _moving(self, roles: Sequence[Role]) -> Sequence[Role]:
        held = (role.rule for role in roles if self.freedom.matters(role.rule))
        affinities = {rule for rule in held if self.tallies.affinity(rule) is not None}
        return [role for role in roles if role.rule not in affinities]

    def _counted(self, tier: int, counted: NodeFilter) -> Bools:
        """Localities in which a new node may be one that a spread counts: which type comes is open."""
        if (tier, counted) not in self._countable:
            opened = self.opened[tier]
            mask = np.zeros(len(self.localities), dtype=np.bool_)
            mask[opened.locality[passing(opened.place, counted)]] = True
            self._countable[tier, counted] = mask
        return self._countable[tier, counted]

    def _note(self, kind: int, pod: Pod, site: int, locality: int) -> None:
        del self.waiting[kind][pod.key]
        self.contents[site].append((kind, pod))
        self.placed[kind][locality] += 1
        self.demands.attach(pod.attachments, site)
        self.ports.take(pod.host_ports, site)
        self._add(self.roles[kind], locality, site)

    def _add(self, roles: Sequence[Role], locality: int, site: int) -> None:
        self.tallies.add(roles, locality, site)
        self.freedom.own(roles)

    def _furnish(self, room: Room, locality: int, site: int) -> None:
        """What is on a node already."""
        self.tallies.there(locality)
        self.tallies.there_by_name(site, lambda rule: counts(rule, room))
        residents = list(resident_roles(room, self.tangle))
        for each in residents:
            self._add(each, locality, site)
        for possible in self._possible.get(room.name, ()):
            self.tallies.there(possible)
            for each in residents:
                self.tallies.add(uncertain_roles(each, room.open_labels.keys(), self.tangle), possible, site)
        if site >= 0:
            self.ports.take(room.host_ports, site)
            self.demands.attach(room.all_attached, site)

    def _reach(self, kind: int, sold: Sequence[Bools]) -> Bools:
        mask = np.zeros(len(self.localities), dtype=np.bool_)
        for offers, opened, affordable in zip(self._offers, self.opened, sold, strict=True):
            mask[opened.locality[offers.reach(kind) & affordable]] = True
        return mask
