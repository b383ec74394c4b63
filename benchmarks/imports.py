"""Cold imports: each function's handler in a fresh process, laid out as deployed, beside `import boto3` alone.

The handler makes its AWS clients while it is imported, so they are in the figure. CPU time is the process's
own and hardly minds what else the machine does; the least of all rounds counts.
"""

import os
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.tables import show
from infra import layers
from nodewright.settings import NAMES, OPTIONAL
from sandbox.lambdas.interpreter import prepare_runtime

PEER = "import boto3"
#: Milliseconds, architecture.md section 13.
BUDGETS = {"notify": 150, "provision": 1300}
DEAREST = 10

_TIMED = """
import time
wall, cpu = time.perf_counter(), time.process_time()
{statement}
print((time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000)
"""


@dataclass(frozen=True, slots=True)
class Subject:
    """Something to import, and where from."""

    name: str
    statement: str
    folder: Path


@dataclass(frozen=True, slots=True)
class Machine:
    """The interpreter and environment of a function."""

    python: Path
    variables: Mapping[str, str]

    def run(self, statement: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
        """In a fresh process whose working directory is the function's code."""
        command = [str(self.python), *options, "-c", statement]
        ran = subprocess.run(command, cwd=folder, env=self.variables, capture_output=True, text=True, check=False)
        if ran.returncode:
            raise SystemExit(f"in {folder} this failed: {statement}\n{ran.stderr}")
        return ran


def main(rounds: int) -> None:
    subjects = [Subject(PEER, PEER, layers.ROOT), *_functions(layers.ROOT)]
    machine = _machine(layers.ROOT)
    least = _least(machine, subjects, rounds)
    peer = least[PEER][0]
    rows = [
        (subject.name, *least[subject.name], least[subject.name][0] / peer, BUDGETS.get(subject.name, ""))
        for subject in subjects
    ]
    show(("import", "CPU ms", "wall ms", "× boto3", "budget"), rows)
    print(f"\nthe {DEAREST} dearest packages, milliseconds with the interpreter's own timing of imports:")
    for subject in subjects:
        dearest = sorted(_packages(machine, subject).items(), key=lambda package: -package[1])[:DEAREST]
        print(f"{subject.name:<14}{', '.join(f'{name} {ms:.0f}' for name, ms in dearest)}")


def _functions(root: Path) -> list[Subject]:
    folders = sorted(path.parent for path in (root / "functions").glob("*/handler.py"))
    return [Subject(folder.name, "import handler", folder) for folder in folders]


def _machine(root: Path) -> Machine:
    built = [layers.core(root), layers.dependencies(root)]
    runtime = prepare_runtime(root, [layer.folder for layer in built], os.environ)
    print(
        f"Python {runtime.version}, layers {'with' if all(layer.bytecode for layer in built) else 'without'} bytecode"
    )
    path = [str(folder) for layer in built for folder in runtime.layer(layer.folder)]
    variables = {
        **{name: "https://sqs.eu-west-1.amazonaws.com/1/x" for field, name in NAMES.items() if field not in OPTIONAL},
        NAMES["function_timeout_seconds"]: "3",
        "AWS_REGION": "eu-west-1",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "none",
        "AWS_SECRET_ACCESS_KEY": "none",
        "PATH": os.defpath,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(path),
    }
    return Machine(runtime.python, variables)


def _least(machine: Machine, subjects: Sequence[Subject], rounds: int) -> dict[str, tuple[float, float]]:
    """CPU and wall milliseconds; the subjects take turns, so that a busy moment hits all of them."""
    seen: dict[str, list[tuple[float, float]]] = {subject.name: [] for subject in subjects}
    for _ in range(rounds):
        for subject in subjects:
            told = machine.run(_TIMED.format(statement=subject.statement), subject.folder).stdout.split()
            seen[subject.name].append((float(told[-2]), float(told[-1])))
    return {name: (min(cpu for cpu, _ in times), min(wall for _, wall in times)) for name, times in seen.items()}


def _packages(machine: Machine, subject: Subject) -> dict[str, float]:
    """Milliseconds that each top-level package's own modules took."""
    milliseconds: defaultdict[str, float] = defaultdict(float)
    for line in machine.run(subject.statement, subject.folder, "-X", "importtime").stderr.splitlines():
        # "import time:   self [us] | cumulative | package", the last indented by depth.
        cost, _, name = line.removeprefix("import time:").split("|") if line.count("|") == 2 else ("", "", "")
        if cost.strip().isdigit():
            milliseconds[name.strip().partition(".")[0]] += int(cost) / 1000
    return milliseconds
