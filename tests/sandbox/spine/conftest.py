"""Each test gets its own view of the one world, in which a cluster is connected and empty."""

from collections.abc import Iterator
from threading import Event

import pytest

from sandbox.aws.instances import InstanceChange
from sandbox.world import World
from tests.sandbox.spine.scene import Scene

#: It looks back on whatever the others made functions do.
LAST = "test_no_function_was_ever_refused_by_its_role"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.name == LAST)


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
