"""`nodewright explain` answers about one pod, node or pool of what it is given, or says what it can't find."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from nodewright.application.errors import NotFoundError
from nodewright.application.ports import DecisionRecord
from nodewright.cli.app import app

CATALOGUE = Path(__file__).parent.parent / "scenarios/catalogues/reference.json"
POOL = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
"""


def pod(name: str, cpu: str = "500m", namespace: str = "default", node: str = "") -> str:
    bound = f"nodeName: {node}, " if node else ""
    return f"""---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{{bound}containers: [{{name: app, image: app, resources: {{requests: {{cpu: {cpu}, memory: 64Mi}}}}}}]}}
"""


NODE = """---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {karpenter.sh/nodepool: default, topology.kubernetes.io/zone: a}}
status:
  allocatable: {cpu: 1930m, memory: 3Gi, pods: "30"}
  conditions: [{type: Ready, status: "True"}]
"""


def explain(*arguments: str, manifests: str = "", columns: int = 100) -> Result:
    command = ["explain", *arguments, "-f", "-", "--catalogue", str(CATALOGUE)]
    return CliRunner().invoke(app, command, input=POOL + manifests, env={"COLUMNS": str(columns)})


def test_a_pod_that_waits_is_told_what_fell_to_what_and_what_helps() -> None:
    result = explain("pod", "big", manifests=pod("big", cpu="9"))
    assert result.exit_code == 0
    lines = [line.strip() for line in result.output.splitlines()]
    assert lines == [
        "pod default/big waits",
        "reason      NoInstanceType",
        "asks for    cpu 9, memory 64Mi",
        "pool default: 4 instance types",
        "−4 size: cpu 9 is too much for 4",
        "✗ nearest: x.l lacks cpu 1090m after DaemonSets",
        "what helps  pool default: ask for at most cpu 7910m, or allow larger types in NodePool/default",
    ]


def test_a_pod_that_is_placed_is_told_where_and_why() -> None:
    result = explain("pod", "default/p", manifests=pod("p") + pod("q"))
    assert "pod default/p goes to new-1 (x.s of pool default), with 1 other" in result.output
    assert "−1 spared: 1 bare metal or accelerated: for pods that ask for such" in result.output


def test_as_json() -> None:
    result = explain("pod", "big", "--output", "json", manifests=pod("big", cpu="9"))
    told = json.loads(result.output)
    assert told["outcome"]["reason"] == "NoInstanceType"
    assert told["pools"][0]["fallen"] == [{"rule": "size", "count": 4, "detail": "cpu 9 is too much for 4"}]


@pytest.mark.parametrize(
    ("what", "name", "key", "value"),
    [
        ("node", "n1", "nominated", ["default/p"]),
        ("node", "new-1", "instanceTypes", ["x.m"]),
        (
            "pool",
            "default",
            "waitingPods",
            [{"rule": "size", "count": 1, "detail": "x.l lacks cpu 1090m after DaemonSets: default/big"}],
        ),
        ("pod", "p", "outcome", {"node": "n1", "otherPods": 0}),
        (
            "pod",
            "q",
            "outcome",
            {
                "newNode": "new-1",
                "otherPods": 0,
                "pool": "default",
                "instanceTypes": ["x.m"],
                "zones": ["a", "b", "c"],
                "capacityType": "on-demand",
                "price": 2,
            },
        ),
    ],
)
def test_everything_as_json(what: str, name: str, key: str, value: object) -> None:
    manifests = NODE + pod("p") + pod("q", cpu="3") + pod("big", cpu="9")
    assert json.loads(explain(what, name, "-o", "json", manifests=manifests).output)[key] == value


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize(
    "question", [("pod", "p"), ("pod", "q"), ("pod", "big"), ("node", "n1"), ("node", "new-1"), ("pool", "default")]
)
def test_every_answer_fits_the_terminal(question: tuple[str, str], columns: int) -> None:
    manifests = NODE + pod("p") + pod("q", cpu="3") + pod("big", cpu="9")
    result = explain(*question, manifests=manifests, columns=columns)
    assert result.exit_code == 0
    assert max(len(line.rstrip()) for line in result.output.splitlines()) <= columns


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            ("pod", "pp"),
            "(bound, finished and gated ones and those of DaemonSets don't); did you mean default/p?",
        ),
        (("pod", "twice"), "there are several pods twice; say which: default/twice, other/twice"),
        (("pod", "bound"), "pod bound runs on node n1; try: nodewright explain node n1"),
        (("node", "n2"), "there is no node n2; there are n1, new-1"),
        (("pool", "zzz"), "there is no pool zzz; there are default"),
    ],
)
def test_who_is_not_there_is_told_with_what_may_be_meant(question: tuple[str, str], told: str) -> None:
    manifests = NODE + pod("p") + pod("twice") + pod("twice", namespace="other") + pod("bound", node="n1")
    result = explain(*question, manifests=manifests)
    assert result.exit_code == 2
    assert told in result.stderr


