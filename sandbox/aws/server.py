"""The sandbox's AWS: one object that starts it, and through which a test talks to it and upsets it."""

from collections.abc import Callable
from datetime import UTC, datetime
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Self

from moto import settings
from moto.moto_api._internal import mock_random
from moto.moto_api._internal.models import moto_api_backend
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

from sandbox.aws.calls import Calls
from sandbox.aws.capacity import Capacity
from sandbox.aws.clients import client
from sandbox.aws.cloudformation import CloudFormation
from sandbox.aws.credentials import Credentials
from sandbox.aws.defaults import ACCOUNT, REGION
from sandbox.aws.eks import Eks
from sandbox.aws.events import Events
from sandbox.aws.faults import Faults
from sandbox.aws.fleets import Fleets
from sandbox.aws.gateway import Gateway
from sandbox.aws.iam import Iam
from sandbox.aws.identity import Identity
from sandbox.aws.images import RELEASES, Images
from sandbox.aws.instance_types import InstanceTypes
from sandbox.aws.instances import InstanceListener, Instances
from sandbox.aws.patches import Patches
from sandbox.aws.price_list import PriceList
from sandbox.aws.prices import Prices
from sandbox.aws.queues import Queues
from sandbox.aws.run_instances import RunInstances
from sandbox.aws.spot_history import SpotHistory
from sandbox.aws.tables import Tables
from sandbox.aws.tags import Tags
from sandbox.aws.tokens import Tokens
from sandbox.aws.workload import Items, Workload
from sandbox.lambdas.lineage import lineage_middleware

# Ids that moto draws at random come out the same on every run.
SEED = 20261130
# How soon the server notices that it is to stop.
STOP_POLL_SECONDS = 0.05
_ALONE = Lock()
_REPAIRS = (Tables(), Tags())


def wall_clock() -> datetime:
    """The time, unless the sandbox is given another clock."""
    return datetime.now(UTC)  # noqa: TID251  the sandbox's composition root


class SandboxAws:
    """AWS while the `with` lasts. moto keeps its state in the process, so there is one at a time."""

    account = ACCOUNT

    def __init__(
        self, *, region: str = REGION, enforce: bool = False, clock: Callable[[], datetime] = wall_clock
    ) -> None:
        self.region = region
        self.credentials = Credentials()
        self.faults = Faults()
        self.calls = Calls(self.credentials)
        self.iam = Iam()
        self.prices = Prices(region)
        self.fleet = Capacity(self.faults)
        self.eks = Eks(region)
        self.images = Images(region)
        self.events = Events(region, clock)
        self.queues = Queues(region, clock)
        self.tokens = Tokens(self.credentials, self.eks, clock)
        self._instances = Instances()
        self._fleets = Fleets(self.fleet, self.prices, self._instances)
        self._runs = RunInstances(self.fleet, self._instances)
        self._patches = Patches()
        self._kept: Items = {}
        self._gateway = self._assembled(enforce=enforce, clock=clock)
        app = lineage_middleware(self._gateway)
        self._server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=_QuietHandler)
        self.endpoint = f"http://localhost:{self._server.server_port}"
        self._cloudformation = CloudFormation(region, self.endpoint)
        self._thread = Thread(
            target=self._server.serve_forever, args=[STOP_POLL_SECONDS], name="sandbox-aws", daemon=True
        )

    def __enter__(self) -> Self:
        """Start with an empty account in which AWS's own images are published."""
        if not _ALONE.acquire(blocking=False):
            self._server.server_close()
            raise RuntimeError("Another SandboxAws is open: moto keeps its state in the process. End that one first.")
        self._patches.replace(settings, "ec2_load_default_amis", lambda: False)
        for part in (self._instances, self.events, self.queues, self._cloudformation, *_REPAIRS):
            part.install(self._patches)
        self.reset()
        self._thread.start()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        """Stop answering, and leave moto as it was found."""
        self._server.shutdown()
        self._server.server_close()
        self._patches.undo()
        _ALONE.release()

    def environment(self) -> dict[str, str]:
        """Variables that point a subprocess's SDK (or `cdk`) here, as an administrator."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            "AWS_EC2_METADATA_DISABLED": "true",
            "CDK_DEFAULT_ACCOUNT": self.account,
            "CDK_DEFAULT_REGION": self.region,
            **self.credentials.administrator(),
        }

    def credentials_for(self, role_arn: str) -> dict[str, str]:
        """Variables that make a subprocess's SDK act as a role; they go on top of `environment()`."""
        return self.credentials.for_role(role_arn)

    def client(self, service: str, role_arn: str | None = None) -> Any:
        """A boto3 client, of the administrator or of a role."""
        keys = self.credentials_for(role_arn) if role_arn else self.credentials.administrator()
        return client(service, self.region, self.endpoint, keys["AWS_ACCESS_KEY_ID"], keys["AWS_SECRET_ACCESS_KEY"])

    def on_instance_change(self, listener: InstanceListener) -> Callable[[], None]:
        """Call the listener with each state an instance enters, in the request's thread; the result ends that."""
        return self._instances.on_change(listener)

    def enforce(self, *, on: bool = True) -> None:
        """Whether calls a role's policies don't allow are refused."""
        self._gateway.enforce = on

    def reset(self) -> None:
        """An empty account again: no resources, no faults, no record. Listeners stay."""
        moto_api_backend.reset()
        mock_random.seed(SEED)
        self.eks.clear()
        self._kept = {}
        self._forget()
        for release in RELEASES:
            self.images.publish(release)

    def checkpoint(self) -> None:
        """Make what the tables hold now part of what a sweep leaves."""
        self._kept = Workload(self.region).items()

    def sweep(self, *, templates: bool = True) -> None:
        """Between tests on one deployment: end instances, empty queues and tables, forget faults; the stack stays.

        Functions that stay warm remember which launch `templates` there are, so theirs must stay too.
        """
        Workload(self.region).remove(self._kept, templates=templates)
        self._forget()

    def _forget(self) -> None:
        for part in (self.faults, self.calls, self.prices, self._fleets, self._runs):
            part.clear()
        self.fleet.restore()
        self.queues.purge()

    def _assembled(self, *, enforce: bool, clock: Callable[[], datetime]) -> Gateway:
        moto = DomainDispatcherApplication(create_backend_app)
        gateway = Gateway(moto, calls=self.calls, faults=self.faults, iam=self.iam, enforce=enforce)
        identity, history = Identity(self.credentials), SpotHistory(self.prices, clock)
        for part in (self._fleets, self._runs, history, InstanceTypes(), PriceList(self.prices), self.eks, identity):
            gateway.install(part.operations())
        return gateway


class _QuietHandler(MotoRequestHandler):
    """No line for each request; and no waiting for an acknowledgement between headers and body (40 ms a call)."""

    disable_nagle_algorithm = True

    def log_request(self, *_: object) -> None:
        """Say nothing: what was called is on record in `calls`."""
