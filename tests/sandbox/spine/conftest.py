"""Each test gets its own view of the one world, in which a cluster is connected and empty."""

from collections.abc import Iterator
from threading import Event

import pytest

from sandbox.aws.instances import InstanceChange
from sandbox.world import World
from tests.sandbox.spine.scene import Scene


@pytest.fixture
def scene(world: World) -> Scene:
    return Scene(world)


@pytest.fixture
def killed_at_launch(scene: Scene) -> Iterator[Event]:
    """Provision gets SIGKILL once, as EC2 starts an instance and before it hears of it; set when that was."""
    killed = Event()

    def kill(change: InstanceChange) -> None:
        if change.state == "pending" and not killed.is_set():
            killed.set()
            scene.world.lambdas.kill("provision")

    end = scene.world.aws.on_instance_change(kill)
    yield killed
    end()
