"""Why an entangled pod gets no place, rule by rule, with numbers."""

from collections.abc import Iterator, Sequence

import numpy as np

from nodewright.domain.host_ports import conflicts
from nodewright.domain.scheduling.arrays import Bools
from nodewright.domain.scheduling.demands import EBS_DRIVER
from nodewright.domain.scheduling.reasons import Reason, reason
from nodewright.domain.scheduling.roles import Role
from nodewright.domain.scheduling.rules import (
    AffinityRule,
    RepulsionRule,
    Rule,
    SpreadRule,
    is_host,
    selectors,
    topology_keys,
)
from nodewright.domain.scheduling.scene import Scene
from nodewright.domain.scheduling.shapes import Shape
from nodewright.domain.scheduling.tiers import Tier, daemon_rows
from nodewright.domain.topology import PodSelector


def rule_reason(scene: Scene, number: int, tiers: Sequence[Tier], rooms: int) -> Reason:
    """The rule that leaves it no node; where none does, what keeps it from each pool."""
    kind = scene.tangle.kinds[number]
    shape = Shape(kind.requests, kind.wish, (), tuple(pod.key for pod in kind.pods))
    found = [
        *_volumes(scene, number),
        *_ports(scene, number, tiers),
        *_rules(scene, number),
        *_together(scene, number),
    ]
    if found:
        return found[0]
    return _by_name(scene, number) or reason(shape, tiers, rooms)


def _rules(scene: Scene, number: int) -> Iterator[Reason]:
    near = scene.within_reach(number)
    for role in scene.roles[number] if near.any() else ():
        rule = scene.tangle.rules[role.rule]
        ruling = scene.tallies.ruling((role,))
        if (ruling.localities & near).any() and (ruling.opens or ruling.only):
            continue
        if isinstance(rule, SpreadRule):
            yield from _spread(scene, rule, role)
        elif isinstance(rule, AffinityRule):
            yield _affinity(scene, rule, role)
        else:
            yield _repulsion(rule, role)


def _together(scene: Scene, number: int) -> Iterator[Reason]:
    """Rules each of which would let it in somewhere, but all nowhere."""
    near = scene.within_reach(number)
    ruling = scene.tallies.ruling(scene.roles[number])
    if not near.any() or ((ruling.localities & near).any() and (ruling.opens or ruling.only)):
        return
    told = [(role, scene.tangle.rules[role.rule]) for role in scene.roles[number]]
    texts = [f"{_name(rule)} leaves {_left(scene, role, rule, near)}" for role, rule in told]
    yield Reason(
        _name(told[0][1]),
        f"no node keeps all of its rules: {'; '.join(dict.fromkeys(texts))}; relax one, or let a pool offer more",
    )


def _by_name(scene: Scene, number: int) -> Reason | None:
    """Where offerings would do and limits would allow them, it is rules or volumes that leave it no node by name."""
    kind = scene.tangle.kinds[number]
    buyable = any(
        bool((scene.mask(tier, number, loose=True) & opened.affordable & opened.holding(scene.wanted[number])).any())
        for tier, opened in enumerate(scene.opened)
    )
    if not buyable or kind.held or not scene.roles[number]:
        return None
    rules = [scene.tangle.rules[role.rule] for role in scene.roles[number]]
    told = "; ".join(dict.fromkeys(f"{_name(rule)} by {_shown(rule)}" for rule in rules))
    return Reason(
        _name(rules[0]), f"its rules leave it none of the nodes there are and let no new one be opened: {told}"
    )


def _name(rule: Rule) -> str:
    if isinstance(rule, SpreadRule):
        return "TopologySpread"
    return "PodAffinity" if isinstance(rule, AffinityRule) else "PodAntiAffinity"


def _left(scene: Scene, role: Role, rule: Rule, near: Bools) -> str:
    """The domains that one rule leaves it."""
    key = topology_keys(rule)[0]
    ruling = scene.tallies.ruling((role,))
    if is_host(key):
        return f"no more of the nodes there are by {key}"
    names = scene.localities.names(key)
    codes = np.unique(scene.localities.codes(key)[ruling.localities & near])
    return f"{key} {', '.join(sorted(names[code] for code in codes.tolist() if code >= 0)) or 'nowhere'}"


