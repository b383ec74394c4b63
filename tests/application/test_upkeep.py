"""Nodes nobody answers for: instances and claims without each other, nodes that never join, stale marks."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

from nodewright.adapters.memory import RecordedHints
from nodewright.application.errors import UnavailableError
from nodewright.application.orphans import Before
from nodewright.application.ports import Instance, Price
from nodewright.application.retirement_ports import NodeLedger
from nodewright.application.retirement_starts import RetirementStarts
from nodewright.application.upkeep import Upkeep
from nodewright.domain.claims import ClaimState, LaunchRecord, NodeClaim
from nodewright.domain.retirement import DISRUPTED, EXCLUDED
from nodewright.domain.retiring import begin
from tests.application.retiring import Yard
from tests.application.world import CLUSTER, STACK
from tests.builders import NOW, claim, node
from tests.domain.retirements import MINUTE, running

TAGS = {
    "nodewright.dev/stack": STACK,
    "eks:eks-cluster-name": CLUSTER,
    "nodewright.dev/launch": "l-9",
    "karpenter.sh/nodepool": "default",
    "karpenter.k8s.aws/ec2nodeclass": "general",
}


class Kept(Yard):
    """A yard that is looked after; its own claim's instance carries the cluster's tags too."""

    def __init__(self, *pods: object, **changes: object) -> None:
        super().__init__(*pods, **changes)  # type: ignore[arg-type]
        for name, instance in self.fleet.instances.items():
            self.fleet.instances[name] = replace(instance, tags={**TAGS, "nodewright.dev/launch": "l-0"})

    def keep(self) -> None:
        self.hints = RecordedHints()
        starts = RetirementStarts(cast(NodeLedger, self.ledger), self.hints, self.queue, self.clock)
        before = Before.read(self.ledger, CLUSTER)
        upkeep = Upkeep(cast(NodeLedger, self.ledger), self.fleet, starts, self.observer)
        upkeep.keep(CLUSTER, self.cluster, before, self.cluster.read().nodes, self.clock.now())

    def overtake(self, rival: Callable[[], object]) -> None:
        """Somebody else comes between reading a claim and storing its retirement, once."""
        start, left = self.ledger.start_retirements, iter((rival,))

        def overtaken(cluster: str, claims: Sequence[NodeClaim], epoch: int | None) -> tuple[NodeClaim, ...]:
            next(left, lambda: None)()
            return start(cluster, claims, epoch)

        self.ledger.start_retirements = overtaken  # type: ignore[method-assign]

    def stray(self, **changes: object) -> Instance:
        instance = Instance("i-stray", "x.s", "a", "spot", "running", "ami", NOW, TAGS)
        self.fleet.instances["i-stray"] = replace(instance, **changes)  # type: ignore[arg-type]
        return self.fleet.instances["i-stray"]

    def state(self, instance_id: str) -> str:
        return self.fleet.instances[instance_id].state

    def pass_minutes(self, minutes: int) -> None:
        self.clock.sleep(minutes * MINUTE)


def test_what_is_as_it_should_be_is_left_alone() -> None:
    yard = Kept(running("a"))
    yard.pass_minutes(60)
    yard.keep()
    assert yard.state("i-n") == "running"
    assert yard.claim.retirement is None
    assert yard.observer.problems == []


def test_an_instance_without_claim_or_node_is_ended_when_it_is_ten_minutes_old_and_not_before() -> None:
    yard = Kept()
    yard.stray()
    yard.pass_minutes(9)
    yard.keep()
    assert yard.state("i-stray") == "running"
    yard.pass_minutes(1)
    yard.keep()
    assert yard.state("i-stray") in {"shutting-down", "terminated"}
    assert yard.state("i-n") == "running"


def test_an_instance_whose_launch_is_not_settled_is_no_orphan() -> None:
    yard = Kept()
    yard.stray()
    record = LaunchRecord("l-9", ("l-9-00",), "", NOW, NOW)
    yard.ledger.reserve(CLUSTER, yard.ledger.epoch(CLUSTER), record, [])
    yard.pass_minutes(30)
    yard.keep()
    assert yard.state("i-stray") == "running"


def test_another_stacks_instance_is_never_touched() -> None:
    yard = Kept()
    yard.stray(tags={**TAGS, "nodewright.dev/stack": "somebody-else"})
    yard.pass_minutes(30)
    yard.keep()
    assert yard.state("i-stray") == "running"


def test_an_orphan_that_serves_as_a_node_is_adopted_and_then_counts() -> None:
    yard = Kept()
    yard.stray()
    yard.cluster.add(node("stray", provider_id="aws:///a/i-stray"))
    prices = (Price("x.s", "on-demand", "", 1000), Price("x.s", "spot", "b", 300), Price("x.s", "spot", "a", 400))
    for part, content in (("types", ()), ("offerings", {}), ("spot", prices)):
        yard.ledger.put_catalogue_part(part, content, NOW)
    yard.pass_minutes(11)
    yard.keep()
    adopted = yard.ledger.claim(CLUSTER, "adopted-i-stray")
    assert (adopted.state, adopted.instance_id, adopted.pool) == (ClaimState.LAUNCHED, "i-stray", "default")
    assert adopted.price == 400
    assert yard.ledger.owner("i-stray") == (CLUSTER, "adopted-i-stray")
    assert "adopted-i-stray" not in {launch.id for launch in yard.ledger.launches(CLUSTER)}
    yard.keep()
    assert yard.state("i-stray") == "running"
    assert len(yard.ledger.claims(CLUSTER)) == 2


def test_a_node_whose_claim_was_deleted_from_the_table_gets_it_back() -> None:
    yard = Kept()
    yard.stray()
    yard.cluster.add(node("stray", provider_id="aws:///a/i-stray"))
    reserved = claim("l-9-00", launch_id="l-9", state=ClaimState.RESERVED)
    record = LaunchRecord("l-9", ("l-9-00",), "", NOW, NOW)
    yard.ledger.reserve(CLUSTER, yard.ledger.epoch(CLUSTER), record, [reserved])
    came = replace(yard.ledger.claim(CLUSTER, "l-9-00"), state=ClaimState.LAUNCHED, instance_id="i-stray")
    yard.ledger.settle_launch(CLUSTER, "l-9", [came])
    yard.ledger.save_claim(CLUSTER, replace(yard.ledger.claim(CLUSTER, "l-9-00"), state=ClaimState.GONE))
    yard.pass_minutes(11)
    yard.keep()
    again = yard.ledger.claim(CLUSTER, "l-9-00")
    assert (again.state, again.instance_id) == (ClaimState.LAUNCHED, "i-stray")
    assert yard.ledger.owner("i-stray") == (CLUSTER, "l-9-00")


def test_a_claim_whose_instance_ec2_no_longer_knows_leaves_as_if_ec2_had_said_so() -> None:
    yard = Kept(running("a"))
    del yard.fleet.instances["i-n"]
    yard.pass_minutes(9)
    yard.keep()
    assert yard.claim.retirement is None, "EC2's lists lag, and its launch may have taken five minutes"
    yard.pass_minutes(1)
    yard.keep()
    assert yard.retirement.reason == "instance-gone"
    assert [(hint.duty, hint.urgent) for hint in yard.hints.sent] == [("provision", True)]


def test_an_instance_that_never_joins_is_ended_after_fifteen_minutes_with_a_hint_where_to_look() -> None:
    yard = Kept(state=ClaimState.LAUNCHED, node_name="")
    yard.pass_minutes(14)
    yard.keep()
    assert yard.claim.retirement is None
    yard.pass_minutes(1)
    yard.keep()
    assert yard.retirement.reason == "registration-timeout"
    assert any("console output" in message for _, _, message in yard.observer.problems)


def test_an_instance_that_joins_in_the_last_moment_serves() -> None:
    yard = Kept(state=ClaimState.LAUNCHED, node_name="")
    yard.pass_minutes(15)
    joined = replace(yard.claim, state=ClaimState.REGISTERED, node_name="n")
    yard.overtake(lambda: yard.ledger.save_claim(CLUSTER, joined))
    yard.keep()
    assert yard.claim.retirement is None
    assert yard.observer.problems == []


def test_what_somebody_else_ends_meanwhile_is_not_told_to_be_overdue() -> None:
    yard = Kept(state=ClaimState.LAUNCHED, node_name="")
    yard.pass_minutes(15)
    gone = begin(yard.claim, "instance-gone", yard.clock.now())
    assert gone is not None
    yard.overtake(lambda: yard.ledger.start_retirements(CLUSTER, [gone], None))
    yard.keep()
    assert yard.retirement.reason == "instance-gone"
    assert (yard.observer.problems, yard.queue.waiting) == ([], [])
    yard.pass_minutes(1)
    yard.redrive()
    assert [turn.claim_id for turn in yard.queue.waiting] == ["c"], "whoever began it may have died"


def test_a_mark_without_a_retirement_is_taken_off_once_nobody_can_be_at_work_any_more() -> None:
    yard = Kept(running("a"))
    yard.cluster.mark_node("n", DISRUPTED, {EXCLUDED: "true"})
    yard.ledger.set_last_run(CLUSTER, "disrupt", yard.clock.now())
    yard.pass_minutes(5)
    yard.keep()
    assert DISRUPTED in yard.node.taints
    yard.pass_minutes(2)
    yard.keep()
    assert DISRUPTED not in yard.node.taints
    assert EXCLUDED not in yard.node.labels


def test_one_dutys_trouble_keeps_no_other_from_being_done() -> None:
    yard = Kept(running("a"))
    yard.cluster.mark_node("n", DISRUPTED, {EXCLUDED: "true"})

    def throttled(cluster: str) -> tuple[Instance, ...]:
        raise UnavailableError(f"{cluster}: RequestLimitExceeded")

    yard.fleet.ours = throttled  # type: ignore[method-assign]
    yard.pass_minutes(10)
    yard.keep()
    assert DISRUPTED not in yard.node.taints
    assert [what for _, what, _ in yard.observer.problems] == ["orphans"]
