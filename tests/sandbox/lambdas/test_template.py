import json
from pathlib import Path

import pytest

from sandbox.lambdas.interpreter import Runtime
from sandbox.lambdas.intrinsics import UnreadableTemplateError, referenced
from sandbox.lambdas.outcome import Json
from sandbox.lambdas.specs import QueueSource, Route, Throttle
from sandbox.lambdas.template import read_assembly
from tests.sandbox.lambdas.stack import Stack, arn_of, function, http_api, mapping, queue, rule, synthesize

CODE = "def handler(event, context):\n    return None\n"


def test_everything_that_wakes_a_function_is_read(tmp_path: Path) -> None:
    settings = {"DefaultRouteSettings": {"ThrottlingRateLimit": 1000, "ThrottlingBurstLimit": 2000}}
    partial = {"FunctionResponseTypes": ["ReportBatchItemFailures"], "MaximumBatchingWindowInSeconds": 2}
    resources = {
        "Retire": function(CODE, Timeout=30, MemorySize=512, RecursiveLoop="Allow", environment={"TABLE": "t"}),
        "Queue": queue(),
        "Map": mapping("Retire", "Queue", BatchSize=5, ScalingConfig={"MaximumConcurrency": 2}, **partial),
        "Minute": rule({"Arn": arn_of("Retire")}, ScheduleExpression="rate(1 minute)"),
        **http_api("Retire", "POST /v1/clusters/{cluster}/{token}", **settings),
    }
    assembly = read_assembly(synthesize(tmp_path, "App", resources).cdk_out, "App")
    spec = assembly.functions["Retire"]
    assert (spec.handler, spec.timeout_seconds, spec.memory_mb) == ("handler.handler", 30, 512)
    assert spec.recursive_loop_allowed
    assert spec.environment == {"TABLE": "t"}
    assert spec.code_dir == tmp_path / "asset.Retire"
    assert assembly.queue_sources == (
        QueueSource("Map", "Retire", "Queue", 5, partial_batch=True, window_seconds=2, maximum_concurrency=2),
    )
    assert assembly.queues == {"Queue"}
    assert assembly.rules[0].schedule == "rate(1 minute)"
    assert assembly.rules[0].targets[0].resource == "Retire"
    assert assembly.routes == (Route("POST", "/v1/clusters/{cluster}/{token}", "Retire"),)
    assert assembly.throttle == Throttle(1000.0, 2000)


def test_a_functions_recursion_is_guarded_unless_the_template_allows_it(tmp_path: Path) -> None:
    resources = {"Plain": function(CODE), "Ended": function(CODE, RecursiveLoop="Terminate")}
    assembly = read_assembly(synthesize(tmp_path, "App", resources).cdk_out, "App")
    assert [spec.recursive_loop_allowed for spec in assembly.functions.values()] == [False, False]


def test_functions_that_are_not_python_are_left_alone(tmp_path: Path) -> None:
    resources = {"Provider": function(CODE, Runtime="nodejs24.x"), "Ours": function(CODE)}
    assert set(read_assembly(synthesize(tmp_path, "App", resources).cdk_out, "App").functions) == {"Ours"}


def test_layers_are_read_in_their_order_and_one_with_distributions_gives_way_to_the_local_build(tmp_path: Path) -> None:
    layers = {name: {"Type": "AWS::Lambda::LayerVersion", "Properties": _content(name)} for name in ("Core", "Locked")}
    resources = {"Ours": function(CODE, Layers=[{"Ref": "Locked"}, {"Ref": "Core"}]), **layers}
    stack = synthesize(tmp_path, "App", resources)
    _add_asset(stack, "Core", "nodewright/__init__.py")
    _add_asset(stack, "Locked", "numpy-2.4.6.dist-info/METADATA")
    spec = read_assembly(stack.cdk_out, "App").functions["Ours"]
    assert spec.layer_dirs == (tmp_path / "asset.Locked", tmp_path / "asset.Core")
    runtime = Runtime(Path("python"), "3.13", dependencies=tmp_path / "built")
    assert [runtime.layer(layer) for layer in spec.layer_dirs] == [
        (tmp_path / "built",),
        (tmp_path / "asset.Core/python",),
    ]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({"Ref": "Queue"}, "Queue"),
        ({"Fn::GetAtt": ["Queue", "Arn"]}, "Queue"),
        ({"Fn::GetAtt": "Queue.Arn"}, "Queue"),
        ({"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":x/", {"Ref": "Queue"}]]}, "Queue"),
        ({"Fn::Sub": "arn:${AWS::Partition}:${Queue.Arn}/invocations"}, "Queue"),
        ({"Fn::Sub": ["${part}/x", {"part": {"Ref": "Queue"}}]}, "Queue"),
    ],
)
def test_a_reference_is_found_in_every_intrinsic(value: Json, wanted: str) -> None:
    assert referenced(value, "here") == wanted


