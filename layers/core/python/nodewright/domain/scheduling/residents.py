"""What rules count of the pods that are on a node already or come with it."""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace

from nodewright.domain import nodes
from nodewright.domain.pods import DaemonSet, Pod, PodKey
from nodewright.domain.scheduling.entangled import Tangle
from nodewright.domain.scheduling.roles import Role, bound_roles, coming_roles
from nodewright.domain.scheduling.rules import AffinityRule, RepulsionRule, SpreadRule, rules_of, topology_keys
from nodewright.domain.snapshot import Room
from nodewright.domain.taints import untolerated


def resident_roles(room: Room, tangle: Tangle) -> Iterator[tuple[Role, ...]]:
    """Of each pod bound there that some rule has to do with."""
    for pod in room.pods:
        selected = tangle.selections.of(pod.key.namespace, pod.labels)
        if pod.key in room.coming:
            yield coming_roles([tangle.index[rule] for rule in rules_of(pod)], selected)
            continue
        repels = [tangle.index[RepulsionRule(term)] for term in pod.anti_affinity]
        if selected or repels:
            yield bound_roles(_counted(pod, selected, tangle), repels)


def uncertain_roles(roles: Iterable[Role], keys: AbstractSet[str], tangle: Tangle) -> Iterator[Role]:
    """What rules over these keys make of such a pod in a domain where it may come to be, or not."""
    for role in roles:
        rule = tangle.rules[role.rule]
        if not keys.isdisjoint(topology_keys(rule)):
            owner = role.owner and not isinstance(rule, AffinityRule)
            yield replace(role, owner=owner, counted_on=False)


def daemons_to_come(room: Room, daemon_sets: Iterable[DaemonSet]) -> Iterator[DaemonSet]:
    """DaemonSets whose pods a node will get but hasn't yet."""
    there = {
        PodKey(pod.key.namespace, pod.owner.name)
        for pod in room.pods
        if pod.owner is not None and pod.owner.kind == "DaemonSet"
    }
    final = {**room.labels, nodes.REGISTERED_LABEL: "true", nodes.INITIALIZED_LABEL: "true"}
    for each in daemon_sets:
        comes = each.key not in there and not untolerated(each.tolerations, room.taints)
        if comes and any(alternative.admits(final) for alternative in each.alternatives):
            yield each


def _counted(pod: Pod, selected: Iterable[int], tangle: Tangle) -> tuple[int, ...]:
    """A spread doesn't count pods that are being deleted (kubernetes#87621); affinity does."""
    return tuple(index for index in selected if not (pod.terminating and isinstance(tangle.rules[index], SpreadRule)))
