"""Karpenter's side: benchmarks/karpenter built once, into the cache, and run on a workload."""

import hashlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from sandbox.controlplane.golang import find_go, go_environment, parse_version

SOURCES = Path(__file__).parent / "karpenter"
ROOT = Path(__file__).parent.parent


def karpenter(say: Callable[[str], None] = print) -> Path:
    """The program, built where it isn't yet: NoGoError, or CalledProcessError after the compiler's words."""
    program = _cache() / f"karpenter-{_digest()}"
    if not program.exists():
        go = find_go(parse_version(_go_line()) or (1, 0, 0), os.environ, ROOT, say)
        say("building Karpenter's scheduler from its Go modules (once, some minutes)")
        program.parent.mkdir(parents=True, exist_ok=True)
        built = program.with_suffix(".new")
        command: list[str | Path] = [go, "build", "-mod=readonly", "-trimpath", "-ldflags", "-s -w", "-o", built, "."]
        subprocess.run(command, cwd=SOURCES, env=go_environment(os.environ), check=True)
        built.rename(program)
    return program


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "nodewright" / "benchmarks"


def _digest() -> str:
    parts = [(SOURCES / name).read_bytes() for name in ("main.go", "go.mod", "go.sum")]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _go_line() -> str:
    lines = (SOURCES / "go.mod").read_text().splitlines()
    return next(line.removeprefix("go ") for line in lines if line.startswith("go "))