def test_a_pod_of_another_scheduler_is_told_whose_it_is() -> None:
    theirs = pod("theirs").replace("spec: {", "spec: {schedulerName: batch, ")
    result = explain("pod", "theirs", manifests=theirs)
    assert result.exit_code == 2
    assert "pod theirs is not planned: spec.schedulerName: batch is another scheduler's" in result.stderr


DECIDED = DecisionRecord(
    "1",
    datetime(2026, 11, 30, 12, tzinfo=UTC),
    "provision",
    "",
    {"nominations": [{"node": "n1", "pods": ["default/p"]}]},
)


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> None:
    def decisions(_: str, cluster: str, __: int) -> tuple[DecisionRecord, ...]:
        if cluster != "prod":
            raise NotFoundError(cluster)
        return (DECIDED,)

    monkeypatch.setattr("nodewright.cli.explain.decisions", decisions)


def remembered(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["explain", *arguments], env={"COLUMNS": "80"})


@pytest.mark.usefixtures("connected")
def test_of_a_connected_cluster_its_decisions_are_told() -> None:
    result = remembered("pod", "p", "--cluster", "prod")
    assert result.output.split() == ["2026-11-30", "12:00:00", "provision", "goes", "to", "node", "n1"]
    as_json = remembered("node", "n1", "--cluster", "prod", "-o", "json")
    assert json.loads(as_json.output) == [
        {"time": "2026-11-30T12:00:00+00:00", "kind": "provision", "told": "gets default/p"}
    ]


@pytest.mark.usefixtures("connected")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("pod", "q", "--cluster", "prod"), "the last 1 decisions of prod don't name pod q"),
        (("pod", "q", "--cluster", "beta"), "cluster beta is not connected"),
        (("pod", "q"), "say what to look at: manifests (-f FILE) or a connected cluster (--cluster CLUSTER)"),
        (("pod", "q", "--cluster", "prod", "-f", "x"), "say what to look at"),
    ],
)
def test_what_cannot_be_remembered_is_told(arguments: tuple[str, ...], told: str) -> None:
    result = remembered(*arguments)
    assert result.exit_code == 2
    assert told in result.stderr


def test_what_was_wrong_with_a_pool_is_told_to_the_pod_that_finds_nothing_there() -> None:
    odd = POOL.replace("values: [on-demand]", "values: [free]")
    result = CliRunner().invoke(app, ["explain", "pod", "p", "-f", "-"], input=odd + pod("p"), env={"COLUMNS": "200"})
    assert "NodePool/default spec.template.spec.requirements[0].values: free is not known" in result.output


def test_a_pool_that_cannot_be_read_is_told_with_its_fault() -> None:
    odd = POOL.replace("name: default}\nspec", "name: odd}\nspec").replace(
        "key: karpenter.sh/capacity-type", "key: karpenter.sh/x"
    )
    result = explain("pool", "odd", manifests="---" + odd + pod("p"))
    assert result.exit_code == 2
    assert "pool odd is left out: NodePool/odd spec.template.spec.requirements[0].key: karpenter.sh/x" in result.stderr


def test_what_a_new_node_is_bought_for_that_is_not_there_is_told() -> None:
    owner = "ownerReferences: [{kind: ReplicaSet, name: web, uid: u, controller: true}]"
    there = pod("web-a", cpu="1500m").replace("name: web-a,", f"name: web-a, {owner},")
    template = "{spec: {containers: [{name: app, image: app, resources: {requests: {cpu: 1500m}}}]}}"
    workload = f"---\nkind: ReplicaSet\nmetadata: {{name: web, uid: u}}\nspec: {{replicas: 2, template: {template}}}\n"
    buffer = "---\napiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\nmetadata: {name: spare}\n"
    buffer += "spec: {scalableRef: {kind: ReplicaSet, name: web}, replicas: 1}\n"
    told = [explain("node", f"new-{n}", manifests=there + workload + buffer).output for n in (1, 2, 3)]
    assert "default/web-a" in told[0]
    assert any("  expected    default/web-expected-0" in each for each in told)
    assert any("  headroom    default/spare-headroom-0" in each for each in told)
    asked = [explain("node", f"new-{n}", "-o", "json", manifests=there + workload + buffer).stdout for n in (1, 2, 3)]
    documents = [json.loads(each) for each in asked]
    assert [name for each in documents for name in each.get("expected", [])] == ["default/web-expected-0"]
    assert [name for each in documents for name in each.get("headroom", [])] == ["default/spare-headroom-0"]
