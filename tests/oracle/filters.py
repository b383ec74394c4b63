"""kube-scheduler's filters, one function each: why a pod may not go to a node now.

From https://kubernetes.io/docs/concepts/scheduling-eviction/ (assign-pod-node, taint-and-toleration,
topology-spread-constraints) and storage/storage-limits; where they leave a question open, from what 1.37 does.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final

from nodewright.domain.host_ports import HostPort
from nodewright.domain.pods import Attachment, Pod
from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirements
from nodewright.domain.taints import Taint, Toleration
from nodewright.domain.topology import PodAffinityTerm, TopologySpread
from tests.oracle.cluster import Cluster, Site, Standing

Domains = Mapping[TopologySpread, Collection[str]]
"""Domains that count as empty ones although no node is there."""


def refusal(pod: Pod, site: Site, cluster: Cluster, more_domains: Domains | None = None) -> str | None:
    """Why kube-scheduler would not bind the pod there; None when it would."""
    if not site.takes_pods:
        return f"{site.name} takes no pods"
    alone = node_refusal(pod, site, cluster.bound[site.name])
    return alone or spread_refusal(pod, site, cluster, more_domains or {}) or affinity_refusal(pod, site, cluster)


def node_refusal(pod: Pod, site: Site, bound: Iterable[Pod]) -> str | None:
    """The filters that look at one node alone."""
    there = tuple(bound)
    return next((why for each in _NODE_FILTERS if (why := each(pod, site, there)) is not None), None)


def runs_on(
    alternatives: Iterable[Requirements],
    tolerations: Collection[Toleration],
    labels: Mapping[str, str],
    taints: Iterable[Taint],
) -> bool:
    """Whether selector, required node affinity (terms are OR) and taints let a pod onto such a node."""
    return any(term.admits(labels) for term in alternatives) and all(_bears(tolerations, taint) for taint in taints)


def spread_refusal(pod: Pod, site: Site, cluster: Cluster, more_domains: Domains) -> str | None:
    """PodTopologySpread: matches in the node's domain + itself − fewest in any domain ≤ maxSkew."""
    hard = [spread for spread in pod.spreads if spread.hard]
    for spread in hard:
        if spread.topology_key not in site.labels:
            return f"{site.name} has no label {spread.topology_key} to spread {pod.key} over"
        counts = spread_counts(pod, spread, hard, cluster)
        here = counts.get(site.labels[spread.topology_key], 0)
        among = {**dict.fromkeys(more_domains.get(spread, ()), 0), **counts}
        fewest = min(among.values(), default=0) if len(counts) >= spread.min_domains else 0
        # With no eligible domain at all kube-scheduler's minimum is endless: nothing is too many.
        if among and here + _selects_itself(pod, spread) - fewest > spread.max_skew:
            return (
                f"{pod.key} on {site.name} would be number {here + 1} in its {spread.topology_key}, others have"
                f" {dict(sorted(among.items()))}, maxSkew {spread.max_skew}, minDomains {spread.min_domains}"
            )
    return None


def spread_counts(pod: Pod, spread: TopologySpread, hard: Iterable[TopologySpread], cluster: Cluster) -> dict[str, int]:
    """Domain → selected pods in it. Domains are of nodes that have the keys of all hard constraints."""
    keys = {each.topology_key for each in hard}
    counts: dict[str, int] = {}
    for site in cluster.sites.values():
        if not keys <= site.labels.keys() or not includes(pod, spread, site.labels, site.taints):
            continue
        domain = site.labels[spread.topology_key]
        selected = sum(_spread_selects(pod, spread, each) for each in cluster.standing(site))
        counts[domain] = counts.get(domain, 0) + selected
    return counts


def includes(pod: Pod, spread: TopologySpread, labels: Mapping[str, str], taints: Iterable[Taint]) -> bool:
    """Whether nodeAffinityPolicy and nodeTaintsPolicy let a node count."""
    if spread.honors_affinity and not any(term.admits(labels) for term in pod.alternatives):
        return False
    return not spread.honors_taints or all(_bears(pod.tolerations, taint) for taint in taints)


def affinity_refusal(pod: Pod, site: Site, cluster: Cluster) -> str | None:
    """InterPodAffinity, both directions."""
    for term in pod.anti_affinity:
        if any(_matches(term, each, cluster) for each in _in_domain(term.topology_key, site, cluster)):
            return f"anti-affinity of {pod.key} over {term.topology_key} keeps it off {site.name}"
    repelled = repulsion(Standing.of(pod), site, cluster)
    return f"{repelled} keeps {pod.key} off {site.name}" if repelled else _attraction_refusal(pod, site, cluster)


def repulsion(me: Standing, site: Site, cluster: Cluster) -> str | None:
    """Whose anti-affinity keeps such a pod off."""
    for other, each in cluster.everywhere():
        for term in each.anti_affinity:
            if _same_domain(term.topology_key, site, other) and _matches(term, me, cluster):
                return f"anti-affinity of a pod on {other.name} over {term.topology_key}"
    return None


