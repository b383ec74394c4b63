"""The synthesized cloud assembly, read into what runs, on which event, with which settings.

Nothing here is configured a second time: a property the sandbox cannot honour is an error, so sandbox and stack
cannot disagree in silence. Only Python functions are read; CDK's own custom-resource providers are not run here.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from sandbox.lambdas.intrinsics import UnreadableTemplateError, referenced, text, whole
from sandbox.lambdas.outcome import Json
from sandbox.lambdas.specs import Assembly, FunctionSpec, QueueSource, Route, Rule, Target, Throttle


def read_assembly(cdk_out: Path, stack: str) -> Assembly:
    """Read one stack of a cloud assembly; `stack` is its name or its artifact id in manifest.json."""
    template_file, assets_file = _artifact(cdk_out, stack)
    resources = _load(cdk_out / template_file)["Resources"]
    reader = _Reader(cdk_out, resources, _assets(cdk_out / assets_file))
    return Assembly(
        stack=stack,
        functions=reader.functions(),
        queue_sources=tuple(reader.queue_sources()),
        rules=tuple(reader.rules()),
        routes=tuple(reader.routes()),
        throttle=reader.throttle(),
        queues=frozenset(name for name, _ in reader.of("AWS::SQS::Queue")),
    )


class _Reader:
    def __init__(self, cdk_out: Path, resources: Mapping[str, Json], assets: Mapping[str, str]) -> None:
        self._cdk_out = cdk_out
        self._resources = resources
        self._assets = assets

    def of(self, resource_type: str) -> Iterator[tuple[str, Json]]:
        for name, resource in self._resources.items():
            if resource["Type"] == resource_type:
                yield name, resource.get("Properties", {})

    def functions(self) -> dict[str, FunctionSpec]:
        return {
            name: self._function(name, properties)
            for name, properties in self.of("AWS::Lambda::Function")
            if _runs_here(properties)
        }

    def _function(self, name: str, properties: Json) -> FunctionSpec:
        logging = properties.get("LoggingConfig", {})
        reserved = properties.get("ReservedConcurrentExecutions")
        return FunctionSpec(
            logical_id=name,
            handler=text(properties["Handler"], f"{name}.Handler"),
            code_dir=self._folder(properties["Code"], f"{name}.Code"),
            layer_dirs=tuple(self._layer(layer, f"{name}.Layers") for layer in properties.get("Layers", [])),
            timeout_seconds=whole(properties.get("Timeout", 3), f"{name}.Timeout"),
            memory_mb=whole(properties.get("MemorySize", 128), f"{name}.MemorySize"),
            recursive_loop_allowed=properties.get("RecursiveLoop", "Terminate") == "Allow",
            environment=properties.get("Environment", {}).get("Variables", {}),
            log_format=logging.get("LogFormat", "Text"),
            log_level=logging.get("ApplicationLogLevel"),
            reserved_concurrency=None if reserved is None else whole(reserved, f"{name}.ReservedConcurrentExecutions"),
        )

    def _layer(self, layer: Json, where: str) -> Path:
        name = referenced(layer, where)
        if name not in self._resources:
            raise UnreadableTemplateError(
                f"{where}: {name} is not a resource of this template; layers must be built by it"
            )
        return self._folder(self._resources[name]["Properties"]["Content"], f"{name}.Content")

    def _folder(self, code: Json, where: str) -> Path:
        key = text(code.get("S3Key"), f"{where}.S3Key")
        if key not in self._assets:
            raise UnreadableTemplateError(f"{where}: no file asset of the stack is published as {key}")
        folder = self._cdk_out / self._assets[key]
        if not folder.is_dir():
            raise UnreadableTemplateError(f"{where}: its asset {folder} is not a folder; synthesize code as folders")
        return folder

    def queue_sources(self) -> Iterator[QueueSource]:
        for name, properties in self.of("AWS::Lambda::EventSourceMapping"):
            if properties.get("Enabled", True) is False:
                continue
            if "FilterCriteria" in properties:
                raise UnreadableTemplateError(f"{name}.FilterCriteria: the sandbox filters no queue messages")
            limit = properties.get("ScalingConfig", {}).get("MaximumConcurrency")
            yield QueueSource(
                logical_id=name,
                function=self._known(properties["FunctionName"], f"{name}.FunctionName", "AWS::Lambda::Function"),
                queue=self._known(properties["EventSourceArn"], f"{name}.EventSourceArn", "AWS::SQS::Queue"),
                batch_size=whole(properties.get("BatchSize", 10), f"{name}.BatchSize"),
                partial_batch="ReportBatchItemFailures" in properties.get("FunctionResponseTypes", []),
                window_seconds=whole(properties.get("MaximumBatchingWindowInSeconds", 0), f"{name}.MaximumBatching…"),
                maximum_concurrency=None if limit is None else whole(limit, f"{name}.ScalingConfig"),
            )

    def rules(self) -> Iterator[Rule]:
        for name, properties in self.of("AWS::Events::Rule"):
            if properties.get("EventBusName", "default") != "default":
                raise UnreadableTemplateError(f"{name}.EventBusName: the sandbox has only the default event bus")
            schedule = properties.get("ScheduleExpression")
            yield Rule(
                logical_id=name,
                event_pattern=properties.get("EventPattern"),
                schedule=None if schedule is None else text(schedule, f"{name}.ScheduleExpression"),
                enabled=properties.get("State", "ENABLED") != "DISABLED",
                targets=tuple(self._target(name, target) for target in properties.get("Targets", [])),
            )

    def _target(self, rule: str, target: Json) -> Target:
        where = f"{rule}.Targets.{target.get('Id')}"
        transformer = target.get("InputTransformer", {})
        given, template = target.get("Input"), transformer.get("InputTemplate")
        return Target(
            resource=self._known(target["Arn"], f"{where}.Arn", "AWS::Lambda::Function", "AWS::SQS::Queue"),
            message_group_id=target.get("SqsParameters", {}).get("MessageGroupId"),
            input=None if given is None else text(given, f"{where}.Input"),
            input_path=target.get("InputPath"),
            input_paths=transformer.get("InputPathsMap", {}),
            input_template=None if template is None else text(template, f"{where}.InputTemplate"),
        )

    def routes(self) -> Iterator[Route]:
        if len(list(self.of("AWS::ApiGatewayV2::Api"))) > 1:
            raise UnreadableTemplateError("AWS::ApiGatewayV2::Api: the sandbox serves one HTTP API, there are several")
        for name, properties in self.of("AWS::ApiGatewayV2::Route"):
            method, _, path = text(properties["RouteKey"], f"{name}.RouteKey").rpartition(" ")
            target = f"{name}.Target"
            integration = self._known(properties["Target"], target, "AWS::ApiGatewayV2::Integration")
            yield Route(method=method or "ANY", path=path, function=self._integrated(integration))

    def _integrated(self, name: str) -> str:
        properties = self._resources[name]["Properties"]
        version = str(properties.get("PayloadFormatVersion"))
        if properties.get("IntegrationType") != "AWS_PROXY" or version != "2.0":
            raise UnreadableTemplateError(
                f"{name}: only AWS_PROXY integrations with PayloadFormatVersion 2.0 are served"
            )
        return self._known(properties["IntegrationUri"], f"{name}.IntegrationUri", "AWS::Lambda::Function")

    def throttle(self) -> Throttle | None:
        for name, properties in self.of("AWS::ApiGatewayV2::Stage"):
            settings = properties.get("DefaultRouteSettings", {})
            if "ThrottlingRateLimit" in settings:
                burst = whole(settings.get("ThrottlingBurstLimit", 5000), f"{name}.ThrottlingBurstLimit")
                return Throttle(float(settings["ThrottlingRateLimit"]), burst)
        return None

    def _known(self, value: Json, where: str, *types: str) -> str:
        name = referenced(value, where)
        resource = self._resources.get(name, {})
        found = resource.get("Type")
        if found not in types:
            wanted = " or ".join(types)
            raise UnreadableTemplateError(f"{where}: {name} is {found or 'not in the template'}, expected {wanted}")
        if found == "AWS::Lambda::Function" and not _runs_here(resource["Properties"]):
            raise UnreadableTemplateError(
                f"{where}: {name} is not a Python function with code from an asset; it can't run here"
            )
        return name


def _runs_here(function: Json) -> bool:
    return str(function.get("Runtime", "")).startswith("python") and "S3Key" in function["Code"]


def _artifact(cdk_out: Path, stack: str) -> tuple[str, str]:
    artifacts = _load(cdk_out / "manifest.json")["artifacts"]
    stacks = {
        name: properties
        for artifact, body in artifacts.items()
        if body["type"] == "aws:cloudformation:stack"
        for properties in [body["properties"]]
        for name in {artifact, properties.get("stackName", artifact)}
    }
    if stack not in stacks:
        raise UnreadableTemplateError(f"{cdk_out / 'manifest.json'}: no stack {stack}; it has {sorted(stacks)}")
    template = text(stacks[stack].get("templateFile"), f"{stack}.templateFile")
    return template, template.removesuffix(".template.json") + ".assets.json"


def _assets(path: Path) -> dict[str, str]:
    """Published object key → folder or file in the assembly."""
    return {
        destination["objectKey"]: file["source"]["path"]
        for file in _load(path)["files"].values()
        for destination in file["destinations"].values()
        if "path" in file["source"]
    }


def _load(path: Path) -> Json:
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise UnreadableTemplateError(f"{path} is missing; run `cdk synth` first") from None
    except json.JSONDecodeError as error:
        raise UnreadableTemplateError(f"{path}: not JSON: {error}") from error
