"""What a test sees of the running system and does to it: Kubernetes, EC2, the table and the functions' logs."""

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial
from typing import Any, TypeVar

from nodewright.adapters.clock import SystemClock
from nodewright.adapters.dynamodb.ledger import DynamoLedger
from nodewright.application.ports import Duty, UnavailableOffering
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.money import parse_usd
from nodewright.settings import NAMES
from sandbox.controlplane.client import Client, wait_until
from sandbox.world import World
from sandbox.world.webhooks import CONFIGURATION
from sandbox.world.world import CLUSTER
from tests.sandbox.spine.manifests import Manifest

T = TypeVar("T")

DUTIES: tuple[Duty, ...] = ("provision", "reconcile")
VERBS = ("notify", "tick", "provision", "reconcile", "refresh", "interrupt", "disrupt", "retire")

#: Where the machine isn't busy. What it is too busy for the minute's sweep makes up; who waits is told at once.
PATIENCE_SECONDS = 90.0
#: Where it is: so many sweeps that found nothing to do about it, however long they take, and no longer than this.
SWEEPS = 3
BUSY_SECONDS = 420.0
#: So ends what functions say of a call that came to nothing and is made again, or of a cluster that is left alone.
PASSING = ("the next run tries again", "the next run finishes it", "it comes again", "doesn't answer")


