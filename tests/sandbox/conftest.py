"""One world for the whole run: building, deploying and connecting takes long, cleaning takes a blink."""

from collections.abc import Iterator

import pytest

from sandbox.world import World


@pytest.fixture(scope="session")
def running_world() -> Iterator[World]:
    """Started by the first test that asks for it."""
    with World(boot_seconds=0.5) as world:
        yield world


@pytest.fixture
def world(running_world: World) -> World:
    """Connected, without nodes, pods or instances."""
    running_world.reset()
    return running_world
