import gc
from collections.abc import Iterator

import pytest

from nodewright.domain.collecting import without_collecting
from nodewright.domain.scheduling import solve
from tests.builders import options, pods, snapshot, spread, term


@pytest.fixture(autouse=True)
def _collecting() -> Iterator[None]:
    yield
    gc.enable()


def test_nothing_is_collected_within_and_all_is_as_before_afterwards() -> None:
    with without_collecting():
        assert not gc.isenabled()
        with without_collecting():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_collecting_goes_on_after_an_error() -> None:
    with pytest.raises(ValueError, match="broken"), without_collecting():
        raise ValueError("broken")
    assert gc.isenabled()


def test_whoever_had_it_off_keeps_it_off() -> None:
    gc.disable()
    with without_collecting():
        pass
    assert not gc.isenabled()


def test_planning_leaves_nothing_that_only_a_cycle_keeps() -> None:
    waiting = (
        *pods(30, "free", cpu="300m"),
        *pods(30, "web", labels={"app": "web"}, spreads=(spread(labels={"app": "web"}),)),
        *pods(5, "db", labels={"app": "db"}, anti_affinity=(term("kubernetes.io/hostname", {"app": "db"}),)),
    )
    asked = snapshot(waiting, pools=(options(),))
    assert solve(asked).launches
    gc.collect()
    with without_collecting():
        assert solve(asked).launches
        assert gc.collect() == 0
