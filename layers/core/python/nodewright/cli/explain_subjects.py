"""Finds what `nodewright explain` is asked about in a plan of manifests, or says what may have been meant."""

import difflib
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from nodewright.application.plan import BadInputError, Planned
from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling.explaining import explain_node, explain_pod, explain_pool
from nodewright.domain.scheduling.explanations import (
    NewNodeExplanation,
    NodeExplanation,
    PodExplanation,
    PoolExplanation,
    Rule,
    Verdict,
    Waits,
)
from nodewright.domain.scheduling.plan_views import PlanView

_SHOWN: Final = 5


def told_of_pod(planned: Planned, name: str) -> PodExplanation:
    """`namespace/name`, or a name that only one pending pod has. BadInputError where there is none."""
    told = explain_pod(PlanView(planned.snapshot, planned.plan), _key(planned, name))
    pools = [pool.name for pool in told.pools if isinstance(told.outcome, Waits) and _sells_nothing(pool)]
    return replace(told, warnings=(*told.warnings, *_warnings(planned, f"{told.pod}", *pools)))


def told_of_node(planned: Planned, name: str) -> NodeExplanation | NewNodeExplanation:
    """A node that is there, or `new-1` …. BadInputError where there is none."""
    view = PlanView(planned.snapshot, planned.plan)
    there = (room.name for room in (*planned.snapshot.rooms, *planned.snapshot.bystanders))
    known = [*there, *(new for new, _, _ in view.new_nodes())]
    if name not in known:
        raise BadInputError(f"there is no node {name}" + _instead(name, known))
    return explain_node(view, name)


def told_of_pool(planned: Planned, name: str) -> PoolExplanation:
    """A pool. BadInputError where there is none."""
    warnings = _warnings(planned, name)
    known = [options.pool.name for options in planned.snapshot.pools]
    if name in known:
        told = explain_pool(PlanView(planned.snapshot, planned.plan), name)
        return replace(told, warnings=(*told.warnings, *warnings))
    if warnings:
        raise BadInputError(f"pool {name} is left out: {'; '.join(warnings)}")
    raise BadInputError(f"there is no pool {name}" + _instead(name, known))


def _sells_nothing(pool: Verdict) -> bool:
    """Whatever the pod: then the pool's own manifest may be wrong."""
    return not pool.candidates or (not pool.left and pool.fallen[-1].rule is Rule.REQUIREMENTS)


def _warnings(planned: Planned, *names: str) -> list[str]:
    """What was wrong with the objects of these names."""
    return [
        f"{each.object} {each.path}: {each.message}"
        for each in planned.warnings
        if each.object.partition("/")[2] in names
    ]


def _key(planned: Planned, name: str) -> PodKey:
    """The pending pod that is meant. BadInputError says why there is none."""
    pending = [pod.key for pod in planned.snapshot.pods]
    found = [key for key in pending if name in {str(key), key.name}]
    if len(found) == 1:
        return found[0]
    if found:
        raise BadInputError(f"there are several pods {name}; say which: {', '.join(map(str, found))}")
    for room in (*planned.snapshot.rooms, *planned.snapshot.bystanders):
        if any(name in {str(each.key), each.key.name} for each in room.pods):
            raise BadInputError(f"pod {name} runs on node {room.name}; try: nodewright explain node {room.name}")
    told = [f"{each.path}: {each.message}" for each in planned.warnings if each.object.endswith(f"/{name}")]
    if told:
        raise BadInputError(f"pod {name} is not planned: {'; '.join(told)}")
    raise BadInputError(
        f"no pod {name} waits for a node (bound, finished and gated ones and those of DaemonSets don't)"
        + _instead(name, map(str, pending))
    )


def _instead(name: str, known: Iterable[str]) -> str:
    """Names that may have been meant: similar ones, else the first few."""
    names = list(known)
    short = {each.rpartition("/")[2]: each for each in names}
    close = [short[each] for each in difflib.get_close_matches(name.rpartition("/")[2], short, n=3)]
    shown = close or names[:_SHOWN]
    if not shown:
        return "; there are none"
    return ("; did you mean " if close else "; there are ") + ", ".join(shown) + ("?" if close else "")
