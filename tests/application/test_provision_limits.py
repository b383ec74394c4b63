"""Limits are hard and money has brakes, whoever else plans and whatever dies (architecture §4, rules 1 and 7)."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from nodewright.adapters.memory import InMemoryLedger
from nodewright.domain.claims import ClaimState, LaunchRecord, NodeClaim
from nodewright.domain.limits import NODES, PRICE, Limits, exceeded
from nodewright.domain.pools import NodePool
from nodewright.domain.quantities import Resources
from nodewright.domain.usage import NO_LIMITS, WHOLE_CLUSTER, node_usage, usage_of
from tests.application.killing import KilledError
from tests.application.provisioning import CPU, SMALL, SPOT, killed_at, world
from tests.application.world import CLUSTER, LEASE, PRICES, World, connected
from tests.builders import pod, pods, pool

#: A node of two cores for each pod: m5.large, at 0.04 on spot and 0.096 on demand.
HUNGRY: dict[str, Any] = {"cpu": "1500m", "memory": "1Gi"}
SPOT_LARGE = PRICES["m5.large"][1]
#: Room for two of them, by whatever is limited.
FOR_TWO = [Limits({"cpu": 5000}), Limits({NODES: 2}), Limits({PRICE: 2 * SPOT_LARGE})]


class WatchedLedger(InMemoryLedger):
    """Lets something happen before the next reservation, and sees every limit kept after each."""

    meanwhile: Callable[[], object] | None = None
    hides_usage = False

    def usage(self, cluster: str) -> Mapping[str, Resources]:
        return {} if self.hides_usage else super().usage(cluster)

    def reserve(
        self,
        cluster: str,
        epoch: int,
        launch: LaunchRecord,
        claims: Sequence[NodeClaim],
        limits: Mapping[str, Limits] = NO_LIMITS,
    ) -> None:
        act, self.meanwhile = self.meanwhile, None
        if act is not None:
            act()
        super().reserve(cluster, epoch, launch, claims, limits)
        for name, most in limits.items():
            assert exceeded(most, Resources(), self.usage(cluster)[name]) is None


def watched(*waiting: NodePool | object, **settings: object) -> tuple[World, WatchedLedger]:
    ledger = WatchedLedger()
    here = World(ledger=ledger)
    ledger.put_cluster(connected(**settings))
    here.cluster.add(*waiting)  # type: ignore[arg-type]
    return here, ledger


def limited(limits: Limits, name: str = "default", **changes: object) -> NodePool:
    return pool(name, (CPU, "In", "2"), limits=limits, **changes)


def assert_counted(here: World) -> None:
    """What is counted is what there is: each instance's capacity, itself, and its price."""
    assert here.ledger.usage(CLUSTER) == usage_of(here.claims)
    assert here.ledger.usage(CLUSTER)[WHOLE_CLUSTER][NODES] == len(here.running)
    for claim in here.claims:
        assert claim.counts == node_usage(claim.capacity, claim.price)


# ---- one planner


@pytest.mark.parametrize("limits", FOR_TWO, ids=str)
def test_no_more_is_bought_than_a_limit_allows_and_the_rest_is_told(limits: Limits) -> None:
    here, _ = watched(limited(limits), *pods(5, **HUNGRY))
    report = here.provision()
    assert (report.launched, report.unschedulable) == (2, 3)
    assert here.provision().launched == 0
    assert "LimitReached" in here.decided()
    assert_counted(here)


def test_what_a_pool_may_cost_is_told_in_money() -> None:
    here, _ = watched(limited(Limits({PRICE: SPOT_LARGE})), *pods(2, **HUNGRY))
    here.provision()
    assert "USD per hour 0.00 left, m6g.large takes 0.035" in here.decided()


def test_types_too_dear_for_what_is_left_are_not_asked_for() -> None:
    here, _ = watched(pool(limits=Limits({PRICE: 45_000_000})), pod(**HUNGRY))
    here.provision()
    (request,) = here.fleet.calls
    names = {override.instance_type for template in request.templates for override in template.overrides}
    assert "m5.large" in names
    assert not {name for name in names if PRICES[name][1] > 45_000_000}


def test_the_largest_that_might_come_is_reserved_and_what_did_not_come_is_given_back() -> None:
    here = world(*pods(2, cpu="900m"))
    killed_at(here, "InMemoryLedger.reserve")
    reserved = here.ledger.usage(CLUSTER)["default"]
    assert reserved[PRICE] == PRICES["c5.large"][1] > SPOT_LARGE
    here.wait_and_provision()
    assert here.ledger.usage(CLUSTER)["default"][PRICE] == SPOT_LARGE
    assert_counted(here)


def test_a_node_that_goes_makes_room_under_the_limit() -> None:
    here, _ = watched(limited(Limits({NODES: 1})), *pods(2, **HUNGRY))
    here.provision()
    here.fleet.terminate([here.running[0].id])
    here.ledger.save_claim(CLUSTER, replace(here.claims[0], state=ClaimState.GONE))
    assert here.provision().launched == 1
    assert_counted(here)


