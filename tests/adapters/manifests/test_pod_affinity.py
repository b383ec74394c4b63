import pytest

from nodewright.adapters.manifests.pods import read_pod
from nodewright.domain.topology import PodAffinityTerm
from tests.adapters.manifests.raw import Json, pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
HOSTNAME = "kubernetes.io/hostname"
WEB: Json = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "web"}}}


def term(labels: Json | None = None, **changes: object) -> PodAffinityTerm:
    raw = {name: value for name, value in {**WEB, **changes}.items() if value is not None}
    affinity = {"podAntiAffinity": {REQUIRED: [raw]}}
    (read,) = read_pod(pod(metadata={"labels": labels or {}}, affinity=affinity)).anti_affinity
    return read


def takes(read: PodAffinityTerm, namespace: str = "shop", **labels: str) -> bool:
    return read.selector.selects(namespace, labels or {"app": "web"}, {"dev": {"team": "a"}, "prod": {"team": "b"}})


def test_all_four_kinds_of_terms_are_read() -> None:
    def weighted(weight: int, key: str) -> Json:
        return {"weight": weight, "podAffinityTerm": {**WEB, "topologyKey": key}}

    affinity = {
        "podAffinity": {REQUIRED: [{**WEB, "topologyKey": "a"}], PREFERRED: [weighted(3, "b")]},
        "podAntiAffinity": {REQUIRED: [{**WEB, "topologyKey": "c"}], PREFERRED: [weighted(100, "d")]},
    }
    read = read_pod(pod(affinity=affinity))
    assert [each.topology_key for each in read.affinity] == ["a"]
    assert [each.topology_key for each in read.anti_affinity] == ["c"]
    assert [(each.weight, each.term.topology_key) for each in read.preferences.affinity] == [(3, "b")]
    assert [(each.weight, each.term.topology_key) for each in read.preferences.anti_affinity] == [(100, "d")]


def test_older_names_of_a_topology_key_mean_the_same() -> None:
    assert term(topologyKey="failure-domain.beta.kubernetes.io/zone").topology_key == "topology.kubernetes.io/zone"


def test_an_absent_selector_selects_no_pod_and_an_empty_one_every_pod() -> None:
    assert not takes(term(labelSelector=None))
    assert takes(term(labelSelector={}), app="other")


@pytest.mark.parametrize(
    ("namespaces", "selector", "taken"),
    [
        (None, None, {"shop"}),
        ([], None, {"shop"}),
        (["dev"], None, {"dev"}),
        (None, {}, {"shop", "dev", "prod"}),
        (None, {"matchLabels": {"team": "a"}}, {"dev"}),
        (["shop"], {"matchLabels": {"team": "b"}}, {"shop", "prod"}),
        (None, {"matchLabels": {"kubernetes.io/metadata.name": "prod"}}, {"prod"}),
        (None, {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}, {"shop"}),
    ],
)
def test_which_namespaces_count(namespaces: list[str] | None, selector: Json | None, taken: set[str]) -> None:
    read = term(namespaces=namespaces, namespaceSelector=selector)
    assert {each for each in ("shop", "dev", "prod") if takes(read, each)} == taken


def test_label_keys_are_merged_with_the_pod_s_own_values() -> None:
    own: Json = {"hash": "new", "tenant": "a"}
    read = term(own, matchLabelKeys=["hash", "absent"], mismatchLabelKeys=["tenant"])
    assert takes(read, app="web", hash="new", tenant="b")
    assert takes(read, app="web", hash="new")
    assert not takes(read, app="web", hash="old", tenant="b")
    assert not takes(read, app="web", hash="new", tenant="a")


def test_other_tenants_than_its_own_are_those_that_have_another_value() -> None:
    """The example of KEP-3633: without Exists pods of no tenant would count too."""
    selector: Json = {"matchExpressions": [{"key": "tenant", "operator": "Exists"}]}
    read = term({"tenant": "a"}, labelSelector=selector, mismatchLabelKeys=["tenant"])
    assert takes(read, tenant="b")
    assert not takes(read, tenant="a")
    assert not takes(read, app="web")


def test_what_was_merged_at_creation_stays_though_the_label_changed() -> None:
    merged: Json = {"matchExpressions": [{"key": "tenant", "operator": "NotIn", "values": ["a"]}]}
    read = term({"tenant": "b"}, labelSelector=merged, mismatchLabelKeys=["tenant"])
    assert takes(read, tenant="b")
    assert not takes(read, tenant="a")


def test_label_keys_do_nothing_to_an_absent_selector() -> None:
    assert not takes(term({"hash": "new"}, labelSelector=None, matchLabelKeys=["hash"]), hash="new")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"topologyKey": ""}, ".topologyKey: it is empty; name a label of nodes"),
        ({"topologyKey": "no key"}, ".topologyKey: 'no key' is not a label key"),
        ({"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Lt"}]}}, ".labelSelector.matchExpress"),
        (
            {"namespaceSelector": {"matchLabels": {"a": "b c"}}},
            ".namespaceSelector.matchLabels: a: 'b c' is not a label",
        ),
    ],
)
@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
def test_what_kubernetes_would_refuse_is_a_problem_with_path_and_fix(changes: Json, says: str, kind: str) -> None:
    hard = read_pod(pod(affinity={kind: {REQUIRED: [{**WEB, **changes}]}}))
    soft = read_pod(pod(affinity={kind: {PREFERRED: [{"weight": 1, "podAffinityTerm": {**WEB, **changes}}]}}))
    assert hard.problems[0].startswith(f"spec.affinity.{kind}.{REQUIRED}[0]{says}")
    assert soft.problems[0].startswith(f"spec.affinity.{kind}.{PREFERRED}[0].podAffinityTerm{says}")


@pytest.mark.parametrize("weight", [-1, 0, 101])
def test_a_weight_out_of_range_is_a_problem(weight: int) -> None:
    affinity = {"podAffinity": {PREFERRED: [{"weight": weight, "podAffinityTerm": WEB}]}}
    (problem,) = read_pod(pod(affinity=affinity)).problems
    assert problem == (
        f"spec.affinity.podAffinity.{PREFERRED}[0].weight: {weight} is not possible; it must lie between 1 and 100"
    )
