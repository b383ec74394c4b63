"""Nodes that leave beside nodes that stay, whose functions die, and planners that meet at one limit."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread

import pytest

import sandbox
from nodewright.application.errors import ConflictError
from nodewright.domain.claims import NodeClaim
from nodewright.domain.retirement import Retirement
from sandbox.aws.protocol import AwsError, Call
from sandbox.lambdas.outcome import Json
from sandbox.lambdas.sqs_event import sqs_event
from sandbox.world.world import CLUSTER
from tests.sandbox.spine.leaving import DRAIN_SECONDS, is_alive, settled, tell_of_maintenance, tell_of_spot_interruption
from tests.sandbox.spine.manifests import AMD64, ON_DEMAND, Manifest, deployment, family, node_class, node_pool
from tests.sandbox.spine.scene import Scene, now

pytestmark = pytest.mark.sandbox

SEEDS = Path(sandbox.__file__).parent / "seeds"
M7I = (family("m7i"), AMD64, ON_DEMAND)


def test_both_seeds_share_a_cluster_and_their_nodes_leave_under_the_budget(scene: Scene) -> None:
    """A spot notice for a node of the first seed, hardware of the second's announced to end in two hours."""
    apply_seed_one(scene, replicas=3)
    scene.apply(*seed_two())
    scene.running(3, "nginx")
    scene.running(4, "my-svc")
    before = settled(scene)
    leaving = [node_of(scene, before, "nginx"), node_of(scene, before, "my-svc")]

    with watched(scene, "my-svc") as looks:
        tell_of_spot_interruption(scene, leaving[0])
        tell_of_maintenance(scene, leaving[1])
        scene.eventually(lambda: not any(is_alive(scene, claim) for claim in leaving), "both to end", DRAIN_SECONDS)
        scene.running(3, "nginx")
        scene.running(4, "my-svc")

    assert looks.number > 0
    assert looks.fewest >= 3, f"the budget wants three ready pods; once there were {looks.fewest}"
    after = settled(scene)
    assert not {claim.node_name for claim in leaving} & set(scene.nodes())
    assert len(after) == len(before)
    assert len(scene.instances()) == len(before) + len(leaving), "each was replaced once"


def test_a_retirement_killed_after_an_eviction_goes_on_where_it_stood(scene: Scene) -> None:
    """The pod is gone, nothing of that was stored. The turn's lease is cut short: it lasts as long as the function."""
    scene.apply(node_class(), node_pool(*M7I), budget("web", 1), deployment("web", 2, cpu="500m"))
    scene.running(2)
    (leaving,) = settled(scene)

    with killed_at_eviction(scene, "web") as killed:
        tell_of_spot_interruption(scene, leaving)
        scene.eventually(killed.is_set, "retire to be killed", DRAIN_SECONDS)
    held = retirement(scene, leaving)
    assert held.step == "drain"
    cut_lease(scene, leaving)
    scene.fire("Tick")

    scene.eventually(lambda: not is_alive(scene, leaving), "the node to end", DRAIN_SECONDS)
    scene.running(2)
    (claim,) = settled(scene)
    assert claim.id != leaving.id
    assert set(scene.nodes()) == {claim.node_name}
    assert len(scene.instances()) == 2, "it was replaced once"
    assert scene.world.lambdas.loops_stopped("retire") == 0


def test_two_planners_at_once_stay_below_one_limit(scene: Scene) -> None:
    """Eight pods want a node of two cores each, the pool may have six; neither planner knows of the other."""
    scene.world.lambdas.warm("provision", 2)
    with scene.world.lambdas.held():
        scene.apply(node_class(), node_pool(*M7I, two_cores(), limits={"cpu": "6"}), deployment("web", 8, cpu="1500m"))
        scene.eventually(lambda: len(unschedulable(scene)) == 8, "all pods to be found without a place")
        before = len(scene.reports("provision"))
        answers = at_once(scene, "provision", [hint(scene, str(number)) for number in range(2)])
        bought_by_then = cores(scene)
        scene.eventually(lambda: len(scene.reports("provision")) == before + 2, "both to have planned")

    assert answers == [{"batchItemFailures": []}] * 2
    assert bought_by_then == 6
    scene.eventually(lambda: len(running(scene, "web")) == 3, "three pods to run")
    # By hand again: hints that came while queues were held are invisible for minutes.
    assert at_once(scene, "provision", [hint(scene, "later")]) == [{"batchItemFailures": []}]
    assert cores(scene) == 6
    assert len(scene.claims()) == 3
    assert len(unschedulable(scene)) == 5


def apply_seed_one(scene: Scene, replicas: int) -> None:
    scene.apply(*(path.read_text() for path in sorted((SEEDS / "one").glob("*.yaml"))))
    scene.kubernetes.patch("apps/v1", "Deployment", "nginx", {"spec": {"replicas": replicas}})


def seed_two() -> list[str]:
    """The general template and provisioner, and the service with its budget."""
    return [(SEEDS / "two" / f"{name}.yaml").read_text() for name in _SEED_TWO]


