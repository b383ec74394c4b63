"""The Python that functions run on here, and the locked dependencies built for this machine.

The stack's dependency layer holds arm64 binaries for Amazon Linux. Here the same lock is installed for this
interpreter, and then cut down to the files that the layer has: what the layer leaves out is missing here too.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_WANTED = "3.13"
# AWS's runtime client, beside the function's own packages as /var/runtime is on Lambda.
_RUNTIME_CLIENT = "awslambdaric"
# Each is 90 MB, and every change of the lock makes another; branches that are worked on in turn keep theirs.
_IDLE_SECONDS = 3 * 24 * 3600


class NoRuntimeError(RuntimeError):
    """The functions' dependencies could not be built; the message has uv's words."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """An interpreter, the folders with its packages, and what stands in for a layer of foreign binaries."""

    python: Path
    version: str
    packages: tuple[Path, ...] = ()
    dependencies: Path | None = None

    def layer(self, folder: Path) -> tuple[Path, ...]:
        """The folders to import from for one layer asset: its own, byte for byte, unless it holds distributions."""
        if self.dependencies is not None and _holds_distributions(folder):
            return (self.dependencies,)
        return (folder / "python",)


def current_runtime() -> Runtime:
    """This very interpreter with whatever it has installed: for functions with no dependency layer."""
    return Runtime(Path(sys.executable), f"{sys.version_info.major}.{sys.version_info.minor}")


def prepare_runtime(root: Path, layers: Sequence[Path], environment: Mapping[str, str]) -> Runtime:
    """Find Python 3.13, else take this one, and install the lock for it under `root/.build/runtime`, once per lock."""
    python, version = _interpreter(environment)
    layer = next((layer for layer in layers if _holds_distributions(layer)), None)
    folder = root / ".build" / "runtime" / _key(root, version, layer)
    if not folder.is_dir():
        _build(root, folder, python, layer if version == _WANTED else None, environment)
    _forget_idle(folder)
    return Runtime(python, version, packages=(folder / "runtime",), dependencies=folder / "dependencies")


def _forget_idle(used: Path) -> None:
    """Remove what no run has used for long, and what killed builds left; other runs may do the same at this moment."""
    os.utime(used)
    for folder in used.parent.iterdir():
        if folder != used and time.time() - _last_used(folder) > _IDLE_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


def _last_used(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except FileNotFoundError:
        return time.time()


def _interpreter(environment: Mapping[str, str]) -> tuple[Path, str]:
    # A version manager's shim on PATH may point nowhere, so each candidate has to prove itself.
    for candidate in _candidates(environment):
        probe = [str(candidate), "-c", "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"]
        answer = subprocess.run(probe, capture_output=True, text=True, check=False)
        version, _, executable = answer.stdout.strip().partition(" ")
        if answer.returncode == 0 and version == _WANTED:
            return Path(executable), version
    fallback = current_runtime()
    return fallback.python, fallback.version


def _candidates(environment: Mapping[str, str]) -> list[Path]:
    pyenv = Path(environment.get("PYENV_ROOT") or Path.home() / ".pyenv")
    versions = sorted(pyenv.glob(f"versions/{_WANTED}*/bin/python{_WANTED}"), reverse=True)
    on_path = shutil.which(f"python{_WANTED}", path=environment.get("PATH"))
    return [*versions, *([Path(on_path)] if on_path else [])]


def _key(root: Path, version: str, layer: Path | None) -> str:
    digest = hashlib.sha256((root / "uv.lock").read_bytes())
    digest.update((root / "pyproject.toml").read_bytes())
    digest.update(Path(__file__).read_bytes())
    digest.update(f"{version} {sys.platform} {os.uname().machine}".encode())
    for name in sorted(_files(layer / "python") if layer else ()):
        digest.update(name.encode())
    return digest.hexdigest()[:20]


def _build(root: Path, folder: Path, python: Path, layer: Path | None, environment: Mapping[str, str]) -> None:
    uv = _uv(root, environment)
    scratch = folder.with_name(f"{folder.name}.{os.getpid()}")
    scratch.mkdir(parents=True)
    try:
        _install(root, uv, python, scratch)
        if layer is not None:
            _cut_down(scratch / "dependencies", _files(layer / "python"))
        _run([str(python), "-m", "compileall", "-q", "-j", "0", str(scratch)], root)
        _publish(scratch, folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _publish(scratch: Path, folder: Path) -> None:
    try:
        scratch.rename(folder)
    except OSError:
        # Another run built the same at the same time; its result is as good.
        if not folder.is_dir():
            raise


def _install(root: Path, uv: str, python: Path, scratch: Path) -> None:
    export = [uv, "export", "--quiet", "--frozen", "--no-emit-project", "--no-hashes"]
    _run([*export, "--no-default-groups", "--output-file", str(scratch / "requirements.txt")], root)
    _run([*export, "--all-groups", "--output-file", str(scratch / "constraints.txt")], root)
    install = [uv, "pip", "install", "--quiet", "--python", str(python), "--only-binary", ":all:"]
    locked = ["--constraints", str(scratch / "constraints.txt")]
    wanted = ["--requirements", str(scratch / "requirements.txt")]
    _run([*install, "--target", str(scratch / "dependencies"), *locked, *wanted], root)
    _run([*install, "--target", str(scratch / "runtime"), *locked, _RUNTIME_CLIENT], root)


def _cut_down(folder: Path, kept: frozenset[str]) -> None:
    """Remove what the layer lacks; compiled libraries are named after their machine, so their package decides."""
    tops = {name.split("/")[0] for name in kept}
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        name = path.relative_to(folder).as_posix()
        top = name.split("/")[0]
        library = ".so" in path.name and (top in tops or top.endswith(".libs"))
        if name not in kept and not library:
            path.unlink()
    # Deepest first. botocore looks into every folder of services, so empty ones would cost each cold start.
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def _files(folder: Path) -> frozenset[str]:
    return frozenset(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _holds_distributions(layer: Path) -> bool:
    return any((layer / "python").glob("*.dist-info"))


def _uv(root: Path, environment: Mapping[str, str]) -> str:
    own = root / ".tools" / "uv" / "bin" / "uv"
    found = environment.get("UV") or shutil.which("uv", path=environment.get("PATH")) or (own.is_file() and str(own))
    if not found:
        raise NoRuntimeError(f"uv is neither in UV, nor on PATH, nor at {own}; run `make` once, it installs it")
    return found


def _run(command: Sequence[str], root: Path) -> None:
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoRuntimeError(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
