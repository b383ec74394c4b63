"""What happens in the demo, one act after the other; each says whether all its pods ran in the end."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from sandbox.demo.observing import Observer
from sandbox.demo.timeline import Timeline
from sandbox.world import World
from sandbox.world.world import CLUSTER

SEEDS = Path(__file__).parents[1] / "seeds"
REPLICAS = 12
SERVICE_REPLICAS = 4
GIVE_UP_SECONDS = 150.0


class Acts:
    """On one world, told on one timeline."""

    def __init__(self, world: World, timeline: Timeline, observer: Observer) -> None:
        self._world = world
        self._timeline = timeline
        self._observer = observer

    def from_zero(self) -> bool:
        """NodePool, EC2NodeClass and nginx of the first seed as they stand, nginx scaled up: the first nodes ever."""
        self._apply("one/ec2nodeclass.yaml", "one/nodepool.yaml")
        self._apply("one/nginx.yaml", replicas=REPLICAS)
        return self._all_run(REPLICAS)

    def spot_notice(self) -> bool:
        """AWS takes a spot instance back: its pods get another place before it goes."""
        claim = self.claims()[0]
        self._timeline.tell("aws", f"spot interruption notice for {claim['node']}: two minutes left")
        arn = f"arn:aws:ec2:{claim['zone']}:instance/{claim['instance']}"
        detail = {"instance-id": claim["instance"], "instance-action": "terminate"}
        self._world.aws.events.put("aws.ec2", "EC2 Spot Instance Interruption Warning", detail, [arn])
        gone = self._until(lambda: claim["node"] not in self._nodes())
        return self._all_run(REPLICAS) and gone

    def scaled_to_zero(self) -> bool:
        """Nothing runs any more, so the nodes are empty and go."""
        self._timeline.tell("pods", "nginx scaled to 0")
        client = self._world.control_plane.client
        client.patch("apps/v1", "Deployment", "nginx", {"spec": {"replicas": 0}})
        return self._until(lambda: not self._nodes())

    def second_seed(self) -> bool:
        """A Provisioner and an AWSNodeTemplate of 2022, as they stand, on the same stack."""
        self._apply("two/general-awsnodetemplate.yaml", "two/general-provisioner.yaml", "two/my-svc.yaml")
        return self._all_run(SERVICE_REPLICAS)

    def claims(self) -> list[dict[str, Any]]:
        """As `nodewright status` shows them."""
        found: list[dict[str, Any]] = json.loads(self._world.cli("status", CLUSTER, "--output", "json"))[CLUSTER][
            "claims"
        ]
        return found

    def _apply(self, *names: str, replicas: int | None = None) -> None:
        for name in names:
            documents = list(yaml.safe_load_all((SEEDS / name).read_text()))
            if replicas is not None:
                documents[0]["spec"]["replicas"] = replicas
            self._world.control_plane.client.apply(*documents)

    def _all_run(self, number: int) -> bool:
        def running() -> bool:
            phases = [pod["status"].get("phase") for pod in self._observer.pods()]
            return len(phases) == number and set(phases) == {"Running"}

        return self._until(running)

    def _nodes(self) -> set[str]:
        return {node["metadata"]["name"] for node in self._world.control_plane.client.objects("v1", "Node")}

    def _until(self, done: Callable[[], bool]) -> bool:
        deadline = time.monotonic() + GIVE_UP_SECONDS
        while time.monotonic() < deadline:
            if done():
                return True
            time.sleep(0.2)
        return False
