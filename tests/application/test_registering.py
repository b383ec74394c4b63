from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from nodewright.adapters.memory import InMemoryCluster, InMemoryFleet, InMemoryLedger, RecordingObserver, VirtualClock
from nodewright.application.errors import ConflictError, NotFoundError, RefusedError, UnavailableError, UnreachableError
from nodewright.application.orders import UNREGISTERED
from nodewright.application.ports import Instance
from nodewright.application.registering import Registrar, is_initialized, naming
from nodewright.domain.claims import ClaimState, LaunchRecord, NodeClaim
from nodewright.domain.nodes import Node
from nodewright.domain.quantities import Resources
from nodewright.domain.retiring import begin
from nodewright.domain.taints import Taint
from tests.application.world import CLUSTER, NOW, STACK, node_class
from tests.builders import claim, node, resources, taint

STARTUP = taint("cilium", effect="NoExecute")
GPU = Resources({"nvidia.com/gpu": 1})


@dataclass
class StubbornCluster(InMemoryCluster):
    """Refuses to have one node changed."""

    refuses: str = ""
    error: Exception = field(default_factory=lambda: ConflictError("changed meanwhile"))

    def register_node(self, name: str, labels: Mapping[str, str], remove_taints: Sequence[Taint]) -> None:
        if name == self.refuses:
            raise self.error
        super().register_node(name, labels, remove_taints)


class Yard:
    """Claims `c-0`, `c-1` … with instances, and nodes of them."""

    def __init__(self, *claims: NodeClaim) -> None:
        self.ledger = InMemoryLedger()
        self.fleet = InMemoryFleet(VirtualClock(NOW), STACK)
        self.observer = RecordingObserver()
        self.cluster = StubbornCluster()
        self.ledger.reserve(CLUSTER, 0, LaunchRecord("l", (), "", NOW, NOW), claims)
        for each in claims:
            self.fleet.instances[each.instance_id] = Instance(
                each.instance_id, "x.s", "a", "on-demand", "running", "ami", NOW
            )

    def advance(self, named: frozenset[str] = frozenset()) -> int:
        registrar = Registrar(self.ledger, self.fleet, self.observer)
        return registrar.advance(CLUSTER, self.cluster, self.claims, self.cluster.read().nodes, named)

    @property
    def claims(self) -> tuple[NodeClaim, ...]:
        return self.ledger.claims(CLUSTER)

    @property
    def states(self) -> list[ClaimState]:
        return [each.state for each in self.claims]


def launched(name: str = "0", **changes: object) -> NodeClaim:
    return claim(f"c-{name}", instance_id=f"i-{name}", **changes)


def joined(name: str = "0", **changes: object) -> Node:
    """Node `n-0` of instance `i-0`."""
    return replace(node(f"n-{name}", provider_id=f"aws:///a/i-{name}"), **changes)  # type: ignore[arg-type]


def test_a_ready_node_is_registered_and_initialized_in_one_go() -> None:
    yard = Yard(launched(labels={"team": "a"}))
    yard.cluster.add(joined(taints=(UNREGISTERED,)))
    assert yard.advance() == 1
    (after,) = yard.cluster.nodes.values()
    assert after.taints == ()
    assert after.labels["team"] == "a"
    assert after.labels["karpenter.sh/registered"] == after.labels["karpenter.sh/initialized"] == "true"
    assert (yard.claims[0].state, yard.claims[0].node_name) == (ClaimState.INITIALIZED, "n-0")
    assert yard.fleet.instances["i-0"].tags == {"Name": "n-0", "karpenter.sh/nodeclaim": "c-0"}
    assert [name for _, name, _ in yard.observer.registrations] == ["n-0"]
    assert [name for _, name, _ in yard.observer.initializations] == ["n-0"]


def test_an_instance_its_class_has_named_keeps_that_name() -> None:
    yard = Yard(launched(node_class="mine"))
    yard.cluster.add(joined())
    node_classes = (node_class("mine", tags={"Name": "web", "team": "a"}), node_class("other", tags={"team": "a"}))
    yard.advance(naming(node_classes))
    assert yard.fleet.instances["i-0"].tags == {"karpenter.sh/nodeclaim": "c-0"}


def test_a_node_that_is_not_ready_is_registered_first_and_initialized_later() -> None:
    yard = Yard(launched())
    yard.cluster.add(joined(ready=False))
    yard.advance()
    assert yard.states == [ClaimState.REGISTERED]
    assert "karpenter.sh/initialized" not in yard.cluster.nodes["n-0"].labels
    yard.cluster.add(replace(yard.cluster.nodes["n-0"], ready=True))
    assert yard.advance() == 1
    assert yard.states == [ClaimState.INITIALIZED]
    assert len(yard.observer.registrations) == len(yard.observer.initializations) == 1


def test_a_label_with_another_value_is_somebodys_choice() -> None:
    yard = Yard(launched(labels={"team": "a", "disk": "fast"}))
    yard.cluster.add(joined(labels={"team": "b"}))
    yard.advance()
    labels = yard.cluster.nodes["n-0"].labels
    assert (labels["team"], labels["disk"]) == ("b", "fast")


def test_other_taints_stay() -> None:
    yard = Yard(launched())
    yard.cluster.add(joined(taints=(taint("dedicated"), UNREGISTERED)))
    yard.advance()
    assert yard.cluster.nodes["n-0"].taints == (taint("dedicated"),)