@dataclass
class Scene:
    """One test's view; what functions logged before it doesn't count."""

    world: World
    _logged: dict[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._logged = {verb: frozenset(self.world.lambdas.logs(verb)) for verb in VERBS}

    @property
    def kubernetes(self) -> Client:
        return self.world.control_plane.client

    @cached_property
    def ledger(self) -> DynamoLedger:
        client = self.world.aws.client("dynamodb")
        return DynamoLedger(
            client, self.world.outputs["TableName"], region=self.world.aws.region, clock=SystemClock(), report=print
        )

    @cached_property
    def ec2(self) -> Any:
        return self.world.aws.client("ec2")

    def apply(self, *manifests: str | Manifest) -> None:
        self.kubernetes.apply(*manifests)

    def eventually(self, probe: Callable[[], T | None], what: str, seconds: float = PATIENCE_SECONDS) -> T:
        """Its first true answer; a failure shows what the functions had to say."""
        with suppress(TimeoutError):
            return wait_until(probe, what, seconds, pause=0.1)
        last = self._sweeps() + SWEEPS
        try:
            return wait_until(partial(self._unless_swept, probe, last, what), what, BUSY_SECONDS, pause=1.0)
        except TimeoutError as error:
            told = "\n".join(str(record) for record in self.problems())
            raise AssertionError(f"{error}; problems logged:\n{told}") from None

    def _unless_swept(self, probe: Callable[[], T | None], last: int, what: str) -> T | None:
        found = probe()
        if not found and self._sweeps() >= last:
            raise TimeoutError(f"{what} in vain, though reconcile looked {SWEEPS} times more")
        return found

    def _sweeps(self) -> int:
        """How often a minute went by and reconcile looked, since the test began; webhooks make it look more often."""
        looks = sum("'reconciled'" in report for report in self.reports("reconcile"))
        return min(looks, self.ended("tick"))

    def pods(self, app: str = "") -> list[Manifest]:
        return self.kubernetes.objects("v1", "Pod", "default", labels=f"app={app}" if app else "")

    def running(self, number: int, app: str = "") -> list[Manifest]:
        """Wait until there are so many pods, each bound and running; those."""

        def all_running() -> list[Manifest]:
            pods = self.pods(app)
            done = [pod for pod in pods if pod["status"]["phase"] == "Running" and pod["spec"].get("nodeName")]
            return done if len(pods) == len(done) == number else []

        return self.eventually(all_running, f"{number} pods {app} to run")

    def nodes(self) -> dict[str, Manifest]:
        """By name."""
        return {node["metadata"]["name"]: node for node in self.kubernetes.objects("v1", "Node")}

    def node_of(self, pod: Manifest) -> Manifest:
        return self.nodes()[pod["spec"]["nodeName"]]

    def instances(self) -> list[Manifest]:
        """As EC2 describes them, dead ones too."""
        pages = self.ec2.get_paginator("describe_instances").paginate()
        return [each for page in pages for group in page["Reservations"] for each in group["Instances"]]

    def user_data(self, instance: Manifest) -> str:
        answer = self.ec2.describe_instance_attribute(InstanceId=instance["InstanceId"], Attribute="userData")
        return base64.b64decode(answer["UserData"]["Value"]).decode()

    def volume(self, volume_id: str) -> Manifest:
        (volume,) = self.ec2.describe_volumes(VolumeIds=[volume_id])["Volumes"]
        return dict(volume)

    def roles(self, instance: Manifest) -> list[str]:
        """Names of the roles in its instance profile."""
        name = instance["IamInstanceProfile"]["Arn"].rpartition("/")[2]
        profile = self.world.aws.client("iam").get_instance_profile(InstanceProfileName=name)["InstanceProfile"]
        return [role["RoleName"] for role in profile["Roles"]]

    def spot_prices(self) -> dict[tuple[str, str], int]:
        """(type, zone) → nanodollars an hour, as EC2 says now."""
        history = self.ec2.get_paginator("describe_spot_price_history")
        pages = history.paginate(ProductDescriptions=["Linux/UNIX"], StartTime=now())
        return {
            (each["InstanceType"], each["AvailabilityZone"]): parse_usd(each["SpotPrice"])
            for page in pages
            for each in page["SpotPriceHistory"]
        }

    def claims(self) -> tuple[NodeClaim, ...]:
        return self.ledger.claims(CLUSTER)

    def claim_in(self, state: ClaimState) -> NodeClaim:
        """Wait until the one claim has come to a state; it."""

        def there() -> NodeClaim | None:
            return next((claim for claim in self.claims() if claim.state is state), None)

        return self.eventually(there, f"a claim to be {state}")

    def initialized(self, number: int) -> tuple[NodeClaim, ...]:
        """Wait until there are so many claims, all of them initialized; those."""

        def all_initialized() -> tuple[NodeClaim, ...]:
            claims = self.claims()
            done = all(claim.state is ClaimState.INITIALIZED for claim in claims)
            return claims if done and len(claims) == number else ()

        return self.eventually(all_initialized, f"{number} claims to be initialized")

    def decisions(self) -> list[Manifest]:
        """Details of what was decided, latest first."""
        return [dict(each.details) for each in self.ledger.decisions(CLUSTER, 50)]

    def decided(self, which: Callable[[Manifest], object], what: str) -> Manifest:
        """Wait for a decision that satisfies; its details."""

        def found() -> Manifest | None:
            return next((each for each in self.decisions() if which(each)), None)

        return self.eventually(found, f"a decision with {what}")

    def cooling(self) -> tuple[UnavailableOffering, ...]:
        """Offerings nobody asks for now."""
        return self.ledger.unavailable_offerings(now())

    def our_events(self, pod: str) -> list[Manifest]:
        """Events about a pod that Nodewright wrote."""
        events = self.kubernetes.objects("events.k8s.io/v1", "Event", "default")
        ours = [each for each in events if each.get("reportingController", "").startswith("nodewright")]
        return [each for each in ours if each["regarding"]["name"] == pod]

    def phases(self) -> dict[str, str]:
        """Of all pods, by name."""
        return {pod["metadata"]["name"]: pod["status"]["phase"] for pod in self.pods()}

    def quiet(self) -> None:
        """Wait until no hint waits or is being carried out: whoever keeps hinting at itself never gets there."""
        self.eventually(lambda: not any(map(self._hints, DUTIES)), "the queues to be empty")

    def runs(self, verb: str) -> int:
        """How often the function was started since the test began."""
        return sum(line.startswith("START ") for line in self._lines(verb))

    def ended(self, verb: str) -> int:
        """How many of those runs are over."""
        return sum(line.startswith("END ") for line in self._lines(verb))

    def wakings(self, pod: str) -> int:
        """How often something other than provision had reason to wake it for a pod: the scheduler's events, sweeps.

        How many those are is a matter of how long the pod waits: the scheduler tells anew of what has changed.
        """
        events = self.kubernetes.objects("events.k8s.io/v1", "Event", "default", fields="reason=FailedScheduling")
        told = [each for each in events if each.get("reportingController") == "default-scheduler"]
        return len([each for each in told if each["regarding"]["name"] == pod]) + self.runs("tick")

    def hints_by(self, verb: str) -> int:
        """How many hints a function has sent since the test began."""
        return self.world.aws.calls.count("sqs", "SendMessage", self.world.lambdas.find(verb).role_arn)

    def reports(self, duty: Duty) -> list[str]:
        """What its finished runs said of themselves."""
        return [record["report"] for record in self._records(duty) if record.get("message") == "run"]

    def problems(self, *verbs: str) -> list[Manifest]:
        """What functions (these, or all) found wrong since the test began, errors of their own included."""
        records = [record for verb in verbs or self._logged for record in self._records(verb)]
        return [each for each in records if each.get("message") == "problem" or each.get("level") == "ERROR"]

    def failures(self) -> list[str]:
        """What functions found wrong and don't try again by themselves: a busy machine may let any call fail once."""
        told = [str(each.get("reason") or each) for each in self.problems()]
        return [reason for reason in told if not any(sign in reason for sign in PASSING)]

    def fire(self, rule: str) -> None:
        """Fire a schedule now, by a part of its logical id."""
        self.world.lambdas.fire(next(name for name in self.world.lambdas.deployment.rule_names if rule in name))

    def webhook_path(self) -> str:
        """Where the API server sends reviews: with the cluster's token in it."""
        configuration = self.kubernetes.get(*CONFIGURATION)
        url: str = configuration["webhooks"][0]["clientConfig"]["url"]
        return url.removeprefix(self.world.lambdas.api_url)

    def hint(self, duty: Duty, dedup: str, cluster: str = CLUSTER) -> None:
        """Put a hint on a queue by hand."""
        sqs = self.world.aws.client("sqs")
        sqs.send_message(
            QueueUrl=self.queue_url(duty),
            MessageBody=f'{{"cluster": "{cluster}"}}',
            MessageGroupId=cluster,
            MessageDeduplicationId=dedup,
        )

    def queue_url(self, duty: Duty) -> str:
        return self.world.lambdas.find("reconcile").environment[NAMES[f"{duty}_queue_url"]]

    def _hints(self, duty: Duty) -> int:
        """How many are in the queue, those at work included."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        sqs = self.world.aws.client("sqs")
        attributes = sqs.get_queue_attributes(QueueUrl=self.queue_url(duty), AttributeNames=names)["Attributes"]
        return sum(int(attributes[name]) for name in names)

    def _lines(self, verb: str) -> list[str]:
        """New ones: each has a time or a request's id, so none is like one from before."""
        return [line for line in self.world.lambdas.logs(verb) if line not in self._logged[verb]]

    def _records(self, verb: str) -> Iterator[Manifest]:
        yield from (json.loads(line) for line in self._lines(verb) if line.startswith("{") and line.endswith("}"))


def now() -> datetime:
    """By the clock that the system runs on."""
    return SystemClock().now()


def tags(described: Mapping[str, Any]) -> dict[str, str]:
    """Of an instance, volume or template as EC2 describes it."""
    return {tag["Key"]: tag["Value"] for tag in described.get("Tags", ())}
