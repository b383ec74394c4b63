"""Who takes which of a plan's places: pods of equal size change them, so that those come together which may.

The packing knows how many of each shape a node holds, not whom. Pods that mind whom they share a node with come
first, where there are most of them; among those that may sit somewhere, who has most of his like left. For whom no
place is left then, two others change theirs.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling.rules import Rule, SpreadRule


class Manners(NamedTuple):
    """What a pod is to the rules on who may share a node; a key as often as pods are seated."""

    owns: tuple[int, ...] = ()
    selected: tuple[int, ...] = ()


INDIFFERENT: Final = Manners()


class Seating:
    """Of nodes, each with the shapes of its places."""

    def __init__(self, rules: Mapping[int, Rule], nodes: Sequence[Mapping[int, int]]) -> None:
        """`nodes`: places by shape."""
        self._nodes = nodes
        self._tables = [_Table(rules) for _ in nodes]
        self._empty: defaultdict[int, list[int]] = defaultdict(list)
        """Shape → nodes with a place of it that nobody took, each as often as it has one."""
        self._having: dict[int, list[int]] = {}

    def seat(self, pods: Mapping[int, Sequence[tuple[PodKey, Manners]]]) -> list[list[PodKey]]:
        """Pods of each node; some may find no place. `pods`: of each shape, as many as there are places."""
        guests = {shape: _Guests(several) for shape, several in pods.items()}
        choosy = {shape for shape, each in guests.items() if each.choosy}
        for first in (True, False):
            for number in self._order(choosy):
                for shape, places in self._nodes[number].items():
                    if (shape in choosy) is first:
                        self._serve(number, shape, places, guests[shape])
        for shape in sorted(self._empty):
            self._exchange(shape, guests[shape])
        return [[key for seats in table.seats.values() for key, _ in seats] for table in self._tables]

    def _order(self, choosy: set[int]) -> list[int]:
        """Nodes with most choosy guests first."""
        many = [sum(n for shape, n in node.items() if shape in choosy) for node in self._nodes]
        return sorted(range(len(many)), key=lambda number: -many[number])

    def _serve(self, number: int, shape: int, places: int, guests: "_Guests") -> None:
        table = self._tables[number]
        for _ in range(places):
            manners = next(self._fitting(table, guests), None)
            if manners is None:
                self._empty[shape].append(number)
            else:
                table.take(shape, guests.call(manners), manners)

    def _fitting(self, table: "_Table", guests: "_Guests") -> Iterator[Manners]:
        """Who may come; first those whose rules are kept there anyway, which leaves others more choice."""
        if guests.choosy:
            yield from (each for each in guests.by_number if table.keeps(each.owns) and table.suits(each))
        yield from (each for each in guests.by_number if table.suits(each))

    def _exchange(self, shape: int, guests: "_Guests") -> None:
        """Whoever is left takes an empty place, once somebody there has changed his for one elsewhere."""
        for key, manners in guests.rest():
            if not self._fills(shape, key, manners):
                self._takes_over(shape, key, manners)

    def _fills(self, shape: int, key: PodKey, manners: Manners, but: int = -1) -> bool:
        """Whether such a pod could be put on an empty place, except at one table."""
        for number in self._empty[shape]:
            if number != but and (self._tables[number].suits(manners) or self._makes_way(number, manners)):
                self._tables[number].take(shape, key, manners)
                self._empty[shape].remove(number)
                return True
        return False

    def _takes_over(self, shape: int, key: PodKey, manners: Manners) -> None:
        """Put it in the place of another of its shape, who finds an empty one."""
        tried = {manners}
        for number in self._with_places(shape):
            table = self._tables[number]
            for place, (seated, theirs) in enumerate(table.seats[shape]):
                if theirs in tried:
                    continue
                table.count(theirs, -1)
                if table.suits(manners):
                    tried.add(theirs)
                    table.count(manners, 1)
                    table.seats[shape][place] = (key, manners)
                    if self._fills(shape, seated, theirs, but=number):
                        return
                    table.seats[shape][place] = (seated, theirs)
                    table.count(manners, -1)
                table.count(theirs, 1)

    def _makes_way(self, number: int, manners: Manners) -> bool:
        """Whether somebody at a table could change places with one of his shape, so that such a pod can come."""
        table = self._tables[number]
        for shape, seats in table.seats.items():
            for place, (_, theirs) in enumerate(seats):
                table.count(theirs, -1)
                if table.suits(manners):
                    table.count(manners, 1)
                    other = self._taker(number, shape, theirs)
                    table.count(manners, -1)
                    if other is not None:
                        self._swap(shape, (number, place), other)
                        return True
                table.count(theirs, 1)
        return False

    def _taker(self, number: int, shape: int, manners: Manners) -> tuple[int, int] | None:
        """A place elsewhere for such a pod whose own can come to this table."""
        for other in self._with_places(shape):
            table = self._tables[other]
            for place, (_, theirs) in enumerate(table.seats[shape] if other != number else ()):
                if theirs != manners and self._tables[number].suits(theirs):
                    table.count(theirs, -1)
                    if table.suits(manners):
                        return other, place
                    table.count(theirs, 1)
        return None

    def _swap(self, shape: int, one: tuple[int, int], other: tuple[int, int]) -> None:
        """Both are no longer counted where they were."""
        (table, place), (there, elsewhere) = one, other
        first, second = self._tables[table].seats[shape], self._tables[there].seats[shape]
        first[place], second[elsewhere] = second[elsewhere], first[place]
        self._tables[table].count(first[place][1], 1)
        self._tables[there].count(second[elsewhere][1], 1)

    def _with_places(self, shape: int) -> list[int]:
        if shape not in self._having:
            self._having[shape] = [number for number, node in enumerate(self._nodes) if shape in node]
        return self._having[shape]


class _Table:
    """Who is on a node."""

    def __init__(self, rules: Mapping[int, Rule]) -> None:
        self.seats: defaultdict[int, list[tuple[PodKey, Manners]]] = defaultdict(list)
        """By shape."""
        self._rules = rules
        self._selected: Counter[int] = Counter()
        self._owners: Counter[int] = Counter()

    def suits(self, manners: Manners) -> bool:
        """Whether such a pod may come, as far as who is there is concerned."""
        return all(self._bears(rule, itself=rule in manners.selected) for rule in manners.owns) and all(
            self._lets_in(rule) for rule in manners.selected if self._owners[rule] > 0
        )

    def keeps(self, rules: Sequence[int]) -> bool:
        """Whether somebody there has each of these rules."""
        return all(self._owners[rule] > 0 for rule in rules)

    def take(self, shape: int, key: PodKey, manners: Manners) -> None:
        """It comes."""
        self.seats[shape].append((key, manners))
        self.count(manners, 1)

    def count(self, manners: Manners, many: int) -> None:
        """So many more of these."""
        for rule in manners.selected:
            self._selected[rule] += many
        for rule in manners.owns:
            self._owners[rule] += many

    def _bears(self, rule: int, *, itself: bool) -> bool:
        """Whether a rule lets a pod that has it come; `itself`: it selects that pod, too."""
        asked = self._rules[rule]
        return self._selected[rule] <= (asked.max_skew - itself if isinstance(asked, SpreadRule) else 0)

    def _lets_in(self, rule: int) -> bool:
        """Whether a rule of somebody there lets a pod come that it selects."""
        asked = self._rules[rule]
        return isinstance(asked, SpreadRule) and self._selected[rule] < asked.max_skew


class _Guests:
    """Pods of one shape that have no place yet, by their manners."""

    def __init__(self, pods: Sequence[tuple[PodKey, Manners]]) -> None:
        found: defaultdict[Manners, list[PodKey]] = defaultdict(list)
        for key, manners in pods:
            found[manners].append(key)
        self._left = {manners: keys[::-1] for manners, keys in found.items()}
        self.by_number = sorted(self._left, key=lambda each: (-len(self._left[each]), each.owns, each.selected))
        """Manners, those of which most are left first."""
        self.choosy = any(each.owns for each in found)

    def call(self, manners: Manners) -> PodKey:
        """The next one of these."""
        order, keys = self.by_number, self._left[manners]
        found = keys.pop()
        at = order.index(manners)
        while at + 1 < len(order) and len(self._left[order[at + 1]]) > len(keys):
            order[at], at = order[at + 1], at + 1
        order[at] = manners
        if not keys:
            del order[at]
        return found

    def rest(self) -> Iterator[tuple[PodKey, Manners]]:
        """Who is left."""
        for manners in list(self.by_number):
            yield from ((key, manners) for key in self._left[manners][::-1])