@pytest.mark.parametrize(
    ("changes", "initialized"),
    [
        pytest.param({}, True, id="ready"),
        pytest.param({"ready": False}, False, id="not ready"),
        pytest.param({"taints": (STARTUP,)}, False, id="startup taint there"),
        pytest.param({"taints": (replace(STARTUP, value="agent"),)}, False, id="startup taint with another value"),
        pytest.param({"taints": (taint("node.kubernetes.io/not-ready"),)}, False, id="known ephemeral taint"),
        pytest.param({"taints": (taint("readiness.k8s.io/network"),)}, False, id="readiness taint"),
        pytest.param({"taints": (UNREGISTERED,)}, True, id="what is taken off in the same write"),
        pytest.param({"taints": (taint("dedicated"),)}, True, id="the pool's own taint"),
    ],
)
def test_initialized_is_ready_without_startup_and_ephemeral_taints(
    changes: dict[str, object], initialized: bool
) -> None:
    found = replace(joined(), **changes)  # type: ignore[arg-type]
    assert is_initialized(launched(startup_taints=(STARTUP,)), found) is initialized


def test_a_node_is_not_initialized_before_its_extended_resources_show() -> None:
    wanted = launched(requests=resources(cpu="1") + GPU)
    assert not is_initialized(wanted, joined())
    assert is_initialized(wanted, joined(allocatable=resources(cpu="2", memory="4Gi") + GPU))


def test_strangers_and_nodes_of_no_instance_are_left_alone() -> None:
    yard = Yard(launched())
    yard.cluster.add(joined("9"), node("metal", provider_id=""))
    assert yard.advance() == 0
    assert all("karpenter.sh/registered" not in n.labels for n in yard.cluster.nodes.values())


@pytest.mark.parametrize(
    "error", [ConflictError("changed meanwhile"), NotFoundError("it left"), RefusedError("a webhook of theirs says no")]
)
def test_one_bad_node_stops_no_other(error: Exception) -> None:
    yard = Yard(launched("0"), launched("1"))
    yard.cluster.add(joined("0"), joined("1"))
    yard.cluster.refuses, yard.cluster.error = "n-0", error
    assert yard.advance() == 1
    assert yard.states == [ClaimState.LAUNCHED, ClaimState.INITIALIZED]
    assert f"n-0: {error}; the next run tries again" in yard.observer.problems[0][2]
    yard.cluster.refuses = ""
    assert yard.advance() == 1


def test_one_node_that_cannot_be_changed_now_stops_no_other_and_is_told_at_the_end() -> None:
    yard = Yard(launched("0"), launched("1"))
    yard.cluster.add(joined("0"), joined("1"))
    yard.cluster.refuses, yard.cluster.error = "n-0", UnavailableError("their webhook fails: 500")
    with pytest.raises(UnavailableError, match="their webhook fails"):
        yard.advance()
    assert yard.states == [ClaimState.LAUNCHED, ClaimState.INITIALIZED]


def test_nobody_else_is_tried_where_nobody_answers() -> None:
    yard = Yard(launched("0"), launched("1"))
    yard.cluster.add(joined("0"), joined("1"))
    yard.cluster.refuses, yard.cluster.error = "n-0", UnreachableError("timed out")
    with pytest.raises(UnreachableError):
        yard.advance()
    assert yard.states == [ClaimState.LAUNCHED, ClaimState.LAUNCHED]


def test_a_claim_that_changed_since_it_was_read_moves_all_the_same_and_keeps_the_change() -> None:
    yard = Yard(launched())
    yard.cluster.add(joined())
    before = yard.ledger.claims(CLUSTER)
    leaving = begin(before[0], "spot-interruption", NOW)
    assert leaving is not None
    yard.ledger.start_retirements(CLUSTER, [leaving], None)
    registrar = Registrar(yard.ledger, yard.fleet, yard.observer)
    assert registrar.advance(CLUSTER, yard.cluster, before, yard.cluster.read().nodes) == 1
    (after,) = yard.ledger.claims(CLUSTER)
    assert (after.state, after.retirement is not None) == (ClaimState.INITIALIZED, True)


@pytest.mark.parametrize(
    ("others", "registered", "initialized"),
    [(ClaimState.REGISTERED, 0, 1), (ClaimState.INITIALIZED, 0, 0)],
)
def test_what_another_run_took_forward_meanwhile_is_told_by_that_run(
    others: ClaimState, registered: int, initialized: int
) -> None:
    yard = Yard(launched())
    yard.cluster.add(joined())
    before = yard.ledger.claims(CLUSTER)
    yard.ledger.save_claim(CLUSTER, replace(before[0], state=others, node_name="n-0"))
    registrar = Registrar(yard.ledger, yard.fleet, yard.observer)
    assert registrar.advance(CLUSTER, yard.cluster, before, yard.cluster.read().nodes) == initialized
    assert yard.states == [ClaimState.INITIALIZED]
    assert (len(yard.observer.registrations), len(yard.observer.initializations)) == (registered, initialized)


def test_an_instance_ec2_does_not_show_yet_is_named_by_the_next_run() -> None:
    yard = Yard(launched())
    yard.cluster.add(joined())
    instance = yard.fleet.instances.pop("i-0")
    assert yard.advance() == 0
    yard.fleet.instances["i-0"] = instance
    assert yard.advance() == 1
    assert instance.id in yard.fleet.instances


def test_an_initialized_node_stays_so_when_it_is_not_ready_for_a_while() -> None:
    yard = Yard(launched(state=ClaimState.INITIALIZED, node_name="n-0"))
    yard.cluster.add(joined(ready=False))
    assert yard.advance() == 0
    assert yard.states == [ClaimState.INITIALIZED]
