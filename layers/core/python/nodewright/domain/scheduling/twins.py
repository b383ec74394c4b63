"""Pods that aren't there get no place while one that is there and like them has none: the place would be its own."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from nodewright.domain.plans import Plan, Unschedulable
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.scheduling.at_risk import real
from nodewright.domain.scheduling.yielding import likeness

_NOT_FOR_WANT_OF_A_PLACE: Final = frozenset({"Unsupported", "SetAside"})


def twins(pods: Iterable[Pod], others: Mapping[PodKey, Pod], plans: Iterable[Plan]) -> Iterator[Unschedulable]:
    """Those of the pods that are like one that these plans left, with what was told of that one.

    But not who seeks company: pods that aren't there either may be just that, and those that are there come later.
    """
    alike: dict[tuple[object, ...], Unschedulable] = {}
    for each in (each for plan in plans for each in plan.unschedulable):
        if each.reason not in _NOT_FOR_WANT_OF_A_PLACE and not others[each.pod].affinity:
            alike.setdefault(_likeness(others[each.pod]), each)
    for pod in pods if alike else ():
        if (found := alike.get(_likeness(pod))) is not None:
            yield replace(found, pod=pod.key)


def _likeness(pod: Pod) -> tuple[object, ...]:
    """Without places by max-pods-at-risk, which headroom has none of."""
    return likeness(replace(pod, requests=real(pod.requests)))
