"""`nodewright status`: what is in use against what may be, and what isn't bought, as a person and a program see it."""

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console
from typer.testing import CliRunner

from nodewright.adapters.memory import InMemoryLedger
from nodewright.application.errors import NotFoundError, UnreachableError
from nodewright.application.ports import DecisionRecord, UnavailableOffering
from nodewright.application.standing import Standing, standing
from nodewright.cli.app import app
from nodewright.cli.status_json import status_json
from nodewright.cli.status_tables import show_status
from nodewright.domain.claims import ClaimState, LaunchRecord
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.limits import PRICE, Limits
from nodewright.domain.pools import NodePool
from nodewright.domain.quantities import Resources
from nodewright.domain.retiring import begin
from nodewright.domain.set_aside import ShapeAside
from nodewright.domain.usage import node_usage
from tests.application.world import CLUSTER, connected
from tests.builders import claim, pool

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=10)
HALF_A_DOLLAR = 500_000_000
CAPACITY = Resources({"cpu": 2000, "memory": 8 << 30})
POOLS = (
    pool("default", limits=Limits({"cpu": 4000, "nvidia.com/gpu": 8})),
    pool("other", limits=Limits({"nodes": 0})),
)


@pytest.fixture
def ledger() -> InMemoryLedger:
    """Two nodes at the limit of their pool, one of them leaving."""
    ledger = InMemoryLedger()
    ledger.put_cluster(connected(limit_usd_per_hour=4 * HALF_A_DOLLAR))
    counts = node_usage(CAPACITY, HALF_A_DOLLAR)
    stays, leaves = (claim(each, node_name=f"node-{each}", price=HALF_A_DOLLAR, counts=counts) for each in "ab")
    going = begin(leaves, "spot-interruption", NOW, deadline=NOW + timedelta(minutes=2))
    assert going is not None
    ledger.reserve(CLUSTER, 0, LaunchRecord("launch", ("a", "b"), "", NOW, NOW), [stays, going])
    return ledger


def looked(ledger: InMemoryLedger, pools: Sequence[NodePool] = POOLS) -> Standing:
    return standing(ledger, CLUSTER, lambda _: pools, NOW)


def unreachable(_: ConnectedCluster) -> tuple[NodePool, ...]:
    raise UnreachableError("prod: https://k8s.example doesn't answer")


def shown(what: Standing) -> list[str]:
    """Its lines, as words without frames."""
    console = Console(file=io.StringIO(), width=160)
    show_status(what, console)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    return [" ".join(line.translate(str.maketrans("│┃", "  ")).split()) for line in lines]


def test_a_pool_shows_what_is_in_use_of_each_limit_and_what_is_not_limited(ledger: InMemoryLedger) -> None:
    lines = shown(looked(ledger))
    assert "default nodes 2 -" in lines
    assert "cpu 4 4 100%" in lines
    assert "memory 16Gi -" in lines
    assert "nvidia.com/gpu 0 8 0%" in lines


def test_a_limit_of_nothing_is_a_limit(ledger: InMemoryLedger) -> None:
    assert "other nodes 0 0 100%" in shown(looked(ledger))


def test_the_whole_cluster_shows_what_it_costs_against_its_ceiling(ledger: InMemoryLedger) -> None:
    lines = shown(looked(ledger))
    assert lines[0] == f"{CLUSTER}: 2 nodes, 1.00 USD/h"
    assert "all pools nodes 2 -" in lines
    assert "USD/h 1.00 2.00 50%" in lines


def test_a_pool_that_is_gone_shows_its_nodes_still(ledger: InMemoryLedger) -> None:
    lines = shown(looked(ledger, POOLS[1:]))
    assert "default nodes 2 ?" in lines


def test_a_cluster_that_does_not_answer_is_shown_without_limits_of_pools(ledger: InMemoryLedger) -> None:
    lines = shown(standing(ledger, CLUSTER, unreachable, NOW))
    assert "default nodes 2 ?" in lines
    assert "USD/h 1.00 2.00 50%" in lines
    assert lines[-1] == "limits of pools are not known: prod: https://k8s.example doesn't answer"


def test_a_node_that_leaves_says_why_and_how_far_it_is(ledger: InMemoryLedger) -> None:
    lines = shown(looked(ledger))
    assert "node-a launched default x.s a on-demand 0.50" in lines
    assert "node-b leaving: spot-interruption, taint default x.s a on-demand 0.50" in lines


