"""`make demo` in a fresh clone, then again in the same.

The control plane's programs are cached for the user, not in the clone: building them is a matter of minutes, once per
machine and release, and isn't in these figures. uv's and npm's caches of downloads are used where they are filled.
"""

import os
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.tables import show
from infra.layers import ROOT

#: architecture.md section 10, on two cores.
CONTROL_PLANE_MINUTES = 6
WARM_BUDGET_SECONDS = 120


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="nodewright-demo-") as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", "--local", str(ROOT), str(clone)], check=True)
        cold, warm = _demo(clone), _demo(clone)
    show(
        ("make demo", "seconds", "CPU seconds", "budget"),
        [("cold: a fresh clone, all but the control plane built", *cold, ""), ("warm", *warm, WARM_BUDGET_SECONDS)],
    )
    print(f"the control plane, built once: {CONTROL_PLANE_MINUTES} min on two cores")


def _demo(clone: Path) -> tuple[float, float]:
    """Seconds of wall clock, installing and starting included, and of CPU time."""
    # This process's environment would lend the clone its packages.
    inherited = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "UV", "PYTHONPATH"}}
    begin, before = time.monotonic(), os.times()
    ran = subprocess.run(["make", "demo"], cwd=clone, env=inherited, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"make demo failed:\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}")
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - begin, cpu