_SEED_TWO = ("general-awsnodetemplate", "general-provisioner", "my-svc")


def node_of(scene: Scene, claims: tuple[NodeClaim, ...], app: str) -> NodeClaim:
    """The claim of a node on which such a pod runs."""
    name = scene.pods(app)[0]["spec"]["nodeName"]
    return next(claim for claim in claims if claim.node_name == name)


@dataclass
class Looks:
    """What came of looking at pods all the time."""

    number: int = 0
    fewest: int = 1_000_000
    over: Event = field(default_factory=Event)


@contextmanager
def watched(scene: Scene, app: str) -> Iterator[Looks]:
    """Count an app's ready pods as often as can be, as its budget does: those told to go are none."""
    looks = Looks()

    def look() -> None:
        while not looks.over.wait(0.02):
            looks.fewest = min(looks.fewest, sum(map(is_ready, scene.pods(app))))
            looks.number += 1

    thread = Thread(target=look, name="budget-watch")
    thread.start()
    try:
        yield looks
    finally:
        looks.over.set()
        thread.join()


def is_ready(pod: Manifest) -> bool:
    conditions = pod["status"].get("conditions", ())
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]


@contextmanager
def killed_at_eviction(scene: Scene, app: str) -> Iterator[Event]:
    """Retire gets SIGKILL once, as it is about to store what came of its first eviction of such a pod."""
    killed, calls = Event(), scene.world.aws.calls
    there = {pod["metadata"]["uid"] for pod in scene.pods(app)}
    role, record = scene.world.lambdas.find("retire").role_arn, calls.record

    def recorded(call: Call) -> str | None:
        caller = record(call)
        stores = caller == role and call.service == "dynamodb" and call.operation in _WRITES
        if stores and not killed.is_set() and not there <= staying(scene, app):
            killed.set()
            scene.world.lambdas.kill("retire")
            raise AwsError("InternalServerError", "whoever asked is dead", 500)
        return caller

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calls, "record", recorded)
        yield killed


_WRITES = ("PutItem", "UpdateItem", "TransactWriteItems")


def staying(scene: Scene, app: str) -> set[str]:
    """Uids of such pods that nobody told to go."""
    return {pod["metadata"]["uid"] for pod in scene.pods(app) if "deletionTimestamp" not in pod["metadata"]}


def retirement(scene: Scene, claim: NodeClaim) -> Retirement:
    found = scene.ledger.claim(CLUSTER, claim.id).retirement
    assert found is not None
    return found


def cut_lease(scene: Scene, claim: NodeClaim) -> None:
    """As if the killed run's time were over, and its message long due. Reconcile may be writing the claim too."""

    def cut() -> bool:
        fresh = scene.ledger.claim(CLUSTER, claim.id)
        assert fresh.retirement is not None
        overdue = replace(fresh.retirement, next_at=now() - timedelta(seconds=15))
        with suppress(ConflictError):
            scene.ledger.save_claim(CLUSTER, replace(fresh, retirement=overdue))
            return True
        return False

    scene.eventually(cut, "the lease to be cut")


def budget(app: str, minimum: int) -> Manifest:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": app},
        "spec": {"minAvailable": minimum, "selector": {"matchLabels": {"app": app}}},
    }


def two_cores() -> Manifest:
    return {"key": "karpenter.k8s.aws/instance-cpu", "operator": "In", "values": ["2"]}


def unschedulable(scene: Scene) -> list[Manifest]:
    """Pods that kube-scheduler found no node for."""
    return [
        pod
        for pod in scene.pods()
        if any(each.get("reason") == "Unschedulable" for each in pod["status"].get("conditions", ()))
    ]


def running(scene: Scene, app: str) -> list[Manifest]:
    return [pod for pod in scene.pods(app) if pod["status"]["phase"] == "Running"]


def cores(scene: Scene) -> int:
    """Of all instances that ever were, as EC2 describes their types."""
    types = [each["InstanceType"] for each in scene.instances()]
    described = scene.ec2.describe_instance_types(InstanceTypes=sorted(set(types)))["InstanceTypes"]
    of_type = {each["InstanceType"]: each["VCpuInfo"]["DefaultVCpus"] for each in described}
    return sum(of_type[name] for name in types)


def hint(scene: Scene, name: str) -> Json:
    """One that no other run has answered, as SQS hands it over."""
    message = {
        "MessageId": name,
        "ReceiptHandle": name,
        "Body": json.dumps({"cluster": CLUSTER, "urgent": True}),
        "MD5OfBody": "",
        "Attributes": {"SentTimestamp": str(int((now() + timedelta(minutes=1)).timestamp() * 1000))},
    }
    aws = scene.world.aws
    return sqs_event([message], f"arn:aws:sqs:{aws.region}:{aws.account}:provision.fifo")


def at_once(scene: Scene, function: str, events: list[Json]) -> list[Json]:
    """What the function answered to events that it got at the same time."""
    with ThreadPoolExecutor(max_workers=len(events)) as threads:
        outcomes = list(threads.map(lambda event: scene.world.lambdas.invoke(function, event), events))
    return [outcome.payload for outcome in outcomes]
