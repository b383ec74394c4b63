import io
import json
import re
from decimal import Decimal
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from nodewright.cli.app import app
from nodewright.cli.plan_json import plan_document, plan_json
from nodewright.cli.plan_table import show_plan
from nodewright.wiring.planning import catalogue, plan_sources
from tests.scenarios.scenario import FOLDER, NOW

MANIFESTS = Path(__file__).parent / "manifests"
SEEDS = Path(__file__).parents[2] / "sandbox" / "seeds"
REFERENCE = FOLDER / "catalogues/reference.json"
POOL = """
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
"""
CLASS = """
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{tags: {a: b}}]
"""
WEB = """
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  template: {spec: {containers: [{name: c, resources: {requests: {cpu: 900m, memory: 256Mi}}}]}}
"""
HUGE = """
kind: Pod
metadata: {name: huge}
spec: {containers: [{name: c, resources: {requests: {cpu: 100}}}]}
"""
ON_THE_SMALL = "spec: {nodeSelector: {node.kubernetes.io/instance-type: x.s}, "
NODE = """
kind: Node
metadata: {name: n1, labels: {kubernetes.io/arch: amd64, kubernetes.io/os: linux}}
status: {capacity: {cpu: 1, memory: 1Gi, pods: 10}}
"""


def run(*arguments: object, standard_input: str = "") -> Result:
    return CliRunner().invoke(app, ["plan", *map(str, arguments)], standard_input)


def on_reference(*documents: str, output: str = "json") -> Result:
    return run("-f", "-", "--catalogue", REFERENCE, "-o", output, standard_input="---".join(documents))


def shown(*documents: str, terminal: bool = False, width: int = 80) -> str:
    stream = io.StringIO()
    content = io.BytesIO("---".join(documents).encode())
    planned = plan_sources(["-"], content, catalogue(REFERENCE, ""), NOW)
    show_plan(planned, Console(file=stream, force_terminal=terminal, width=width, no_color=True, highlight=False))
    return stream.getvalue()


def test_the_json_is_as_documented() -> None:
    result = on_reference(POOL, CLASS, WEB, HUGE, NODE)
    assert (result.exit_code, result.stderr) == (0, "")
    document = json.loads(result.stdout, parse_float=Decimal)
    message = document["unschedulable"][0].pop("message")
    why = document["launches"][0].pop("why")
    assert document == {
        "cost": 1,
        "bound": 1,
        "gapPercent": 0,
        "currency": "USD/h",
        "launches": [
            {
                "pool": "default",
                "instanceTypes": ["x.s"],
                "zones": ["a", "b", "c"],
                "capacityType": "on-demand",
                "price": 1,
                "nodes": [["default/web-1", "default/web-2"]],
            }
        ],
        "nominations": [{"node": "n1", "pods": ["default/web-0"]}],
        "unschedulable": [{"pod": "default/huge", "reason": "NoInstanceType"}],
        "warnings": [],
    }
    assert "lacks cpu" in message
    assert why == [
        "x.s at 1.00: the cheapest of 3 types that hold its pods",
        "next is x.m at 2.00 (+100.0 %)",
        "its pool sells no spot",
    ]


PREFERRING = """
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  affinity:
    nodeAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 5
          preference: {matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [z]}]}
  containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]
"""


def test_preferences_that_do_not_hold_are_told() -> None:
    document = json.loads(on_reference(POOL, CLASS, PREFERRING).stdout)
    assert document["preferences"] == [
        {
            "preference": "nodes with topology.kubernetes.io/zone In [z] (weight 5)",
            "pods": 1,
            "example": "default/p",
            "reason": "no node that is there or could be bought would do",
        }
    ]
    text = shown(POOL, CLASS, PREFERRING)
    assert "Preferences not kept" in text
    assert "default/p nodes with topology.kubernetes.io/zone In [z] (weight 5): no node that" in text


def test_prices_are_exact_decimals_and_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    offering = {"zone": "a", "capacityType": "on-demand", "price": 0.1}
    types = [{"name": "x", "capacity": {"cpu": 2, "memory": "4Gi"}, "offerings": [offering]}]
    path = tmp_path / "catalogue.json"
    path.write_text(json.dumps({"instanceTypes": types}))
    first, second = (
        run("-f", "-", "--catalogue", path, "-o", "json", standard_input=f"{POOL}---{CLASS}---{WEB}") for _ in range(2)
    )
    assert '"cost": 0.2,' in first.stdout
    assert first.stdout == second.stdout


