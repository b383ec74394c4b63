"""What a pod asks of its node besides size, in words."""

from collections.abc import Iterator

from nodewright.domain.pods import Pod
from nodewright.domain.requirements import Requirements
from nodewright.domain.taints import Toleration
from nodewright.domain.topology import PodAffinityTerm, PodSelector, TopologySpread


def constraints(pod: Pod) -> Iterator[str]:
    """The hard ones, one a line."""
    wanted = [_requirements(each) for each in pod.alternatives if len(each)]
    if wanted:
        yield "only nodes with " + " or ".join(wanted)
    volumes = [_requirements(each) for each in pod.volume_nodes if len(each)]
    if volumes:
        yield "its volumes are where " + " or ".join(volumes)
    if pod.tolerations:
        yield "tolerates " + ", ".join(map(_toleration, pod.tolerations))
    yield from (_spread(spread) for spread in pod.spreads if spread.hard)
    yield from (f"with {_term(term)}" for term in pod.affinity)
    yield from (f"not with {_term(term)}" for term in pod.anti_affinity)
    if pod.host_ports:
        yield "host ports " + ", ".join(map(str, pod.host_ports))
    if pod.attachments:
        yield "1 volume to attach" if len(pod.attachments) == 1 else f"{len(pod.attachments)} volumes to attach"


def _requirements(requirements: Requirements) -> str:
    return ", ".join(map(str, requirements.values()))


def _toleration(toleration: Toleration) -> str:
    value = f"={toleration.value}" if toleration.operator == "Equal" else ""
    return f"{toleration.key or 'every key'}{value}" + (f":{toleration.effect}" if toleration.effect else "")


def _spread(spread: TopologySpread) -> str:
    least = f", over {spread.min_domains} at least" if spread.min_domains > 1 else ""
    return f"spread over {spread.topology_key}, maxSkew {spread.max_skew}{least}, of {_selector(spread.selector)}"


def _term(term: PodAffinityTerm) -> str:
    return f"{_selector(term.selector)} in one {term.topology_key}"


def _selector(selector: PodSelector) -> str:
    if selector.labels is None:
        return "no pods"
    return f"pods with {_requirements(selector.labels)}" if len(selector.labels) else "all pods"
