"""Rules that select namespaces by labels nobody may read."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from nodewright.domain.pods import Pod
from nodewright.domain.topology import NAMESPACE_NAME, PodAffinityTerm

_PROBLEM: Final = (
    "spec.affinity: namespaceSelector can't be looked up, as Namespaces may not be listed; "
    "run `nodewright connect` again to grant it, or name the namespaces"
)


def without_namespaces(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """The same pods, with a problem where a required term needs labels of namespaces."""
    return tuple(replace(pod, problems=(*pod.problems, _PROBLEM)) if _needs_labels(pod) else pod for pod in pods)


def _needs_labels(pod: Pod) -> bool:
    return any(_reads_labels(term) for term in (*pod.affinity, *pod.anti_affinity))


def _reads_labels(term: PodAffinityTerm) -> bool:
    """Every namespace, and one by its name, is known without."""
    labels = term.selector.namespace_labels
    return labels is not None and any(key != NAMESPACE_NAME for key in labels)