def test_warnings_name_object_path_and_fix() -> None:
    document = json.loads(on_reference(POOL, WEB).stdout)
    (only,) = document["warnings"]
    assert (only["object"], only["path"]) == ("NodePool/default", "spec.template.spec.nodeClassRef.name")
    assert "add its manifest" in only["message"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-f", "nowhere.yaml"], "nodewright: nowhere.yaml: No such file or directory"),
        (["-f", "-"], "there is nothing to plan in - standard input: it is empty"),
        (["-f", MANIFESTS / "shop/06-web.yaml"], "there is no NodePool or Provisioner"),
        (["-f", MANIFESTS / "broken/tabs.yaml"], "tabs.yaml: line 4: a tab indents this line"),
        (["-f", MANIFESTS / "broken/wrong-types.yaml"], "add one with -f /"),
        (["-f", SEEDS / "one", "--region", "mars-north-1"], "no prices of region 'mars-north-1'"),
        (
            ["-f", SEEDS / "one", "--catalogue", MANIFESTS / "shop/values.yaml"],
            "missing required field `instanceTypes`",
        ),
        (["-f", SEEDS / "one", "-o", "xml"], "'xml' is not one of 'table', 'json'"),
        ([], "Missing option '--filename' / '-f'"),
    ],
)
def test_what_cannot_be_planned_is_one_sentence_and_exit_code_2(arguments: list[object], told: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert told in " ".join(re.sub("[│╭╮╰╯─]", " ", result.stderr).split())
    assert "Traceback" not in result.stderr


def test_the_table_tells_what_is_launched_where_it_goes_and_what_waits() -> None:
    text = shown(POOL, CLASS, WEB, HUGE, NODE)
    lines = text.splitlines()
    assert lines[0] == (
        "1 node to launch for 1.00 USD/h, about 730.00 USD a month; 1 pod fits on nodes that are there; "
        "1 pod can't be placed"
    )
    assert lines[1] == "Proven: no plan for these pods costs less."
    assert "Launch from pool default" in lines
    row = next(line for line in lines if "x.s" in line)
    assert row.split() == ["1", "x.s", "on-demand", "1.00", "a", "b", "c", "2", "web"]
    assert "  x.s at 1.00: the cheapest of 3 types that hold its pods; next is x.m at 2.00 (+100.0 %);" in text
    assert next(line for line in lines if line.startswith("n1")).split() == ["n1", "1", "web"]
    (waits,) = [line for line in lines if line.startswith("  1 huge: NoInstanceType: ")]
    assert waits.endswith("after DaemonSets")


def test_nothing_to_do_is_said() -> None:
    assert shown(POOL, CLASS).strip() == "No node to launch: no pod of the input waits for one"


def test_a_terminal_of_80_columns_is_never_overrun_and_nothing_is_cut() -> None:
    text = shown(POOL, WEB, HUGE, NODE, terminal=True)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert max(map(len, plain.splitlines())) <= 80
    assert "…" not in plain
    assert "class 'default' is not in the input, so it is planned as AL2023" in " ".join(plain.split())


def test_launches_of_one_kind_are_one_row_and_many_workloads_are_counted() -> None:
    pods = [
        HUGE.replace("huge", f"w{n}-0").replace("cpu: 100", "cpu: 1900m").replace("spec: {", ON_THE_SMALL)
        for n in range(9)
    ]
    text = shown(POOL, CLASS, *pods)
    (row,) = [line for line in text.splitlines() if "on-demand" in line]
    assert row.split()[:2] == ["9", "x.s"]
    assert "1 w0, 1 w1, 1 w2, 1 w3, 5 of 5 other workloads" in " ".join(shown(POOL, CLASS, *pods, width=200).split())


def test_workloads_of_several_namespaces_are_told_apart() -> None:
    other = WEB.replace("name: web", "name: web, namespace: shop")
    words = shown(POOL, CLASS, WEB, other, width=200).replace(",", "").split()
    assert {"default/web", "shop/web"} <= set(words)
    assert "web" not in words


def test_same_reasons_and_warnings_are_said_once() -> None:
    pods = [HUGE.replace("huge", name) for name in ("huge-0", "huge-1")]
    pools = [POOL, POOL.replace("name: default}\nspec", "name: second}\nspec")]
    text = shown(*pools, *pods)
    assert text.count("lacks cpu") == 2  # once a pool
    assert "  2 huge: NoInstanceType" in text
    assert "NodePool/default spec.template" in text


@pytest.mark.parametrize(("seed", "nodes"), [("one", 1), ("two", 2)])
def test_the_seeds_are_planned_whole_by_the_prices_of_the_region_whose_zones_they_name(seed: str, nodes: int) -> None:
    document = json.loads(run("-f", SEEDS / seed, "-o", "json").stdout)
    assert {zone[:-1] for launch in document["launches"] for zone in launch["zones"]} == {"ap-northeast-2"}
    assert document["unschedulable"] == []
    assert sum(len(launch["nodes"]) for launch in document["launches"]) == nodes


def test_manifests_of_another_region_are_told_which_to_choose() -> None:
    result = run("-f", SEEDS / "one", "--region", "us-east-1")
    assert result.exit_code == 0
    assert "are none of us-east-1" in result.stdout
    assert "choose another --region" in result.stdout


def test_broken_manifests_are_told_and_the_rest_is_planned() -> None:
    result = run("-f", MANIFESTS / "broken", "-o", "json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    placed = {pod for launch in document["launches"] for node in launch["nodes"] for pod in node}
    assert placed == {"default/healthy", "default/traps", "default/after-a-broken-document"}
    assert [each["pod"] for each in document["unschedulable"]] == ["default/absurd"]
    broken = {path.name for path in (MANIFESTS / "broken").iterdir()} - {"good.yaml"}
    told = {name for name in broken if any(name in each["object"] for each in document["warnings"])}
    assert told == broken


def test_the_document_is_what_is_printed() -> None:
    planned = plan_sources(["-"], io.BytesIO(f"{POOL}---{CLASS}---{WEB}".encode()), catalogue(REFERENCE, ""), NOW)
    assert json.loads(plan_json(planned), parse_float=Decimal) == plan_document(planned)


def test_help_says_what_is_read_and_what_the_exit_codes_mean() -> None:
    text = " ".join(run("--help").stdout.split())
    assert "Exit codes: 0 it is planned" in text
    assert "us-east-1" in text


def test_a_folder_of_twenty_manifests_is_planned_whole() -> None:
    document = json.loads(run("-f", MANIFESTS / "shop", "-o", "json").stdout)
    pods: dict[str, dict[str, object]] = {
        pod: launch for launch in document["launches"] for node in launch["nodes"] for pod in node
    }
    nominated = [pod for each in document["nominations"] for pod in each["pods"]]
    counts = {"api": 3, "postgres": 2, "reports": 8, "search": 2, "training": 1, "crm": 2}
    expected = {f"shop/{name}-{number}" for name, count in counts.items() for number in range(count)}
    assert {*pods, *nominated} == expected | {f"shop/web-{number}" for number in range(5)}  # one runs already
    assert [each["pod"] for each in document["unschedulable"]] == ["shop/billing-0"]
    assert {pods[f"shop/{name}-0"]["pool"] for name in ("reports", "training", "crm")} == {"batch", "gpu", "legacy"}
    assert pods["shop/postgres-0"]["zones"] == ["us-east-1b"]  # there its volume is
    assert [Path(each["object"]).name for each in document["warnings"]] == ["values.yaml", "legacy", "catalogue"]


SPREAD = """
kind: Deployment
metadata: {name: spread}
spec:
  replicas: 2
  selector: {matchLabels: {app: spread}}
  template:
    metadata: {labels: {app: spread}}
    spec:
      topologySpreadConstraints:
        - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule,
           labelSelector: {matchLabels: {app: spread}}}
      containers: [{name: c, resources: {requests: {cpu: 900m, memory: 256Mi}}}]
"""


def test_what_constraints_cost_is_told_when_asked() -> None:
    assert "constraintCosts" not in json.loads(on_reference(POOL, CLASS, SPREAD).stdout)
    documents = f"{POOL}---{CLASS}---{SPREAD}"
    asked = ("-f", "-", "--catalogue", REFERENCE, "--constraint-costs")
    document = json.loads(run(*asked, "-o", "json", standard_input=documents).stdout)
    assert document["constraintCosts"] == [
        {
            "subject": "Deployment default/spread",
            "constraint": "hostname spread",
            "pods": 2,
            "cost": 1,
            "unschedulable": 0,
        }
    ]
    assert document["constraintsSkipped"] == 0
    text = run(*asked, standard_input=documents).stdout
    assert "Deployment default/spread hostname spread (2 pods): +1.00 USD/h" in text


def test_a_rule_that_leaves_pods_waiting_has_no_price_but_names_them() -> None:
    selecting = HUGE.replace("spec: {", "spec: {nodeSelector: {topology.kubernetes.io/zone: z}, ").replace(
        "cpu: 100", "cpu: 1"
    )
    asked = ("-f", "-", "--catalogue", REFERENCE, "--constraint-costs")
    text = run(*asked, standard_input=f"{POOL}---{CLASS}---{selecting}---{WEB}").stdout
    assert (
        "Pod default/huge only nodes with topology.kubernetes.io/zone In [z] (1 pod): 1 pod would have a place without"
        " it, at the same price"
    ) in text


AHEAD = """
kind: ReplicaSet
metadata: {name: web, uid: u}
spec:
  replicas: 3
  template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1500m, memory: 256Mi}}}]}}
---
kind: Pod
metadata: {name: web-a, ownerReferences: [{kind: ReplicaSet, name: web, uid: u, controller: true}]}
spec: {containers: [{name: c, resources: {requests: {cpu: 1500m, memory: 256Mi}}}]}
"""
KEEPING = POOL.replace("{name: default}", "{name: default, annotations: {nodewright.dev/headroom: 'cpu=9,pods=2'}}", 1)
KEEPING += "  limits: {cpu: 14}\n"


def test_pods_that_arent_there_are_told_apart_in_json() -> None:
    document = json.loads(on_reference(KEEPING, CLASS, AHEAD).stdout, parse_float=Decimal)
    named = [name for launch in document["launches"] for node in launch.get("expected", ()) for name in node]
    assert sorted(named) == ["default/web-expected-0", "default/web-expected-1"]
    kept = [name for launch in document["launches"] for node in launch.get("headroom", ()) for name in node]
    assert kept == ["nodewright.dev/default-headroom-0"]
    assert [name for launch in document["launches"] for node in launch["nodes"] for name in node] == ["default/web-a"]
    assert document["unschedulable"] == document["nominations"] == []
    expected, headroom = document["expected"], document["headroom"]
    assert (expected["pods"], expected["bought"], expected["cost"], expected["unschedulable"]) == (2, 2, 2, [])
    assert (headroom["pods"], headroom["bought"], headroom["cost"], headroom["nominations"]) == (2, 1, 4, [])
    assert [each["reason"] for each in headroom["unschedulable"]] == ["LimitReached"]
    assert document["cost"] == 7


def test_a_pool_that_cannot_be_read_is_named_where_pods_wait_for_one() -> None:
    text = shown(
        POOL.replace("{name: default}", "{name: default, annotations: {nodewright.dev/limit-usd-per-hour: x}}", 1),
        CLASS,
        AHEAD,
        terminal=False,
        width=160,
    )
    assert "NoPool: no pool of the input can be used: NodePool/default can't be read; see Warnings" in text


def test_a_share_of_no_pods_is_told() -> None:
    text = shown(KEEPING.replace("cpu=9,pods=2", "10%"), CLASS, AHEAD, terminal=False, width=160)
    assert "nodewright.dev/headroom: 10% of what runs on the pool's nodes is nothing, so nothing is kept free" in text


def test_pods_that_arent_there_are_told_apart_in_the_table() -> None:
    text = shown(KEEPING, CLASS, AHEAD, terminal=False, width=160)
    assert "2 web expected" in text
    assert "1 of headroom" in text
    assert "  2 pods on new ones, which adds 2.00 USD/h" in text
    assert "  1 unit on new ones, which adds 4.00 USD/h, nothing is bought for 1 unit" in text
    assert "  LimitReached: " in text


def test_headroom_alone_is_something_to_launch() -> None:
    first, *_ = shown(KEEPING, CLASS).splitlines()
    assert first.startswith("1 node to launch for 4.00 USD/h")
    assert "no pod of the input" not in first


def test_the_proof_says_that_it_knows_not_every_rule() -> None:
    zones = SPREAD.replace("kubernetes.io/hostname", "topology.kubernetes.io/zone")
    assert "Proven, not counting every rule between pods: no plan for these pods costs less than 1.00 USD/h; gap" in (
        shown(POOL, CLASS, zones)
    )
