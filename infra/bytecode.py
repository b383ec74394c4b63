"""Compiled Python for a read-only layer: without it every cold start compiles what it imports."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path


def interpreter(version: str) -> Path | None:
    """A Python of this minor version on this machine, or None: bytecode of another version is useless."""
    return next((candidate for candidate in _candidates(version) if _is(candidate, version)), None)


def compile_tree(folder: Path, *, python: Path, shown_as: str) -> None:
    """Put bytecode beside every module; tracebacks will show `shown_as` in place of `folder`.

    Unchecked, since CDK's archives carry dates of 1980 and a check by time would always fail.
    """
    options = ["-q", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash", "-s", str(folder), "-p", shown_as]
    subprocess.run([python, "-m", "compileall", *options, folder], check=True)


def _candidates(version: str) -> Iterator[Path]:
    yield Path(sys.executable)
    name = f"python{version}"
    if found := shutil.which(name):
        yield Path(found)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob(f"versions/{version}*/bin/{name}"))
    yield from sorted(Path.home().glob(f".local/share/uv/python/cpython-{version}*/bin/{name}"))


def _is(candidate: Path, version: str) -> bool:
    """Ask it: a pyenv shim exists for every version and fails for most."""
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    answer = subprocess.run([candidate, "-c", ask], capture_output=True, text=True, check=False)
    return answer.returncode == 0 and answer.stdout.strip() == version