def test_a_spot_price_that_rises_on_the_way_passes_no_limit() -> None:
    here, ledger = watched(limited(Limits({PRICE: SPOT_LARGE})), pod(**HUNGRY))
    killed_at(here, "InMemoryFleet.launch")
    prices = [replace(p, nanos=2 * p.nanos) for p in here.ledger.catalogue().prices if p.capacity_type == "spot"]
    here.ledger.put_catalogue_part("spot", tuple(prices), here.clock.now())
    here.wait_and_provision()
    (claim,) = here.claims
    assert claim.price == 2 * SPOT_LARGE
    assert ledger.usage(CLUSTER)["default"][PRICE] == SPOT_LARGE


# ---- limits of the whole cluster


def test_pools_share_what_the_cluster_may_cost() -> None:
    here, ledger = watched(
        limited(Limits(), "a", labels={"team": "a"}),
        limited(Limits(), "b", labels={"team": "b"}),
        *pods(2, "a", selector={"team": "a"}, **HUNGRY),
        *pods(2, "b", selector={"team": "b"}, **HUNGRY),
        limit_usd_per_hour=3 * SPOT_LARGE,
    )
    here.provision()
    assert ledger.usage(CLUSTER)[WHOLE_CLUSTER][PRICE] == 3 * SPOT_LARGE
    assert len(here.running) == 3
    assert_counted(here)


def test_what_a_limit_refuses_is_planned_once_more_with_fresh_usage_and_told() -> None:
    here, _ = watched(
        limited(Limits(), "a", labels={"team": "a"}),
        limited(Limits(), "b", labels={"team": "b"}),
        *pods(2, "a", selector={"team": "a"}, **HUNGRY),
        *pods(2, "b", selector={"team": "b"}, **HUNGRY),
        limit_usd_per_hour=3 * SPOT_LARGE,
    )
    here.provision()
    assert len(here.observer.plans) == 2
    assert "the cluster has a limit of USD per hour 0.12" in here.problems()
    assert here.observer.brakes == []


def test_what_is_refused_again_and_again_is_planned_twice_and_left() -> None:
    """Usage that is wrong until reconcile counts anew: the planner's reading says there is room."""
    here, ledger = watched(limited(Limits({NODES: 3})), *pods(2, **HUNGRY))
    ledger.set_usage(CLUSTER, 0, {"default": Resources({NODES: 3})})
    ledger.hides_usage = True
    here.provision()
    assert (len(here.observer.plans), here.running) == (2, [])


# ---- two planners


@pytest.mark.parametrize("limits", FOR_TWO, ids=str)
@pytest.mark.parametrize("mine", [1, 2, 5])
def test_two_planners_at_once_never_pass_a_limit_together(limits: Limits, mine: int) -> None:
    here, ledger = watched(limited(limits), *pods(mine, **HUNGRY))

    def other_planner() -> None:
        here.cluster.add(*pods(2, "late", **HUNGRY))
        here.provision()

    ledger.meanwhile = other_planner
    here.provision()
    assert len(here.running) == 2
    assert_counted(here)


def test_two_planners_at_once_never_pass_what_the_cluster_may_cost() -> None:
    here, ledger = watched(SMALL, *pods(3, **HUNGRY), limit_usd_per_hour=2 * SPOT_LARGE)
    ledger.meanwhile = here.provision
    here.provision()
    assert len(here.running) == 2
    assert_counted(here)


# ---- stops


@pytest.mark.parametrize("calls", range(1, 25))
def test_killed_after_any_call_usage_is_that_of_the_claims(calls: int) -> None:
    here, _ = watched(limited(Limits({NODES: 3})), *pods(3, **HUNGRY))
    here.fleet.room = dict.fromkeys(SPOT, 1)
    here.fuse.renew(calls)
    with suppress(KilledError):
        here.provision()
    assert here.ledger.usage(CLUSTER) == usage_of(here.claims)
    here.wait_and_provision()
    assert len(here.running) == 3
    assert_counted(here)


def test_a_launch_that_is_refused_gives_everything_back() -> None:
    here = world(*pods(4, cpu="900m"), of=SMALL)
    killed_at(here, "InMemoryLedger.reserve")
    here.fleet.templates.clear()
    here.fuse.renew()
    here.later(LEASE)
    with suppress(KilledError):
        here.provision()
    assert_counted(here)


# ---- launches within an hour


def diverse(here: World, count: int) -> None:
    """As many launches as pods."""
    for number in range(count):
        name = f"team-{number}"
        here.cluster.add(pool(name, (CPU, "In", "2"), labels={"team": name}), pod(name, selector={"team": name}))


def test_beyond_so_many_launches_an_hour_buying_stops_aloud_and_goes_on_in_the_next() -> None:
    here, _ = watched(launches_per_hour=3)
    here.later(timedelta(minutes=58))
    diverse(here, 5)
    assert here.provision().launched == 3
    assert len(here.observer.plans) == 1
    assert [brake for _, brake, _ in here.observer.brakes] == ["launches-per-hour"]
    assert "launches per hour 3" in here.problems()
    assert "launches per hour 3" in here.decided()
    assert here.provision().launched == 0
    here.later(timedelta(minutes=3))
    assert here.provision().launched == 2
    assert_counted(here)
