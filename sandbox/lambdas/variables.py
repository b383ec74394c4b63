"""The environment a function's process sees: Lambda's own variables, the function's, its role's keys, nothing else.

https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html lists Lambda's.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from sandbox.lambdas.deployed import DeployedFunction
from sandbox.lambdas.interpreter import Runtime


def process_variables(
    function: DeployedFunction,
    runtime: Runtime,
    *,
    api_address: str,
    endpoint: str,
    credentials: Mapping[str, str],
    log_stream: str,
    home: Path,
) -> dict[str, str]:
    """All variables of one execution environment; the function's own cannot replace Lambda's."""
    return {
        **function.environment,
        **_lambda_variables(function, runtime, api_address, log_stream),
        **_python_variables(function, runtime, home),
        **credentials,
        "AWS_ENDPOINT_URL": endpoint,
        # Off the contributor's machine: no profile, no instance role.
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def _lambda_variables(
    function: DeployedFunction, runtime: Runtime, api_address: str, log_stream: str
) -> dict[str, str]:
    spec = function.spec
    variables = {
        "_HANDLER": spec.handler,
        "AWS_REGION": function.region,
        "AWS_DEFAULT_REGION": function.region,
        "AWS_EXECUTION_ENV": f"AWS_Lambda_python{runtime.version}",
        "AWS_LAMBDA_FUNCTION_NAME": function.name,
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(spec.memory_mb),
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{function.name}",
        "AWS_LAMBDA_LOG_STREAM_NAME": log_stream,
        "AWS_LAMBDA_RUNTIME_API": api_address,
        "LAMBDA_TASK_ROOT": str(spec.code_dir),
    }
    if spec.log_format == "JSON":
        variables |= {"AWS_LAMBDA_LOG_FORMAT": "JSON", "AWS_LAMBDA_LOG_LEVEL": spec.log_level or "INFO"}
    return variables


def _python_variables(function: DeployedFunction, runtime: Runtime, home: Path) -> dict[str, str]:
    layers = [folder for layer in function.spec.layer_dirs for folder in runtime.layer(layer)]
    return {
        "PYTHONPATH": os.pathsep.join(map(str, [*layers, *runtime.packages])),
        # Assets are read-only on Lambda, and stay as they were deployed here.
        "PYTHONDONTWRITEBYTECODE": "1",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "en_US.UTF-8",
        "TZ": ":UTC",
        "HOME": str(home),
        "TMPDIR": str(home),
    }
