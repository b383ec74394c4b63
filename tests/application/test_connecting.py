from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from nodewright.adapters.memory import (
    InMemoryDirectory,
    InMemoryEc2Catalogue,
    InMemoryImages,
    InMemoryLedger,
    RecordedHints,
    RecordingObserver,
)
from nodewright.application.connecting import (
    NO_CHANGE,
    Brakes,
    Connect,
    Disconnect,
    Installation,
    Manifest,
    StackFacts,
)
from nodewright.application.errors import NotFoundError, RefusedError, UnavailableError
from nodewright.application.notify import Notify
from nodewright.application.ports import Price
from nodewright.application.refresh import Refresh
from nodewright.domain.claims import ClaimState, LaunchRecord
from nodewright.domain.clusters import token_hash
from tests.application.killing import KilledError
from tests.application.test_notify import review
from tests.application.world import CLUSTER, FACTS, NOW, ZONES, connected, parameters
from tests.builders import claim

POOL_CRD: Manifest = {"kind": "CustomResourceDefinition", "metadata": {"name": "nodepools.karpenter.sh"}}
CLASS_CRD: Manifest = {"kind": "CustomResourceDefinition", "metadata": {"name": "ec2nodeclasses.karpenter.k8s.aws"}}
ROLE: Manifest = {"kind": "ClusterRole", "metadata": {"name": "nodewright:provision"}}
STACK = StackFacts(
    "https://api.example",
    {"nodewright:provision": "arn:provision", "nodewright:reconcile": "arn:reconcile"},
    ("arn:node", "arn:theirs"),
)


def webhooks(url: str) -> Manifest:
    return {"kind": "ValidatingWebhookConfiguration", "metadata": {"name": "nodewright"}, "url": url}


INSTALLATION = Installation((POOL_CRD, CLASS_CRD), (ROLE,), webhooks)


@dataclass
class Access:
    entries: dict[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)

    def ensure(self, cluster: str, principal_arn: str, groups: Sequence[str], kind: str) -> None:
        assert cluster == CLUSTER
        self.entries[principal_arn] = (tuple(groups), kind)

    def remove(self, cluster: str, principal_arn: str) -> None:
        assert cluster == CLUSTER
        self.entries.pop(principal_arn, None)


@dataclass
class Admin:
    """The cluster; `fails` names a kind that can't be applied."""

    objects: dict[str, Manifest] = field(default_factory=dict)
    fails: str = ""
    released: list[str] = field(default_factory=list)

    def apply(self, manifest: Manifest) -> None:
        if manifest["kind"] == self.fails:
            raise UnavailableError("the API server doesn't answer")
        self.objects[_key(manifest)] = manifest

    def exists(self, manifest: Manifest) -> bool:
        return _key(manifest) in self.objects

    def delete(self, manifest: Manifest) -> None:
        self.objects.pop(_key(manifest), None)

    def release_node(self, name: str) -> None:
        self.released.append(name)

    @property
    def webhook_token(self) -> str:
        """Of the URL the API server calls."""
        return str(self.objects[_key(webhooks(""))]["url"]).rpartition("/")[2]


def _key(manifest: Manifest) -> str:
    metadata = manifest["metadata"]
    assert isinstance(metadata, Mapping)
    return f"{manifest['kind']}/{metadata['name']}"


class Site:
    """A cluster, a stack and an operator; tokens are token-1, token-2, …"""

    def __init__(self, auth_mode: str = "API_AND_CONFIG_MAP") -> None:
        self.ledger = InMemoryLedger()
        self.access = Access()
        self.admin = Admin()
        self.directory = InMemoryDirectory({CLUSTER: connected(auth_mode=auth_mode, token_hashes=())})
        self.catalogue = InMemoryEc2Catalogue(FACTS, {facts.name: frozenset(ZONES) for facts in FACTS})
        self.observer = RecordingObserver()
        self._made = 0

    def token(self) -> str:
        self._made += 1
        return f"token-{self._made}"

    @property
    def refresh(self) -> Refresh:
        images = InMemoryImages(parameters())
        return Refresh(self.ledger, self.catalogue, images, self.directory, self.observer)

    def steps(self, brakes: Brakes = NO_CHANGE) -> Iterator[str]:
        use = Connect(self.ledger, self.directory, self.access, self.admin, self.refresh, self.token)
        return use(CLUSTER, STACK, INSTALLATION, NOW, brakes)

    def connect(self, brakes: Brakes = NO_CHANGE) -> list[str]:
        return list(self.steps(brakes))

    def disconnect(self) -> list[str]:
        return list(Disconnect(self.ledger, self.access, self.admin)(CLUSTER, STACK, INSTALLATION))

    def is_heard(self) -> bool:
        """Whether a call with the token that the cluster really uses becomes a hint."""
        hints = RecordedHints()
        Notify(self.ledger, hints, self.observer)(CLUSTER, self.admin.webhook_token, review(), NOW)
        return len(hints.sent) == 1


