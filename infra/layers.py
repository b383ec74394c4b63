"""The two layers, built for Lambda's arm64 without Docker: our own package, and the locked distributions.

`python -m infra.layers` builds what is missing and prints the sizes. A layer is named by a digest of what
it is made from, so the same input gives the same asset on every machine and an unchanged one is not rebuilt.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from infra import bytecode

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Layer:
    """A built layer; `folder` holds python/ and is what gets uploaded."""

    name: str
    digest: str
    folder: Path
    unpacked_bytes: int
    """With bytecode; Lambda allows 250 MB for all layers and the function together."""
    bytecode: bool


@dataclass(frozen=True, slots=True)
class Recipe:
    """What the dependency layer is made from: layers/dependencies/layer.toml."""

    python: str
    platform: str
    without_distributions: tuple[str, ...]
    without_paths: tuple[str, ...]
    services: tuple[str, ...]

    @classmethod
    def read(cls, file: Path) -> "Recipe":
        """Every key must be there: a forgotten one would silently ship more."""
        raw = tomllib.loads(file.read_text())
        return cls(
            python=raw["target"]["python"],
            platform=raw["target"]["platform"],
            without_distributions=tuple(raw["without"]["distributions"]),
            without_paths=tuple(raw["without"]["paths"]),
            services=tuple(raw["botocore"]["services"]),
        )


def core(root: Path = ROOT) -> Layer:
    """Our package, byte for byte, with bytecode beside it."""
    source = root / "layers/core/python"
    recipe = Recipe.read(root / "layers/dependencies/layer.toml")
    sources = [path for path in sorted(source.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    inputs = [part for path in sources for part in (path.relative_to(source).as_posix().encode(), path.read_bytes())]

    def fill(python: Path) -> None:
        for path in sources:
            copy = python / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())

    return _built("core", inputs, fill, root=root, version=recipe.python)


def dependencies(root: Path = ROOT) -> Layer:
    """What uv.lock says the runtime needs, less what layer.toml leaves out."""
    recipe = Recipe.read(root / "layers/dependencies/layer.toml")
    wanted = requirements(root, recipe)
    inputs = [wanted, repr(recipe).encode()]

    def fill(python: Path) -> None:
        target = ["--python-platform", recipe.platform, "--python-version", recipe.python]
        install(wanted, python, root=root, options=target)
        prune(python, recipe)

    return _built("dependencies", inputs, fill, root=root, version=recipe.python)


def requirements(root: Path, recipe: Recipe) -> bytes:
    """The lock as pip reads it, every distribution with its hashes."""
    without = [option for name in recipe.without_distributions for option in ("--prune", name)]
    options = ["--quiet", "--frozen", "--no-header", "--no-annotate", "--no-emit-project", "--no-default-groups"]
    return subprocess.run(
        [_uv(root), "export", "--project", root, *options, *without], check=True, stdout=subprocess.PIPE
    ).stdout


def install(wanted: bytes, folder: Path, *, root: Path, options: Sequence[str] = ()) -> None:
    """Wheels only, by the lock's hashes: nothing is compiled on this machine."""
    wheels = ["--only-binary", ":all:", "--no-deps", "--link-mode", "copy", "--python", sys.executable]
    target = ["--quiet", "--target", str(folder), "--requirements", "-"]
    subprocess.run([_uv(root), "pip", "install", *target, *wheels, *options], input=wanted, check=True)


def prune(python: Path, recipe: Recipe) -> None:
    """Delete what Lambda never reads."""
    for pattern in recipe.without_paths:
        for path in list(python.glob(pattern)):
            _delete(path)
    for path in (python / "botocore/data").iterdir():
        if path.is_dir() and path.name not in recipe.services:
            _delete(path)


def _built(name: str, inputs: Sequence[bytes], fill: Callable[[Path], None], *, root: Path, version: str) -> Layer:
    """The layer made from these inputs: found, or built aside and moved into place when it is whole."""
    compiler = bytecode.interpreter(version)
    digest = _digest([*inputs, f"{version} {compiler is not None}".encode(), _our_own_source()])
    home = root / ".build/layers" / f"{name}-{digest[:16]}"
    if not home.exists():
        home.parent.mkdir(parents=True, exist_ok=True)
        _forget(home.parent, name)
        with tempfile.TemporaryDirectory(dir=home.parent, prefix=f"building-{name}-") as work:
            _build(name, Path(work) / "whole", fill, version=version, compiler=compiler)
            _move(Path(work) / "whole", home)
    facts = json.loads((home / "facts.json").read_text())
    return Layer(name=name, digest=digest, folder=home / "layer", **facts)


def _build(name: str, home: Path, fill: Callable[[Path], None], *, version: str, compiler: Path | None) -> None:
    python = home / "layer/python"
    python.mkdir(parents=True)
    fill(python)
    if compiler is None:
        _tell(f"layers: no Python {version} here, so {name} has no bytecode and starts cold slower")
    else:
        bytecode.compile_tree(python, python=compiler, shown_as="/opt/python")
    size = sum(path.stat().st_size for path in python.rglob("*") if path.is_file())
    (home / "facts.json").write_text(json.dumps({"unpacked_bytes": size, "bytecode": compiler is not None}))
    _tell(f"layers: built {name}, {size / 1e6:.1f} MB unpacked")


def _move(whole: Path, home: Path) -> None:
    """Another process may have built the same in the meantime; then its copy is as good."""
    try:
        whole.rename(home)
    except OSError:
        if not home.exists():
            raise


def _forget(parent: Path, name: str, keep: int = 3) -> None:
    """Drop all but the newest few, which another checkout state or a running deploy may still use."""
    built = sorted(parent.glob(f"{name}-*"), key=lambda path: path.stat().st_mtime)
    for path in built[:-keep]:
        _delete(path)


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _digest(parts: Sequence[bytes]) -> str:
    """Each part is preceded by its length, so that no two lists of parts look alike."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _our_own_source() -> bytes:
    """How a layer is built is part of what it is made from."""
    return Path(__file__).read_bytes() + Path(bytecode.__file__).read_bytes()


def _uv(root: Path) -> str:
    """From $UV (set by `uv run`), from PATH, or where `make setup` puts it."""
    own = root / ".tools/uv/bin/uv"
    found = os.environ.get("UV") or shutil.which("uv") or (str(own) if own.exists() else None)
    if found is None:
        raise FileNotFoundError("uv is neither in $UV nor on PATH nor in .tools/uv: run `make setup`")
    return found


def _tell(line: str) -> None:
    """On stderr, where CDK shows it; stdout may be a template."""
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    for layer in (core(), dependencies()):
        compiled = "with bytecode" if layer.bytecode else "no bytecode"
        _tell(f"{layer.name:<14}{layer.unpacked_bytes / 1e6:6.1f} MB unpacked, {compiled}, {layer.digest[:16]}")
