"""`make sandbox`: the whole system left running, with a kubeconfig to play with."""

import time

from sandbox.demo.observing import Observer
from sandbox.demo.timeline import Timeline
from sandbox.world import World
from sandbox.world.world import CLUSTER


def main() -> None:
    """Up until ctrl-c, telling what happens."""
    timeline = Timeline()
    with World(boot_seconds=12.0, say=lambda line: timeline.tell("setup", line)) as world:
        environment = " ".join(f"{name}={value}" for name, value in world.aws.environment().items())
        timeline.console.print(
            f"\ncluster {CLUSTER} is connected and has no nodes. In another terminal:\n\n"
            f"  export KUBECONFIG={world.control_plane.kubeconfig}\n"
            f"  alias kubectl={world.control_plane.kubectl}\n"
            f"  kubectl apply -f sandbox/seeds/one/ && kubectl scale deployment nginx --replicas=12\n"
            f"  env {environment} .venv/bin/nodewright status\n\n"
            f"logs are in {world.folder} and {world.control_plane.logs}; ctrl-c ends it.\n",
            highlight=False,
        )
        timeline.restart()
        with Observer(world, timeline):
            try:
                while True:
                    time.sleep(1)
            except KeyboardInterrupt:
                timeline.console.print("ending")


if __name__ == "__main__":
    main()