def test_a_connected_cluster_can_call_and_be_called() -> None:
    site = Site()
    told = site.connect()
    assert site.admin.webhook_token == "token-1"
    assert site.admin.objects[_key(webhooks(""))]["url"] == "https://api.example/v1/clusters/prod/token-1"
    assert site.is_heard()
    assert site.access.entries == {
        "arn:provision": (("nodewright:provision",), "STANDARD"),
        "arn:reconcile": (("nodewright:reconcile",), "STANDARD"),
        "arn:node": ((), "EC2_LINUX"),
        "arn:theirs": ((), "EC2_LINUX"),
    }
    assert {_key(POOL_CRD), _key(CLASS_CRD), _key(ROLE)} < set(site.admin.objects)
    assert told[0] == "cluster prod: Kubernetes 1.37, https://k8s.example"
    assert told[-1] == "webhooks installed; older tokens no longer count"


def test_the_first_connect_fills_the_catalogue_and_the_next_does_not() -> None:
    site = Site()
    assert "catalogue filled: types, offerings, prices, spot, images" in site.connect()
    assert len(site.ledger.catalogue().facts) == len(FACTS)
    assert "catalogue is there" in site.connect()


def test_connecting_again_replaces_the_token_and_nothing_else() -> None:
    site = Site()
    site.connect()
    site.ledger.put_cluster(replace(site.ledger.cluster(CLUSTER), paused=True, scheduler_names=("mine",)))
    before = {name: thing for name, thing in site.admin.objects.items() if "Webhook" not in name}
    site.connect()
    assert {name: thing for name, thing in site.admin.objects.items() if "Webhook" not in name} == before
    cluster = site.ledger.cluster(CLUSTER)
    assert cluster.token_hashes == (token_hash("token-2"),)
    assert (cluster.paused, cluster.scheduler_names) == (True, ("mine",))
    assert site.is_heard()


def test_ceilings_are_set_kept_changed_and_taken_away() -> None:
    site = Site()

    def ceilings(brakes: Brakes = NO_CHANGE) -> tuple[int | None, int]:
        told = site.connect(brakes)
        cluster = site.ledger.cluster(CLUSTER)
        assert f"{cluster.launches_per_hour} launches an hour" in "\n".join(told)
        return cluster.limit_usd_per_hour, cluster.launches_per_hour

    assert ceilings() == (None, 500)
    assert ceilings(Brakes(limit_usd_per_hour=0, launches_per_hour=20)) == (0, 20)
    assert ceilings() == (0, 20)
    assert ceilings(Brakes(limit_usd_per_hour=7)) == (7, 20)
    assert ceilings(Brakes(without_usd_limit=True)) == (None, 20)


def test_a_crd_that_is_there_is_left_as_it_is() -> None:
    site = Site()
    theirs = {**POOL_CRD, "spec": "Karpenter's own"}
    site.admin.apply(theirs)
    assert "custom resources: 1 installed, 1 were there" in site.connect()
    assert site.admin.objects[_key(POOL_CRD)] is theirs


def test_a_cluster_without_access_entries_is_refused_with_the_fix_and_nothing_is_touched() -> None:
    site = Site("CONFIG_MAP")
    with pytest.raises(RefusedError, match=r"CONFIG_MAP.*update-cluster-config --name prod .*API_AND_CONFIG_MAP"):
        site.connect()
    assert (site.ledger.clusters(), site.admin.objects, site.access.entries) == ((), {}, {})