def _attraction_refusal(pod: Pod, site: Site, cluster: Cluster) -> str | None:
    """Only pods that match all terms count. The first of a group that matches itself may start it anywhere."""
    missing = [term.topology_key for term in pod.affinity if term.topology_key not in site.labels]
    if missing:
        return f"{site.name} has no label {missing[0]}, which affinity of {pod.key} needs"
    matching = [other for other, each in cluster.everywhere() if _matches_all(pod.affinity, each, cluster)]
    lonely = [
        term for term in pod.affinity if not any(_same_domain(term.topology_key, site, other) for other in matching)
    ]
    if not lonely:
        return None
    counted = any(term.topology_key in other.labels for term in pod.affinity for other in matching)
    if not counted and _matches_all(pod.affinity, Standing.of(pod), cluster):
        return None
    return f"nobody {pod.key} wants to be with is in the {lonely[0].topology_key} of {site.name}"


def _place_refusal(pod: Pod, site: Site, _: tuple[Pod, ...]) -> str | None:
    if not any(term.admits(site.labels) for term in pod.alternatives):
        return f"{site.name} is not among the nodes that {pod.key} selects"
    return None


def _taint_refusal(pod: Pod, site: Site, _: tuple[Pod, ...]) -> str | None:
    taint = next((each for each in site.taints if not _bears(pod.tolerations, each)), None)
    return None if taint is None else f"{pod.key} doesn't tolerate {taint} of {site.name}"


def _volume_refusal(pod: Pod, site: Site, _: tuple[Pod, ...]) -> str | None:
    if not any(term.admits(site.labels) for term in pod.volume_nodes):
        return f"the volumes of {pod.key} can't be reached from {site.name}"
    return None


def _room_refusal(pod: Pod, site: Site, bound: tuple[Pod, ...]) -> str | None:
    """NodeResourcesFit looks at what the pod asks for only: an overdrawn node still takes who asks for none of it."""
    left = site.free - sum((each.requests for each in bound), Resources())
    short = {name: amount for name, amount in pod.requests.items() if amount > 0 and amount > left.get(name)}
    return f"{site.name} has {left} left, {pod.key} asks for {pod.requests}" if short else None


def _port_refusal(pod: Pod, site: Site, bound: tuple[Pod, ...]) -> str | None:
    taken = [*site.ports, *(port for each in bound for port in each.host_ports)]
    clash = next((mine for mine in pod.host_ports for its in taken if _clash(mine, its)), None)
    return None if clash is None else f"host port {clash} of {pod.key} is taken on {site.name}"


def _attachment_refusal(pod: Pod, site: Site, bound: tuple[Pod, ...]) -> str | None:
    """NodeVolumeLimits: a volume counts once per node; a driver the pod brings nothing new for isn't looked at."""
    there = site.attached.union(*(each.attachments for each in bound))
    for driver, limit in site.attachable.items():
        new, old = _of(driver, pod.attachments - there), _of(driver, there)
        if new and len(new) + len(old) > limit:
            return (
                f"{site.name} attaches {limit} volumes of {driver}: {len(old)} are there, {pod.key} brings {len(new)}"
            )
    return None


_Filter = Callable[[Pod, Site, tuple[Pod, ...]], str | None]
_NODE_FILTERS: Final[tuple[_Filter, ...]] = (
    _place_refusal,
    _taint_refusal,
    _volume_refusal,
    _room_refusal,
    _port_refusal,
    _attachment_refusal,
)


def _bears(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    return taint.effect == "PreferNoSchedule" or any(_bears_one(each, taint) for each in tolerations)


def _bears_one(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect not in ("", taint.effect):
        return False
    if toleration.operator == "Exists":
        return not toleration.value and toleration.key in ("", taint.key)
    return bool(toleration.key) and (toleration.key, toleration.value) == (taint.key, taint.value)


def _clash(one: HostPort, other: HostPort) -> bool:
    everywhere = ("", "0.0.0.0")  # noqa: S104
    same = (one.port, one.protocol) == (other.port, other.protocol)
    return same and (one.address == other.address or one.address in everywhere or other.address in everywhere)


def _of(driver: str, attachments: Iterable[Attachment]) -> set[Attachment]:
    return {each for each in attachments if each.driver == driver}


def _spread_selects(pod: Pod, spread: TopologySpread, each: Standing) -> bool:
    """In its own namespace, not what is terminating; an empty selector, oddly, counts nobody (1.37)."""
    if not spread.selector.labels or each.terminating or each.namespace != pod.key.namespace:
        return False
    return spread.selector.labels.admits(each.labels)


def _selects_itself(pod: Pod, spread: TopologySpread) -> bool:
    return spread.selector.labels is not None and spread.selector.labels.admits(pod.labels)


def _matches(term: PodAffinityTerm, each: Standing, cluster: Cluster) -> bool:
    return term.selector.selects(each.namespace, each.labels, cluster.namespaces)


def _matches_all(terms: Collection[PodAffinityTerm], each: Standing, cluster: Cluster) -> bool:
    return bool(terms) and all(_matches(term, each, cluster) for term in terms)


def _same_domain(key: str, one: Site, other: Site) -> bool:
    return key in one.labels and key in other.labels and one.labels[key] == other.labels[key]


def _in_domain(key: str, site: Site, cluster: Cluster) -> Iterator[Standing]:
    return (each for other, each in cluster.everywhere() if _same_domain(key, site, other))
