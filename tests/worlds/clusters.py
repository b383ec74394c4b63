"""Whole snapshots."""

from dataclasses import replace

from hypothesis import strategies as st

from nodewright.domain.pods import Pod
from nodewright.domain.snapshot import Snapshot
from tests.builders import NOW
from tests.worlds.catalogues import catalogues
from tests.worlds.nodes import daemon_sets, rooms
from tests.worlds.pods import NAMESPACES, apps, replicas
from tests.worlds.pools import pools


def worlds() -> st.SearchStrategy[Snapshot]:
    """With rules between pods, ports and volumes."""
    return _worlds(ruled=True)


def plain_worlds() -> st.SearchStrategy[Snapshot]:
    """Without."""
    return _worlds(ruled=False)


_seldom = st.sampled_from([False] * 30 + [True])


@st.composite
def _worlds(draw: st.DrawFn, *, ruled: bool) -> Snapshot:
    offered = draw(pools(draw(catalogues())))
    names = tuple(each.pool.name for each in offered)
    some = draw(apps(ruled=ruled))
    waiting = tuple(each for app in some for each in draw(replicas(app)))
    standing: tuple[Pod, ...] = some if ruled else ()
    there = [draw(rooms(f"node-{n}", standing, names)) for n in range(draw(st.integers(0, 4)))]
    nominated: bool = draw(st.booleans())
    if there and nominated:
        there[0] = replace(there[0], nominated=tuple(each.key for each in waiting[:2]))
    aside = [draw(rooms(f"cordoned-{n}", standing, names)) for n in range(draw(st.integers(0, 1)))]
    daemons = [draw(daemon_sets(f"agent-{n}")) for n in range(draw(st.integers(0, 2)))]
    left_out = [each.key for each in waiting[:: draw(st.sampled_from([2, 3, 5]))]] if draw(_seldom) else []
    return Snapshot(
        now=NOW,
        pods=waiting,
        rooms=tuple(there),
        pools=offered,
        daemon_sets=tuple(daemons),
        set_aside=dict.fromkeys(left_out, "two nodes were bought in vain"),
        bystanders=tuple(aside),
        namespaces=NAMESPACES,
    )