@pytest.mark.parametrize("auth_mode", ["API", "API_AND_CONFIG_MAP"])
def test_either_mode_with_access_entries_will_do(auth_mode: str) -> None:
    Site(auth_mode).connect()


def test_a_cluster_eks_does_not_know_is_named() -> None:
    site = Site()
    site.directory.known.clear()
    with pytest.raises(NotFoundError, match="prod"):
        site.connect()


class PricelessCatalogue(InMemoryEc2Catalogue):
    def on_demand_prices(self) -> tuple[Price, ...]:
        raise UnavailableError("the price list is throttled")


def test_a_catalogue_that_cannot_be_filled_is_told_before_webhooks_call() -> None:
    site = Site()
    site.catalogue = PricelessCatalogue(FACTS, {})
    with pytest.raises(RefusedError, match="catalogue prices: the price list is throttled"):
        site.connect()
    assert _key(webhooks("")) not in site.admin.objects


def test_the_old_token_works_until_the_webhook_has_the_new_one() -> None:
    site = Site()
    site.connect()
    for step in site.steps():
        assert site.is_heard(), step
    assert site.admin.webhook_token == "token-2"


@pytest.mark.parametrize("runs", [1, 2, 7])
def test_runs_that_fail_before_the_webhook_leave_the_old_token_working(runs: int) -> None:
    site = Site()
    site.connect()
    site.admin.fails = "ValidatingWebhookConfiguration"
    for _ in range(runs):
        with pytest.raises(UnavailableError):
            site.connect()
        assert site.is_heard()
    site.admin.fails = ""
    site.connect()
    assert site.is_heard()
    assert len(site.ledger.cluster(CLUSTER).token_hashes) == 1


class DyingLedger(InMemoryLedger):
    """Dies instead of storing the second time: webhooks hold the new token, the table still both."""

    stored = 0

    def put_cluster(self, cluster: object) -> None:
        self.stored += 1
        if self.stored == 2:
            raise KilledError
        super().put_cluster(cluster)  # type: ignore[arg-type]


def test_killed_after_the_webhook_was_applied_the_new_token_works_and_goes_on_working() -> None:
    site = Site()
    site.ledger = DyingLedger()
    with pytest.raises(KilledError):
        site.connect()
    assert site.is_heard()
    steps = site.steps()
    while "registered" not in next(steps):
        pass
    assert site.is_heard()
    assert list(steps)
    assert site.admin.webhook_token == "token-2"
    assert site.is_heard()


@pytest.mark.parametrize("done", range(1, 8))
def test_killed_between_any_two_steps_the_next_run_ends_right(done: int) -> None:
    undisturbed, killed = Site(), Site()
    undisturbed.connect()
    steps = killed.steps()
    for _ in range(done):
        next(steps, None)
    steps.close()  # type: ignore[attr-defined]
    killed.connect()
    assert killed.access.entries == undisturbed.access.entries
    assert killed.admin.objects.keys() == undisturbed.admin.objects.keys()
    assert len(killed.ledger.cluster(CLUSTER).token_hashes) == 1
    assert killed.is_heard()


def test_disconnecting_leaves_crds_and_node_access_and_may_be_repeated() -> None:
    site = Site()
    site.connect()
    site.disconnect()
    site.disconnect()
    assert site.ledger.clusters() == ()
    assert set(site.admin.objects) == {_key(POOL_CRD), _key(CLASS_CRD)}
    assert set(site.access.entries) == {"arn:node", "arn:theirs"}


def test_nodes_of_a_disconnected_cluster_can_be_deleted_by_hand() -> None:
    """Our finalizer would hold them for ever."""
    site = Site()
    site.connect()
    joined = claim("a", node_name="n-1", instance_id="i-1", state=ClaimState.INITIALIZED)
    site.ledger.reserve(CLUSTER, 0, LaunchRecord("l", (), "", NOW, NOW), [joined, claim("b")])
    said = site.disconnect()
    assert site.admin.released == ["n-1"]
    assert "finalizer taken off nodes: 1; from now on nobody ends their instances but you" in said


def test_a_disconnected_cluster_can_be_connected_again() -> None:
    site = Site()
    site.connect()
    site.disconnect()
    site.connect()
    assert site.is_heard()
