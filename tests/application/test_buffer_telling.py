"""Capacity buffers are told how they are, by provision and reconcile, only when that changes."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.adapters.memory import InMemoryCluster
from nodewright.application.buffer_telling import PATIENCE
from nodewright.application.errors import (
    ConflictError,
    NotFoundError,
    OutsideError,
    RefusedError,
    UnavailableError,
    UnreachableError,
)
from nodewright.domain.buffer_status import PROVISIONING, READY, RESOLVED, BufferReading, BufferStatus
from nodewright.domain.headroom import CapacityBuffer
from nodewright.domain.limits import NODES
from nodewright.domain.pods import PodKey
from nodewright.domain.quantities import Resources
from tests.application.disrupting import Scene, small, web
from tests.application.killing import KilledError
from tests.application.provisioning import world
from tests.application.world import CLUSTER, LEASE, MINUTE, World
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


def test_with_another_autoscaler_that_writes_over_it_each_time_nobody_is_fought(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = world(of=small())
    keep(here)
    asked = failing(monkeypatch, here, {})
    for outcomes in range(1, 3):
        for _ in range(5):
            provision(here)
            here.reconcile()
            rival(here)
        assert len(asked) == outcomes
        here.join()


def rival(here: World) -> None:
    """Rewrites what it finds of the conditions it knows."""
    reading = here.cluster.buffer_readings[SPARE.key]
    over = [
        replace(each, status="False", reason="Unknown", message="theirs")
        if each.type in {READY, PROVISIONING}
        else each
        for each in reading.told.conditions
    ]
    here.cluster.buffer_readings[SPARE.key] = replace(
        reading, told=replace(reading.told, conditions=tuple(over)), version=f"{reading.version}!"
    )


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


def neighbours(here: World, *names: str) -> list[PodKey]:
    """More such buffers, told after the spare one."""
    more = [replace(READING, key=PodKey("default", name)) for name in names]
    here.cluster.buffer_readings |= {each.key: each for each in more}
    return [SPARE.key, *(each.key for each in more)]


def failing(monkeypatch: pytest.MonkeyPatch, here: World, errors: Mapping[PodKey, OutsideError]) -> list[PodKey]:
    """Buffers that are asked for from now on; those of `errors` fail."""
    asked: list[PodKey] = []
    tell = type(here.cluster).tell_buffer

    def refuse(cluster: InMemoryCluster, key: PodKey, version: str, status: BufferStatus) -> None:
        asked.append(key)
        if key in errors:
            raise errors[key]
        tell(cluster, key, version, status)

    monkeypatch.setattr(type(here.cluster), "tell_buffer", refuse)
    return asked


@pytest.mark.parametrize("error", [RefusedError("422"), NotFoundError("404"), UnavailableError("503")])
def test_what_one_refuses_keeps_nobody_else_untold_and_is_said_with_its_name(
    error: OutsideError, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = world(pod("real", cpu="1500m"), of=small())
    keep(here)
    neighbours(here, "zoo")
    failing(monkeypatch, here, {SPARE.key: error})
    provision(here)
    assert len(here.fleet.instances) == 3
    assert told(here) == ("", "")
    assert here.cluster.buffer_readings[PodKey("default", "zoo")].told.condition(READY) is not None
    assert here.problems() == f"CapacityBuffer default/spare: {error}"


def test_conflicts_are_nothing_to_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    here = world(of=small())
    keep(here)
    keys = neighbours(here, "zoo")
    asked = failing(monkeypatch, here, dict.fromkeys(keys, ConflictError("409")))
    provision(here)
    assert (asked, here.problems()) == (keys, "")


@pytest.mark.parametrize(
    ("error", "tries"),
    [(UnreachableError("timed out"), 1), (UnavailableError("503"), PATIENCE), (RefusedError("403"), 5)],
)
def test_waits_that_telling_costs_a_run_are_few_and_hinder_nothing(
    error: OutsideError, tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = world(pod("real", cpu="1500m"), of=small())
    keep(here)
    keys = neighbours(here, "w", "x", "y", "z")
    asked = failing(monkeypatch, here, dict.fromkeys(keys, error))
    provision(here)
    assert len(here.fleet.instances) == 3
    assert here.ledger.last_run(CLUSTER, "provision") is not None
    assert asked == keys[:tries]
    assert ("the next run tries again, and tells those after it" in here.problems()) == (tries < 5)
    here.reconcile()
    assert here.ledger.last_run(CLUSTER, "reconcile") is not None


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
