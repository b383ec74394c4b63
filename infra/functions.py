"""The functions: what each is given, its role and its log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra import layers
from infra.nag import acknowledge, acknowledge_wildcards
from infra.statements import write_log
from nodewright.settings import NAMES, OPTIONAL

RUNTIME = lambda_.Runtime.PYTHON_3_13
ARCHITECTURE = lambda_.Architecture.ARM_64


@dataclass(frozen=True, slots=True)
class Verb:
    """One function's size (architecture.md section 2)."""

    name: str
    purpose: str
    timeout_seconds: int
    memory_mb: int
    recursive: bool = False
    """It sends to its own queue on purpose; Lambda would otherwise stop it after 16 rounds."""


VERBS = (
    Verb("notify", "Kubernetes webhook: puts a hint on a queue", 3, 256),
    Verb("provision", "Plans and launches nodes for pending pods", 90, 3072, recursive=True),
    Verb("reconcile", "Keeps nodes, claims and pods in step", 60, 1024),
    Verb("interrupt", "Turns AWS's events about instances into retirements and replacements", 30, 512),
    Verb("retire", "Drains and ends one node, a short step a run", 30, 1024, recursive=True),
    Verb("disrupt", "Retires expired and empty nodes, with replacements first", 300, 3072),
    Verb("refresh", "Keeps instance types, prices, images and cluster facts fresh", 120, 1024),
    Verb("tick", "Once a minute, one hint per connected cluster", 10, 256),
)


class Layers(Construct):
    """Our package, and the distributions it needs."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self.all = [self._layer("Core", layers.core()), self._layer("Dependencies", layers.dependencies())]

    def _layer(self, construct_id: str, built: layers.Layer) -> lambda_.LayerVersion:
        return lambda_.LayerVersion(
            self,
            construct_id,
            code=lambda_.Code.from_asset(str(built.folder), asset_hash=built.digest),
            compatible_runtimes=[RUNTIME],
            compatible_architectures=[ARCHITECTURE],
            description=f"Nodewright {built.name}",
        )


class VerbFunction(Construct):
    """functions/VERB on the shared layers, with a role of its own that may do only what it is granted."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        verb: Verb,
        stack_id: str,
        shared: Sequence[lambda_.ILayerVersion],
        variables: Mapping[str, str],
    ) -> None:
        super().__init__(scope, construct_id)
        self.verb = verb
        name = f"{stack_id}-{verb.name}"
        self.role = _role(self, "Role", description=f"{name}: {verb.purpose}")
        log = _log(self, "Log", name=f"/aws/lambda/{name}")
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=name,
            description=verb.purpose,
            runtime=RUNTIME,
            architecture=ARCHITECTURE,
            handler="handler.handler",
            code=_code(verb),
            layers=list(shared),
            memory_size=verb.memory_mb,
            timeout=Duration.seconds(verb.timeout_seconds),
            recursive_loop=lambda_.RecursiveLoop.ALLOW if verb.recursive else lambda_.RecursiveLoop.TERMINATE,
            environment={**variables, NAMES["function_timeout_seconds"]: str(verb.timeout_seconds)},
            logging_format=lambda_.LoggingFormat.JSON,
            log_group=log,
            role=self.role,
        )
        self.grant([write_log(log.log_group_arn)])
        acknowledge(self.function, "AwsSolutions-L1", "Tested on 3.13; a newer runtime is a decision, not a default")

    def grant(self, statements: Sequence[iam.PolicyStatement]) -> None:
        """Allow it this as well."""
        for statement in statements:
            self.role.add_to_policy(statement)
        acknowledge_wildcards(self.role, statements)


def environment(values: Mapping[str, str]) -> dict[str, str]:
    """Variables under the names that Settings reads; Lambda sets the region, each function its own timeout."""
    given_elsewhere = {"region", "function_timeout_seconds", *OPTIONAL}
    return {variable: values[field] for field, variable in NAMES.items() if field not in given_elsewhere}


def _code(verb: Verb) -> lambda_.Code:
    folder = layers.ROOT / "functions" / verb.name
    return lambda_.Code.from_asset(str(folder), exclude=["__pycache__", "**/*.pyc"])


def _role(scope: Construct, construct_id: str, *, description: str) -> iam.Role:
    return iam.Role(
        scope, construct_id, assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"), description=description
    )


def _log(scope: Construct, construct_id: str, *, name: str) -> logs.LogGroup:
    return logs.LogGroup(
        scope,
        construct_id,
        log_group_name=name,
        retention=logs.RetentionDays.TWO_WEEKS,
        removal_policy=RemovalPolicy.DESTROY,
    )
