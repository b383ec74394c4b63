"""Capacity buffers are told how they are, by provision and reconcile, only when that changes."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.application.errors import OutsideError, RefusedError, UnavailableError
from nodewright.domain.buffer_status import PROVISIONING, READY, RESOLVED, BufferReading, BufferStatus
from nodewright.domain.headroom import CapacityBuffer
from nodewright.domain.limits import NODES
from nodewright.domain.pods import PodKey
from nodewright.domain.quantities import Resources
from tests.application.disrupting import Scene, small, web
from tests.application.killing import KilledError
from tests.application.provisioning import world
from tests.application.world import LEASE, MINUTE, World
from tests.builders import pod

SPARE = CapacityBuffer(PodKey("default", "spare"), pod("unit", cpu="1500m"), replicas=2)
READING = BufferReading(SPARE.key, 1, "1", RESOLVED, "as read", BufferStatus(replicas=2), BufferStatus())


def keep(here: World) -> None:
    here.cluster.buffers = (SPARE,)
    here.cluster.buffer_readings[SPARE.key] = READING


def provision(here: World) -> None:
    here.later(timedelta(seconds=1))
    here.provision(here.clock.now())


def told(here: World, kind: str = PROVISIONING) -> tuple[str, str]:
    found = here.cluster.buffer_readings[SPARE.key].told.condition(kind)
    return ("", "") if found is None else (found.status, found.reason)


def test_whoever_buys_for_a_buffer_says_so_and_says_it_once() -> None:
    here = world(of=small())
    keep(here)
    provision(here)
    assert told(here, READY) == ("True", "Resolved")
    assert told(here) == ("False", "RequiresNewCapacity")
    version = here.cluster.buffer_readings[SPARE.key].version
    provision(here)
    assert here.cluster.buffer_readings[SPARE.key].version == version


def test_reconcile_says_when_the_room_is_there_as_soon_as_it_is() -> None:
    here = world(of=small())
    keep(here)
    provision(here)
    here.join(ready=False)
    here.reconcile()
    assert told(here) == ("False", "RequiresNewCapacity")
    for name, node in here.cluster.nodes.items():
        here.cluster.nodes[name] = replace(node, ready=True)
    here.reconcile()
    assert told(here) == ("True", "FitsExistingCapacity")


def test_what_used_room_up_is_seen_and_room_that_came_again_too() -> None:
    scene = Scene(*web(1), of=small())
    keep(scene.world)
    scene.live(5 * MINUTE)
    assert told(scene.world) == ("True", "FitsExistingCapacity")
    scene.world.cluster.add(small(limits=Resources({NODES: 3})))
    scene.replicas = 2
    scene.live(5 * MINUTE)
    assert told(scene.world) == ("False", "RequiresNewCapacity")
    scene.world.cluster.add(small())
    scene.live(5 * MINUTE)
    assert told(scene.world) == ("True", "FitsExistingCapacity")


def test_a_buffer_that_cant_be_used_is_told_by_reconcile_alone() -> None:
    here = world(of=small())
    here.cluster.buffer_readings[SPARE.key] = replace(READING, reason="PodTemplateNotFound", wanted=BufferStatus())
    here.reconcile()
    assert told(here, READY) == ("False", "PodTemplateNotFound")
    assert told(here) == ("False", "NotReadyForProvisioning")


def test_an_urgent_run_knows_nothing_of_units() -> None:
    here = world(pod("real", cpu="1500m"), of=small())
    keep(here)
    here.provision()
    assert told(here, READY) == ("True", "Resolved")
    assert told(here) == ("", "")


@pytest.mark.parametrize("error", [RefusedError("403"), UnavailableError("503")])
def test_what_may_not_be_written_hinders_nothing_and_is_tried_once_a_run(
    error: OutsideError, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = world(pod("real", cpu="1500m"), of=small())
    keep(here)
    other = replace(READING, key=PodKey("default", "zoo"))
    here.cluster.buffer_readings[other.key] = other
    asked: list[PodKey] = []

    def refuse(_: object, key: PodKey, *__: object) -> None:
        asked.append(key)
        raise error

    monkeypatch.setattr(type(here.cluster), "tell_buffer", refuse)
    provision(here)
    assert len(here.fleet.instances) == 3
    assert asked == [SPARE.key]
    assert str(error) in here.problems()
    assert ("nodewright connect" in here.problems()) == isinstance(error, RefusedError)


def test_one_that_changed_meanwhile_or_went_is_left_to_the_next_run(monkeypatch: pytest.MonkeyPatch) -> None:
    here = world(of=small())
    keep(here)
    read = here.cluster.read

    def meanwhile() -> object:
        state = read()
        known = here.cluster.buffer_readings[SPARE.key]
        here.cluster.buffer_readings[SPARE.key] = replace(known, version=f"{known.version}.")
        return state

    monkeypatch.setattr(type(here.cluster), "read", lambda _: meanwhile())
    provision(here)
    assert (told(here), here.problems()) == (("", ""), "")
    monkeypatch.undo()
    provision(here)
    assert told(here)[0] == "False"


@pytest.mark.parametrize("calls", range(1, 25))
def test_killed_after_any_call_the_next_runs_tell_it_all_the_same(calls: int) -> None:
    here = world(of=small())
    keep(here)
    here.fuse.renew(calls)
    with suppress(KilledError):
        provision(here)
    here.fuse.renew()
    here.later(LEASE)
    provision(here)
    assert told(here) == ("False", "RequiresNewCapacity")
    here.join()
    here.fuse.renew(calls)
    with suppress(KilledError):
        here.reconcile()
    here.fuse.renew()
    here.reconcile()
    assert told(here) == ("True", "FitsExistingCapacity")
    assert len(here.fleet.instances) == 2
