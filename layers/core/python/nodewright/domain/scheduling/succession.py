"""Plans made one after the other, each with what those before it left."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

from nodewright.domain.plans import Launch, Nomination, Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.scheduling.bought import Bought
from nodewright.domain.scheduling.final_state import offered_labels
from nodewright.domain.scheduling.planned_rooms import filled, paid
from nodewright.domain.scheduling.rules import Rule, is_host, rules_of, topology_keys
from nodewright.domain.snapshot import Snapshot


class Succession:
    """Rooms fill, pools are used up, and nodes that were bought are rooms for whoever comes later."""

    def __init__(self, snapshot: Snapshot) -> None:
        """`snapshot.pods`: those of all the plans."""
        self._snapshot = snapshot
        self._pods = {pod.key: pod for pod in snapshot.pods}
        self._rooms = {room.name: room for room in snapshot.rooms}
        self._pools = snapshot.pools
        self._sent: dict[str, tuple[PodKey, ...]] = {}
        self._bought = Bought(snapshot)
        self._plans = 0

    def left(self, pods: Sequence[Pod]) -> Snapshot:
        """What these find."""
        self._rooms |= {room.name: room for room in self._bought.rooms()}
        return replace(self._snapshot, pods=tuple(pods), rooms=tuple(self._rooms.values()), pools=self._pools)

    def add(self, plan: Plan) -> None:
        """One made on what was left."""
        for nomination in plan.nominations:
            self._send(nomination)
        for place, launch in enumerate(plan.launches):
            self._bought.add(launch, f"new {self._plans}.{place}")
            self._pools = tuple(paid(options, launch) for options in self._pools)
        self._plans += 1

    def extend(self, pods: Sequence[Pod], planner: Callable[[Snapshot], Plan], *, last: bool = False) -> Plan:
        """Add what is made of these; who is left. Those for whom nothing is bought are on no node that was.

        `last`: nobody comes later who would have to know where its nodes are.
        """
        aside = [pod for pod in pods if pod.key in self._snapshot.set_aside and len(self._bought)]
        others = pods if not aside else [pod for pod in pods if pod.key not in self._snapshot.set_aside]
        plans = []
        for some, look in ((others, self.left), (aside, self._beside_bought)):
            if some:
                plan = planner(look(some))
                plans.append(plan if last else self._fixed(plan))
                self.add(plans[-1])
        return Plan(
            unschedulable=tuple(each for plan in plans for each in plan.unschedulable),
            truncated=any(plan.truncated for plan in plans),
        )

    def attempt(
        self, pods: Sequence[Pod], planner: Callable[[Snapshot], Plan], accepted: Callable[[Snapshot, Plan], bool]
    ) -> Plan | None:
        """The same, if what is made of these is accepted. None may be set aside."""
        found = self.left(pods)
        plan = planner(found)
        if not accepted(found, plan):
            return None
        self.add(self._fixed(plan))
        return plan

    def launches(self) -> tuple[Launch, ...]:
        """Of all plans, with whoever came later."""
        return tuple(self._bought.launches())

    def nominations(self) -> tuple[Nomination, ...]:
        """Of all plans, to rooms that were there before the first."""
        return tuple(Nomination(name, keys) for name, keys in sorted(self._sent.items()))

    def _beside_bought(self, pods: Sequence[Pod]) -> Snapshot:
        """What these find who may not count on nodes that were bought."""
        found = self.left(pods)
        there = tuple(room for room in found.rooms if room.name not in self._bought)
        bought = tuple(room for room in found.rooms if room.name in self._bought)
        return replace(found, rooms=there, bystanders=(*found.bystanders, *bought))

    def _fixed(self, plan: Plan) -> Plan:
        """With nodes of which whoever comes later knows where they are, as far as their lists may be cut."""
        launches = (
            _pinned(self._snapshot, each, self._rules) if _can_be_cut(self._snapshot, each) else each
            for each in plan.launches
        )
        return replace(plan, launches=tuple(launches))

    @cached_property
    def _rules(self) -> Sequence[Rule]:
        return tuple(dict.fromkeys(rule for pod in self._snapshot.pods for rule in rules_of(pod)))

    def _send(self, nomination: Nomination) -> None:
        name = nomination.node
        self._rooms[name] = filled(self._rooms[name], tuple(self._pods[key] for key in nomination.pods))
        if name in self._bought:
            self._bought.send(name, nomination.pods)
        else:
            self._sent[name] = (*self._sent.get(name, ()), *nomination.pods)


def completed(
    snapshot: Snapshot, plan: Plan, left: Sequence[Pod], rules: Sequence[Rule], careful: Callable[[Snapshot], Plan]
) -> Plan | None:
    """The plan of all other pods with these planned around it; None where its launch lists can't be cut for that."""
    if not left:
        return _both(_after(snapshot, plan), plan, Plan())
    if not all(_can_be_cut(snapshot, launch) for launch in plan.launches):
        return None
    pinned = replace(plan, launches=tuple(_pinned(snapshot, launch, rules) for launch in plan.launches))
    succession = _after(snapshot, pinned)
    rest = succession.extend(left, careful, last=True)
    if len(rest.unschedulable) == len(left):
        return _both(_after(snapshot, plan), plan, rest)
    return _both(succession, plan, rest)


def _after(snapshot: Snapshot, plan: Plan) -> Succession:
    succession = Succession(snapshot)
    succession.add(plan)
    return succession


def _both(succession: Succession, plan: Plan, rest: Plan) -> Plan:
    """What came of it."""
    launches = succession.launches()
    return Plan(
        launches=launches,
        nominations=succession.nominations(),
        unschedulable=rest.unschedulable,
        cost=sum(launch.price * len(launch.nodes) for launch in launches),
        truncated=plan.truncated or rest.truncated,
    )


def _can_be_cut(snapshot: Snapshot, launch: Launch) -> bool:
    """Whether no choice is asked for that its list has to leave."""
    pool = next(each.pool for each in snapshot.pools if each.pool.name == launch.pool)
    return not any(requirement.min_values for requirement in pool.requirements.values())


def _pinned(snapshot: Snapshot, launch: Launch, rules: Sequence[Rule]) -> Launch:
    """With offerings that are the same to rules: whoever is planned around its nodes knows where they are."""
    options = next(each for each in snapshot.pools if each.pool.name == launch.pool)
    labels = [offered_labels(options, launch, each) for each in launch.offerings]
    keys = [key for rule in rules for key in topology_keys(rule) if not is_host(key)]
    same = [all(each.get(key) == labels[0].get(key) for key in keys) for each in labels]
    return replace(launch, offerings=tuple(each for each, fine in zip(launch.offerings, same, strict=True) if fine))