@pytest.mark.parametrize("value", ["plain", {"Ref": "AWS::Region"}, [{"Ref": "A"}, {"Ref": "B"}], None])
def test_what_is_not_one_reference_is_refused_with_its_place(value: Json) -> None:
    with pytest.raises(UnreadableTemplateError, match=r"^Map\.EventSourceArn: expected"):
        referenced(value, "Map.EventSourceArn")


@pytest.mark.parametrize(
    ("resources", "words"),
    [
        ({"Map": mapping("Ours", "Nowhere")}, "Map.EventSourceArn: Nowhere is not in the template"),
        ({"Map": mapping("Ours", "Ours")}, "Map.EventSourceArn: Ours is AWS::Lambda::Function"),
        ({"Queue": queue(), "Map": mapping("Ours", "Queue", FilterCriteria={})}, "Map.FilterCriteria"),
        ({"Rule": rule(EventBusName="own")}, "Rule.EventBusName"),
        (
            {"Js": function(CODE, Runtime="nodejs24.x"), "Rule": rule({"Arn": arn_of("Js")})},
            "Rule.Targets.Target0.Arn: Js is not a Python function",
        ),
        ({"Rule": rule({"Arn": {"Ref": "Topic"}}), "Topic": {"Type": "AWS::SNS::Topic"}}, "Rule.Targets.Target0.Arn"),
        ({"Ours": function(CODE, Timeout={"Ref": "T"})}, "Ours.Timeout: expected a whole number"),
        ({"Ours": function(CODE, Layers=["arn:aws:lambda:x"])}, "Ours.Layers"),
    ],
)
def test_what_cannot_be_honoured_is_refused_with_resource_and_property(
    resources: dict[str, Json], words: str, tmp_path: Path
) -> None:
    stack = synthesize(tmp_path, "App", {"Ours": function(CODE), **resources})
    with pytest.raises(UnreadableTemplateError) as caught:
        read_assembly(stack.cdk_out, "App")
    assert words in str(caught.value)


def test_an_integration_of_another_payload_format_is_refused(tmp_path: Path) -> None:
    api = http_api("Ours", "GET /")
    api["Integration"]["Properties"]["PayloadFormatVersion"] = "1.0"
    stack = synthesize(tmp_path, "App", {"Ours": function(CODE), **api})
    with pytest.raises(UnreadableTemplateError, match=r"Integration: .*2\.0"):
        read_assembly(stack.cdk_out, "App")


def test_an_unknown_stack_is_an_error_that_lists_the_known(tmp_path: Path) -> None:
    stack = synthesize(tmp_path, "App", {})
    with pytest.raises(UnreadableTemplateError, match=r"no stack Other; it has \['App'\]"):
        read_assembly(stack.cdk_out, "Other")


def test_a_folder_that_is_no_assembly_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UnreadableTemplateError, match="cdk synth"):
        read_assembly(tmp_path, "App")


def _content(name: str) -> Json:
    return {"Content": {"S3Bucket": "assets", "S3Key": f"{name}.zip"}}


def _add_asset(stack: Stack, name: str, file: str) -> None:
    path = stack.cdk_out / f"asset.{name}" / "python" / file
    path.parent.mkdir(parents=True)
    path.write_text("")
    assets = stack.cdk_out / f"{stack.name}.assets.json"
    files = json.loads(assets.read_text())["files"]
    files[name] = {"source": {"path": f"asset.{name}"}, "destinations": {"here": {"objectKey": f"{name}.zip"}}}
    assets.write_text(json.dumps({"files": files}))