def test_what_is_not_bought_now_says_until_when(ledger: InMemoryLedger) -> None:
    ledger.save_shape_aside(CLUSTER, ShapeAside("ab12", 3, 4, NOW, LATER, "Insufficient memory.", "shop/cart-0"))
    ledger.save_shape_aside(CLUSTER, ShapeAside("over", 3, 4, NOW, NOW, "long ago", "shop/fine-0"))
    ledger.mark_unavailable([UnavailableOffering("m5.large", "a", "spot", "InsufficientInstanceCapacity", LATER)])
    lines = shown(looked(ledger))
    assert "shop/cart-0 4 2026-11-30 12:10:00 Insufficient memory." in lines
    assert "m5.large a spot 2026-11-30 12:10:00 InsufficientInstanceCapacity" in lines
    assert "long ago" not in "".join(lines)


def test_words_of_others_are_shown_as_they_are(ledger: InMemoryLedger) -> None:
    """Not read as rich's markup."""
    ledger.record_decision(CLUSTER, DecisionRecord("1", NOW, "provision", "no node for [red]x[/red]", {}))
    assert "2026-11-30 12:00:00 provision no node for [red]x[/red]" in shown(looked(ledger))


def test_a_cluster_that_is_left_alone_says_so(ledger: InMemoryLedger) -> None:
    ledger.put_cluster(replace(connected(), paused=True, unreachable_until=LATER))
    assert shown(looked(ledger))[0].endswith(
        "; paused; its API server didn't answer: left alone until 2026-11-30 12:10:00"
    )


def test_programs_get_quantities_and_prices_as_they_are_written_elsewhere(ledger: InMemoryLedger) -> None:
    ledger.save_shape_aside(CLUSTER, ShapeAside("ab12", 3, 4, NOW, LATER, "no", "shop/cart-0"))
    told = json.loads(json.dumps(status_json(looked(ledger))))
    assert [each["name"] for each in told["pools"]] == ["default", "other"]
    assert told["pools"][0] == {
        "name": "default",
        "inUse": {"cpu": "4", "memory": "16Gi", "nodes": "2", "usdPerHour": "1.00"},
        "limits": {"cpu": "4", "nvidia.com/gpu": "8"},
    }
    assert told["limits"] == {"usdPerHour": "2.00"}
    assert told["inUse"]["usdPerHour"] == "1.00"
    assert told["setAside"][0]["until"] == "2026-11-30T12:10:00+00:00"
    assert [each["retirement"] and each["retirement"]["reason"] for each in told["claims"]] == [
        None,
        "spot-interruption",
    ]


def test_limits_that_are_not_known_are_null_for_programs_with_the_reason(ledger: InMemoryLedger) -> None:
    told = status_json(standing(ledger, CLUSTER, unreachable, NOW))
    assert told["limitsUnknown"] == "prod: https://k8s.example doesn't answer"
    assert [each["limits"] for each in told["pools"]] == [None]  # type: ignore[attr-defined]


def test_a_cluster_that_is_not_connected_is_an_error() -> None:
    with pytest.raises(NotFoundError, match="nodewright connect prod"):
        standing(InMemoryLedger(), "prod", lambda _: (), NOW)


@pytest.fixture
def run(ledger: InMemoryLedger, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    """The command, on this ledger in place of a stack's."""
    monkeypatch.setattr("nodewright.cli.status.standings", lambda *_: (looked(ledger),))
    return CliRunner()


def test_json_has_each_cluster_by_its_name(run: CliRunner) -> None:
    told = json.loads(run.invoke(app, ["status", "--output", "json"]).output)
    assert len(told[CLUSTER]["claims"]) == 2


def test_without_more_it_is_for_people(run: CliRunner) -> None:
    assert f"{CLUSTER}: 2 nodes, 1.00 USD/h" in run.invoke(app, ["status"]).output


@pytest.mark.parametrize("options", [["--output", "yaml"], ["--kubeconfig", __file__]])
def test_what_it_can_not_do_is_refused_with_the_option(run: CliRunner, options: list[str]) -> None:
    result = run.invoke(app, ["status", *options])
    assert (result.exit_code, options[0] in result.output) == (2, True)


def test_states_are_those_of_claims_that_stay(ledger: InMemoryLedger) -> None:
    assert {each.state for each in looked(ledger).claims} == {ClaimState.LAUNCHED}
    assert PRICE not in json.dumps(status_json(looked(ledger)))
