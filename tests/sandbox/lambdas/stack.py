"""Small stacks for these tests: a hand-written cloud assembly, deployed to moto under the same template."""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.lambdas.deployed import client
from sandbox.lambdas.outcome import Json

REGION = "eu-west-1"
BUCKET = "assets"


@dataclass(frozen=True, slots=True)
class Stack:
    """A cloud assembly on disk."""

    name: str
    cdk_out: Path
    template: Json


def function(code: str, *, environment: Mapping[str, Json] | None = None, **properties: Json) -> Json:
    """A function resource with its source text in place of an asset; `synthesize` makes the asset."""
    variables = {} if environment is None else {"Environment": {"Variables": dict(environment)}}
    return {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            "Code": code,
            "Handler": "handler.handler",
            "Role": {"Fn::GetAtt": ["Role", "Arn"]},
            "Runtime": "python3.13",
            "Timeout": 20,
            **variables,
            **properties,
        },
    }


def queue(**properties: Json) -> Json:
    return {"Type": "AWS::SQS::Queue", "Properties": {"VisibilityTimeout": 30, **properties}}


def mapping(function_id: str, queue_id: str, **properties: Json) -> Json:
    return {
        "Type": "AWS::Lambda::EventSourceMapping",
        "Properties": {
            "FunctionName": {"Ref": function_id},
            "EventSourceArn": {"Fn::GetAtt": [queue_id, "Arn"]},
            **properties,
        },
    }


def rule(*targets: Json, **properties: Json) -> Json:
    numbered = [{"Id": f"Target{number}", **target} for number, target in enumerate(targets)]
    return {"Type": "AWS::Events::Rule", "Properties": {"State": "ENABLED", "Targets": numbered, **properties}}


def arn_of(logical_id: str) -> Json:
    return {"Fn::GetAtt": [logical_id, "Arn"]}


def http_api(function_id: str, *route_keys: str, **stage: Json) -> dict[str, Json]:
    """An HTTP API as CDK writes it: each route's target joins the integration's name."""
    integration = {
        "ApiId": {"Ref": "Api"},
        "IntegrationType": "AWS_PROXY",
        "IntegrationUri": arn_of(function_id),
        "PayloadFormatVersion": "2.0",
    }
    resources: dict[str, Json] = {
        "Api": {"Type": "AWS::ApiGatewayV2::Api", "Properties": {"Name": "api", "ProtocolType": "HTTP"}},
        "Integration": {"Type": "AWS::ApiGatewayV2::Integration", "Properties": integration},
        "Stage": {
            "Type": "AWS::ApiGatewayV2::Stage",
            "Properties": {"ApiId": {"Ref": "Api"}, "StageName": "$default", "AutoDeploy": True, **stage},
        },
    }
    for number, key in enumerate(route_keys):
        target = {"Fn::Join": ["", ["integrations/", {"Ref": "Integration"}]]}
        properties = {"ApiId": {"Ref": "Api"}, "RouteKey": key, "Target": target}
        resources[f"Route{number}"] = {"Type": "AWS::ApiGatewayV2::Route", "Properties": properties}
    return resources


def synthesize(folder: Path, name: str, resources: Mapping[str, Json]) -> Stack:
    """Write the assembly that `cdk synth` would: manifest, template, assets, one folder per function."""
    folder.mkdir(parents=True, exist_ok=True)
    template = {"Resources": {"Role": _role(), **{key: dict(resource) for key, resource in resources.items()}}}
    files = {}
    for key, resource in template["Resources"].items():
        if resource["Type"] == "AWS::Lambda::Function":
            asset, object_key = f"asset.{key}", f"{name}-{key}.zip"
            (folder / asset).mkdir()
            (folder / asset / "handler.py").write_text(resource["Properties"]["Code"])
            code = {"S3Bucket": BUCKET, "S3Key": object_key}
            resource["Properties"] = {**resource["Properties"], "Code": code}
            files[key] = _asset(asset, object_key)
    (folder / f"{name}.template.json").write_text(json.dumps(template))
    (folder / f"{name}.assets.json").write_text(json.dumps({"files": files}))
    artifact = {"type": "aws:cloudformation:stack", "properties": {"templateFile": f"{name}.template.json"}}
    (folder / "manifest.json").write_text(json.dumps({"artifacts": {name: artifact}}))
    return Stack(name, folder, template)


def deploy(stack: Stack, endpoint: str) -> None:
    """Create the stack at the endpoint, assets first."""
    s3 = client("s3", endpoint, REGION)
    for asset in json.loads((stack.cdk_out / f"{stack.name}.assets.json").read_text())["files"].values():
        body = _zip(stack.cdk_out / asset["source"]["path"])
        for destination in asset["destinations"].values():
            s3.put_object(Bucket=BUCKET, Key=destination["objectKey"], Body=body)
    cloudformation = client("cloudformation", endpoint, REGION)
    cloudformation.create_stack(StackName=stack.name, TemplateBody=json.dumps(stack.template))


def _asset(path: str, object_key: str) -> Json:
    destination = {"bucketName": BUCKET, "objectKey": object_key}
    return {"source": {"path": path, "packaging": "zip"}, "destinations": {"current": destination}}


def _role() -> Json:
    principal = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "lambda.amazonaws.com"}}
    document = {"Version": "2012-10-17", "Statement": [principal]}
    return {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": document}}


def _zip(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in folder.iterdir():
            archive.writestr(path.name, path.read_bytes())
    return buffer.getvalue()
