import json

import pytest

from nodewright.adapters.manifests.pod_disruption_budgets import read_budgets
from nodewright.domain.pod_disruption_budgets import PodDisruptionBudget
from nodewright.domain.pods import PodKey
from tests.adapters.manifests.raw import Json
from tests.builders import pod


def read(
    selector: Json | None, status: Json | None = None, *, generation: int = 1, **spec: object
) -> PodDisruptionBudget:
    seen: Json = {"disruptionsAllowed": 1, "observedGeneration": 1, **(status or {})}
    raw: Json = {
        "metadata": {"name": "web", "namespace": "shop", "generation": generation},
        "spec": {"minAvailable": "50%", **({} if selector is None else {"selector": selector}), **spec},
        "status": seen,
    }
    (budget,) = read_budgets(json.dumps({"items": [raw]}).encode()).items
    return budget


def covers(budget: PodDisruptionBudget, namespace: str = "shop", **labels: str) -> bool:
    return budget.covers(pod(key=PodKey(namespace, "p"), labels=labels))


def test_a_budget_is_read_field_by_field() -> None:
    budget = read({"matchLabels": {"app": "web"}}, unhealthyPodEvictionPolicy="AlwaysAllow")
    assert (budget.namespace, budget.name, budget.disruptions_allowed) == ("shop", "web", 1)
    assert budget.always_allows_unhealthy
    assert not read({}, unhealthyPodEvictionPolicy="IfHealthyBudget").always_allows_unhealthy


def test_it_covers_pods_of_its_namespace_by_their_labels() -> None:
    budget = read({"matchLabels": {"app": "web"}})
    assert covers(budget, app="web")
    assert not covers(budget, app="other")
    assert not covers(budget)
    assert not covers(budget, "elsewhere", app="web")


@pytest.mark.parametrize(
    ("operator", "values", "covered"),
    [
        ("In", ["a", "b"], ["a"]),
        ("NotIn", ["a"], ["c", None]),
        ("Exists", None, ["a", "c"]),
        ("DoesNotExist", None, [None]),
    ],
)
def test_expressions_are_those_of_label_selectors(
    operator: str, values: list[str] | None, covered: list[str | None]
) -> None:
    """As labels.Selector: a pod without the label passes NotIn."""
    expression: Json = {"key": "tier", "operator": operator, **({"values": values} if values else {})}
    budget = read({"matchExpressions": [expression]})
    tiers = ("a", "c", None)
    assert [t for t in tiers if covers(budget, **({"tier": t} if t else {}))] == covered


def test_labels_and_expressions_hold_together() -> None:
    budget = read(
        {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["x"]}]}
    )
    assert covers(budget, app="web")
    assert not covers(budget, app="x")


def test_an_empty_selector_covers_all_and_an_absent_one_none() -> None:
    """policy/v1."""
    assert covers(read({}))
    assert not covers(read(None))
    assert not covers(read(None), app="web")


def test_until_its_controller_has_seen_the_latest_spec_it_allows_nothing() -> None:
    assert read({}, generation=2).disruptions_allowed == 0
    assert read({}, {"disruptionsAllowed": 0}).disruptions_allowed == 0
    raw: Json = {"metadata": {"name": "new", "namespace": "shop", "generation": 1}, "spec": {"selector": {}}}
    (new,) = read_budgets(json.dumps({"items": [raw]}).encode()).items
    assert new.disruptions_allowed == 0
