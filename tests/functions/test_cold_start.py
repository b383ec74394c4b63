"""What a function doesn't use, it doesn't load: that is most of its cold start (architecture §13)."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.functions.conftest import environment

VERBS = sorted(path.parent.name for path in (Path(__file__).parents[2] / "functions").glob("*/handler.py"))
#: Solvers are loaded when a plan wants one; the rest isn't a function's at all.
NEVER = {"highspy", "nodewright.adapters.memory", "nodewright.cli", "rich", "typer"}
LIGHT = {"kubernetes", "numpy"}
UNUSED = {
    "notify": LIGHT | {"boto3", "botocore.client", "botocore.session", "nodewright.application.ports"},
    "interrupt": {"numpy"},
    "reconcile": {"numpy"},
    "refresh": LIGHT,
    "retire": {"numpy"},
    "tick": LIGHT,
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_function_loads_nothing_it_does_not_use(verb: str) -> None:
    loaded = _loaded(verb)
    assert f"nodewright.wiring.{verb}" in loaded
    assert loaded & (NEVER | UNUSED.get(verb, set())) == set()


def _loaded(verb: str) -> set[str]:
    program = f"import functions.{verb}.handler, json, sys; print(json.dumps(list(sys.modules)))"
    keys = {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none"}
    queues: defaultdict[str, str] = defaultdict(lambda: "https://sqs.us-east-1.amazonaws.com/1/q.fifo")
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**environment(queues), **keys, "PATH": os.defpath, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return set(json.loads(ran.stdout))