def _spread(scene: Scene, rule: SpreadRule, role: Role) -> Iterator[Reason]:
    tally = scene.tallies.spreads_by_rule.get(role.rule)
    if tally is None:
        return
    names = scene.localities.names(rule.key)
    counts = ", ".join(
        f"{name} has {tally.counts[code]}"
        for name, code in sorted(zip(names, range(len(names)), strict=True))
        if tally.domains[code]
    )
    reachable = int(tally.domains.sum())
    if reachable < rule.min_domains:
        yield Reason(
            "TopologySpread",
            f"needs {rule.min_domains} {_plural(rule.key)}, {reachable} reachable; with maxSkew "
            f"{rule.max_skew} over {rule.key} no more pods may come ({counts or 'no domain'}); lower minDomains or "
            f"let a pool offer more",
        )
        return
    yield Reason(
        "TopologySpread",
        f"one more pod would pass maxSkew {rule.max_skew} over {rule.key} wherever it could go "
        f"({counts or 'no node has the label'}); it counts {_shown(rule)}; raise maxSkew or let a pool "
        f"offer the others",
    )


def _affinity(scene: Scene, rule: AffinityRule, role: Role) -> Reason:
    keys = ", ".join(term.topology_key for term in rule.terms)
    where = [f"{key} {', '.join(names)}" for key, names in _whereabouts(scene, rule, role) if names]
    if where:
        return Reason(
            "PodAffinity",
            f"pods with {_shown(rule)} are in {' and '.join(where)}, where it can't go or where it is not "
            f"sure that they come before it; let a pool offer nodes there, or correct spec.affinity.podAffinity",
        )
    return Reason(
        "PodAffinity",
        f"there is no pod with {_shown(rule)} in any {keys} that it could join, bound or planned "
        f"before it; create one, or correct spec.affinity.podAffinity",
    )


def _whereabouts(scene: Scene, rule: AffinityRule, role: Role) -> Iterator[tuple[str, list[str]]]:
    """By key, the domains of many nodes in which there are pods that it seeks."""
    tally = scene.tallies.affinity(role.rule)
    for term, counts in zip(rule.terms, tally.counts() if tally else (), strict=False):
        if not is_host(term.topology_key):
            names = scene.localities.names(term.topology_key)
            yield term.topology_key, sorted(name for name, count in zip(names, counts.tolist(), strict=False) if count)


def _repulsion(rule: RepulsionRule, role: Role) -> Reason:
    key = rule.term.topology_key
    whose = "its own podAntiAffinity" if role.owner else "podAntiAffinity of other pods"
    return Reason(
        "PodAntiAffinity",
        f"{whose} against {_shown(rule)} leaves no {key}: each that can be reached is taken; "
        f"make the term preferred or let a pool offer more",
    )


def _ports(scene: Scene, number: int, tiers: Sequence[Tier]) -> Iterator[Reason]:
    kind = scene.tangle.kinds[number]
    for daemon_set in sorted(scene.daemon_sets, key=lambda each: each.key):
        clash = next(conflicts(kind.host_ports, daemon_set.host_ports), None)
        if clash is not None and any(daemon_rows(place, daemon_set).any() for place in tiers):
            yield Reason(
                "HostPort",
                f"hostPort {clash[1]} taken by DaemonSet {daemon_set.key}; use another port, a Service, or a pool "
                f"whose nodes it doesn't run on",
            )


def _volumes(scene: Scene, number: int) -> Iterator[Reason]:
    kind = scene.tangle.kinds[number]
    if kind.wish != kind.reach:
        anywhere = any(scene.mask(tier, number, loose=True).any() for tier in range(len(scene.opened)))
        where = " or ".join(map(str, dict.fromkeys(v for pod in kind.pods[:1] for v in pod.volume_nodes)))
        if not anywhere:
            yield Reason(
                "VolumeZone", f"its volumes can be reached only where {where or 'nothing is'}; no pool offers that"
            )
    volumes = sum(each.driver == EBS_DRIVER for each in kind.attachments)
    most = max((int(opened.room[:, -1].max(initial=0)) for opened in scene.opened), default=0)
    if scene.demands.drivers[-1:] == (EBS_DRIVER,) and volumes > most:
        yield Reason("AttachLimit", f"it mounts {volumes} EBS volumes; no instance type attaches more than {most}")


def _shown(rule: Rule) -> str:
    return " and ".join(dict.fromkeys(map(_selected, selectors(rule))))


def _selected(selector: PodSelector) -> str:
    labels = "no label that could match" if selector.labels is None else str(selector.labels)
    named = ", ".join(sorted(selector.namespaces))
    return f"labels {labels}" + (f" in namespace {named}" if named else "")


def _plural(key: str) -> str:
    return {"topology.kubernetes.io/zone": "zones", "kubernetes.io/hostname": "nodes"}.get(key, f"domains of {key}")
