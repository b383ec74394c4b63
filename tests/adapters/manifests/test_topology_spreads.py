import json

import pytest

from nodewright.adapters.manifests.pod_specs import PodSpecs
from nodewright.adapters.manifests.pods import read_pod, read_pods
from nodewright.domain.topology import TopologySpread
from tests.adapters.manifests.raw import Json, pod

ZONE = "topology.kubernetes.io/zone"
SOUND: Json = {
    "topologyKey": ZONE,
    "maxSkew": 1,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}


def spread(labels: Json | None = None, **changes: object) -> TopologySpread:
    raw = {name: value for name, value in {**SOUND, **changes}.items() if value is not None}
    (read,) = read_pod(pod(metadata={"labels": labels or {}}, topologySpreadConstraints=[raw])).spreads
    return read


def counts(read: TopologySpread, namespace: str = "shop", **labels: str) -> bool:
    return read.selector.selects(namespace, labels, {})


def test_a_constraint_says_least_by_default() -> None:
    read = spread()
    assert (read.topology_key, read.max_skew, read.min_domains, read.hard) == (ZONE, 1, 1, True)
    assert (read.honors_affinity, read.honors_taints) == (True, False)


def test_a_constraint_is_read_field_by_field() -> None:
    read = spread(maxSkew=3, minDomains=2, nodeAffinityPolicy="Ignore", nodeTaintsPolicy="Honor")
    assert (read.max_skew, read.min_domains, read.honors_affinity, read.honors_taints) == (3, 2, False, True)
    assert not spread(whenUnsatisfiable="ScheduleAnyway").hard


def test_older_names_of_a_topology_key_mean_the_same() -> None:
    assert spread(topologyKey="failure-domain.beta.kubernetes.io/zone").topology_key == ZONE


def test_it_counts_selected_pods_of_its_own_namespace() -> None:
    assert counts(spread(), app="web")
    assert not counts(spread(), app="api")
    assert not counts(spread(), "elsewhere", app="web")


@pytest.mark.parametrize("selector", [None, {}])
def test_without_a_selector_or_with_an_empty_one_nobody_counts(selector: Json | None) -> None:
    """Unlike in affinity an empty one counts nobody either: kube-scheduler's countPodsMatchSelector."""
    assert not counts(spread(labelSelector=selector), app="web")


def test_match_label_keys_select_the_pod_s_own_value_and_ignore_what_it_has_not() -> None:
    read = spread({"hash": "new"}, matchLabelKeys=["hash", "absent"])
    assert counts(read, app="web", hash="new")
    assert not counts(read, app="web", hash="old")


def test_match_label_keys_alone_make_an_empty_selector_count() -> None:
    read = spread({"hash": "new"}, labelSelector={}, matchLabelKeys=["hash"])
    assert counts(read, hash="new")
    assert not counts(read, hash="old")
    assert not counts(spread(labelSelector={}, matchLabelKeys=["hash"]), hash="old")
    assert not counts(spread({"hash": "new"}, labelSelector=None, matchLabelKeys=["hash"]), hash="new")


def test_what_the_api_server_merged_at_creation_stays_though_the_label_changed() -> None:
    merged = {"matchExpressions": [{"key": "hash", "operator": "In", "values": ["first"]}]}
    read = spread({"hash": "second"}, labelSelector=merged, matchLabelKeys=["hash"])
    assert counts(read, hash="first")
    assert not counts(read, hash="second")


def test_labels_of_pods_have_no_older_names() -> None:
    read = spread(labelSelector={"matchLabels": {"beta.kubernetes.io/arch": "x"}})
    assert read.selector.selects("shop", {"beta.kubernetes.io/arch": "x"}, {})
    assert not read.selector.selects("shop", {"kubernetes.io/arch": "x"}, {})


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"maxSkew": 0}, ".maxSkew: 0 is not possible; it must be at least 1"),
        ({"maxSkew": -3}, ".maxSkew: -3 "),
        ({"maxSkew": 10**12}, ".maxSkew: 1000000000000 "),
        ({"minDomains": 0}, ".minDomains: 0 "),
        ({"minDomains": 2, "whenUnsatisfiable": "ScheduleAnyway"}, ".minDomains: it needs whenUnsatisfiable"),
        ({"whenUnsatisfiable": "Perhaps"}, ".whenUnsatisfiable: 'Perhaps' is not known; use DoNotSchedule or"),
        ({"nodeAffinityPolicy": "Maybe"}, ".nodeAffinityPolicy: 'Maybe' is not known; use Honor or Ignore"),
        ({"nodeTaintsPolicy": "Maybe"}, ".nodeTaintsPolicy: 'Maybe' "),
        ({"topologyKey": ""}, ".topologyKey: it is empty"),
        ({"topologyKey": "x" * 10_000}, ".topologyKey: the key 'xxx"),
        (
            {"labelSelector": {"matchExpressions": [{"key": "app", "operator": "Gt", "values": ["1"]}]}},
            ".labelSelector.matchExpressions[0]: operator 'Gt' is not known; use one of In, NotIn",
        ),
        (
            {"labelSelector": {"matchExpressions": [{"key": "app", "operator": "In"}]}},
            ".labelSelector.matchExpressions[0]: 'app': In needs at least one value",
        ),
        (
            {"labelSelector": {"matchExpressions": [{"key": "app", "operator": "Exists", "values": ["1"]}]}},
            ".labelSelector.matchExpressions[0]: 'app': Exists takes no values",
        ),
        ({"labelSelector": {"matchLabels": {"app": "y" * 10_000}}}, ".labelSelector.matchLabels: app: the value 'yyy"),
        ({"labelSelector": {"matchLabels": {"a b": "c"}}}, ".labelSelector.matchLabels: 'a b' is not a label key"),
    ],
)
def test_what_kubernetes_would_refuse_is_a_problem_of_that_pod_with_path_and_fix(changes: Json, says: str) -> None:
    bad = pod(metadata={"name": "bad"}, topologySpreadConstraints=[SOUND, {**SOUND, **changes}])
    body = json.dumps({"items": [bad, pod()]}).encode()
    read, other = read_pods(body, PodSpecs()).items
    problem = next(each for each in read.problems if each.startswith("spec.topologySpreadConstraints[1]"))
    assert problem.startswith(f"spec.topologySpreadConstraints[1]{says}")
    assert len(problem) < 250
    assert other.problems == ()


def test_pods_of_one_template_share_a_reading_and_other_values_of_its_keys_do_not() -> None:
    raw = {**SOUND, "matchLabelKeys": ["hash"]}
    named = [
        pod(metadata={"name": str(i), "labels": {"hash": value, "i": str(i)}}, topologySpreadConstraints=[raw])
        for i, value in enumerate(("new", "new", "old"))
    ]
    first, second, third = read_pods(json.dumps({"items": named}).encode(), PodSpecs()).items
    assert first.spreads is second.spreads
    assert counts(third.spreads[0], app="web", hash="old")
