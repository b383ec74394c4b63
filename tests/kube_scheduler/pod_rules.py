"""Rules between pods, as people write them: each adds one to a template."""

import random
from collections.abc import Callable, Sequence
from typing import Final

from sandbox.controlplane.client import Object
from tests.kube_scheduler.drafts import REQUIRED, REVISION, Draft, Identity
from tests.kube_scheduler.machines import RACK

ZONE: Final = "topology.kubernetes.io/zone"
HOSTNAME: Final = "kubernetes.io/hostname"
CAPACITY_TYPE: Final = "karpenter.sh/capacity-type"

#: Draws what it needs, and may lower the template's count so that the rule can hold.
PodRule = Callable[[random.Random, Draft, Sequence[Identity]], None]


def spread_zones(chance: random.Random, draft: Draft, _: Sequence[Identity]) -> None:
    _spread(draft, ZONE, chance.choice((1, 1, 2)))


def spread_hosts(chance: random.Random, draft: Draft, _: Sequence[Identity]) -> None:
    _spread(draft, HOSTNAME, chance.choice((1, 2, 3)))


def spread_zones_and_hosts(chance: random.Random, draft: Draft, _: Sequence[Identity]) -> None:
    _spread(draft, ZONE, 1)
    _spread(draft, HOSTNAME, chance.choice((1, 2)))


def spread_capacity_types(chance: random.Random, draft: Draft, _: Sequence[Identity]) -> None:
    _spread(draft, CAPACITY_TYPE, chance.choice((1, 2)))


def spread_racks(chance: random.Random, draft: Draft, _: Sequence[Identity]) -> None:
    _spread(draft, RACK, chance.choice((1, 2)))


def spread_least_domains(chance: random.Random, draft: Draft, _: Sequence[Identity]) -> None:
    _spread(draft, chance.choice((ZONE, ZONE, HOSTNAME)), chance.choice((1, 2)), minDomains=chance.choice((2, 3)))


def spread_revisions(chance: random.Random, draft: Draft, _: Sequence[Identity]) -> None:
    draft.revisions = 2
    _spread(draft, chance.choice((ZONE, HOSTNAME)), 1, matchLabelKeys=[REVISION])


def spread_over_every_node(chance: random.Random, draft: Draft, _: Sequence[Identity]) -> None:
    _spread(draft, chance.choice((ZONE, HOSTNAME)), chance.choice((1, 2)), nodeAffinityPolicy="Ignore")


def spread_over_tolerated_nodes(chance: random.Random, draft: Draft, _: Sequence[Identity]) -> None:
    _spread(draft, chance.choice((ZONE, ZONE, HOSTNAME)), 1, nodeTaintsPolicy="Honor")


def spread_among_a_tier(chance: random.Random, draft: Draft, _: Sequence[Identity]) -> None:
    """The selector counts other templates' pods, too."""
    _spread(draft, ZONE, chance.choice((1, 2, 3)), labelSelector={"matchLabels": {"tier": draft.identity.tier}})


def one_per_host(_: random.Random, draft: Draft, __: Sequence[Identity]) -> None:
    draft.count = min(draft.count, 6)
    _keep_away(draft, _term(HOSTNAME, _self(draft)))


def one_per_zone(_: random.Random, draft: Draft, __: Sequence[Identity]) -> None:
    draft.count = min(draft.count, 3)
    _keep_away(draft, _term(ZONE, _self(draft)))


def all_in_one_zone(_: random.Random, draft: Draft, __: Sequence[Identity]) -> None:
    _join(draft, _term(ZONE, _self(draft)))


def all_on_one_host(_: random.Random, draft: Draft, __: Sequence[Identity]) -> None:
    draft.count = min(draft.count, 4)
    _join(draft, _term(HOSTNAME, _self(draft)))


def all_of_a_revision_in_one_zone(_: random.Random, draft: Draft, __: Sequence[Identity]) -> None:
    draft.revisions = 2
    _join(draft, _term(ZONE, _self(draft), matchLabelKeys=[REVISION]))


def near_another(chance: random.Random, draft: Draft, peers: Sequence[Identity]) -> None:
    """In a zone, or on a node, of another template."""
    peer = _peer(chance, draft, peers)
    key = chance.choice((ZONE, ZONE, HOSTNAME))
    _join(draft, _term(key, {"matchLabels": {"app": peer.app}}, **_where(chance, peer, draft)))


def far_from_another(chance: random.Random, draft: Draft, peers: Sequence[Identity]) -> None:
    peer = _peer(chance, draft, peers)
    key = chance.choice((HOSTNAME, HOSTNAME, ZONE))
    _keep_away(draft, _term(key, {"matchLabels": {"app": peer.app}}, **_where(chance, peer, draft)))


def no_other_tenant(_: random.Random, draft: Draft, __: Sequence[Identity]) -> None:
    """Nodes are for one tenant only, whatever its namespace."""
    anyone: Object = {"matchExpressions": [{"key": "tenant", "operator": "Exists"}]}
    _keep_away(draft, _term(HOSTNAME, anyone, mismatchLabelKeys=["tenant"], namespaceSelector={}))


RULES: Final[tuple[PodRule, ...]] = (
    spread_zones,
    spread_hosts,
    spread_zones_and_hosts,
    spread_capacity_types,
    spread_racks,
    spread_least_domains,
    spread_revisions,
    spread_over_every_node,
    spread_over_tolerated_nodes,
    spread_among_a_tier,
    one_per_host,
    one_per_zone,
    all_in_one_zone,
    all_on_one_host,
    all_of_a_revision_in_one_zone,
    # Twice, for they come in many forms.
    near_another,
    near_another,
    far_from_another,
    far_from_another,
    no_other_tenant,
)


def _spread(draft: Draft, key: str, skew: int, **more: object) -> None:
    """One constraint per key: the API server takes no more."""
    made = {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": _self(draft)}
    constraints = draft.rule("topologySpreadConstraints")
    if all(each["topologyKey"] != key for each in constraints):
        constraints.append({**made, **more})


def _join(draft: Draft, term: Object) -> None:
    draft.rule("affinity", "podAffinity", REQUIRED).append(term)


def _keep_away(draft: Draft, term: Object) -> None:
    draft.rule("affinity", "podAntiAffinity", REQUIRED).append(term)


def _term(key: str, selector: Object, **more: object) -> Object:
    return {"topologyKey": key, "labelSelector": selector, **more}


def _self(draft: Draft) -> Object:
    return {"matchLabels": {"app": draft.identity.app}}


def _peer(chance: random.Random, draft: Draft, peers: Sequence[Identity]) -> Identity:
    others = [peer for peer in peers if peer != draft.identity]
    return chance.choice(others or [draft.identity])


def _where(chance: random.Random, peer: Identity, draft: Draft) -> Object:
    """Says the peer's namespace: by name, by label, or as any; nothing where it is the pod's own."""
    ways: list[Object] = [
        {"namespaces": [peer.namespace]},
        {"namespaces": [peer.namespace, "nowhere"]},
        {"namespaceSelector": {"matchLabels": {"team": peer.namespace}}},
        {"namespaceSelector": {}},
    ]
    return {} if peer.namespace == draft.identity.namespace and chance.random() < 0.3 else chance.choice(ways)
