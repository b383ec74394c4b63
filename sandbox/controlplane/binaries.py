"""The programs of the control plane: found in KUBEBUILDER_ASSETS or the cache, else built from their Go modules."""

import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sandbox.controlplane.golang import Say, find_go, go_environment, parse_version

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
# Raised when the same sources are to be built in another way.
RECIPE = 1
STAGES = "stages.yaml"
# KWOK acts only by stages, and carries none in its binary. Jobs complete at once, pods run at once.
_STAGE_FOLDERS = ("node/fast", "node/heartbeat-with-lease", "pod/fast")
_PROGRESS_SECONDS = 15.0


class BuildError(RuntimeError):
    """A program could not be built; the message carries the compiler's words and what to try."""


class AssetsError(ValueError):
    """KUBEBUILDER_ASSETS names something that can't be used."""


@dataclass(frozen=True, slots=True)
class Program:
    """One program and the Go package that it is built from."""

    name: str
    package: str


PROGRAMS = (
    Program("etcd", "go.etcd.io/etcd/server/v3"),
    Program("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
    Program("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    Program("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
    Program("kwok", "sigs.k8s.io/kwok/cmd/kwok"),
    Program("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
)
# What Kubernetes' own test environment provides; the rest is built in any case.
_IN_ASSETS = ("etcd", "kube-apiserver", "kubectl")


@dataclass(frozen=True, slots=True)
class Binaries:
    """Where each program is, and the file with KWOK's stages."""

    programs: Mapping[str, Path]
    stages: Path

    def __getitem__(self, name: str) -> Path:
        return self.programs[name]


def ensure(environment: Mapping[str, str], say: Say) -> Binaries:
    """Every program, ready to run. What is missing is built: about 6 minutes on 2 cores, once."""
    assets = from_assets(environment, say)
    folder = cache_folder(environment)
    missing = [program for program in PROGRAMS if program.name not in assets and not (folder / program.name).exists()]
    if missing or not (folder / STAGES).exists():
        with _locked(folder, say):
            _build(missing, folder, environment, say)
    built = {program.name: folder / program.name for program in PROGRAMS}
    return Binaries(built | assets, folder / STAGES)


def from_assets(environment: Mapping[str, str], say: Say) -> dict[str, Path]:
    """The programs that KUBEBUILDER_ASSETS offers and we can use.

    A kube-apiserver of another minor version is left aside: the scheduler and the controller manager, which are
    always built, must not be newer than it (Kubernetes' version skew policy).
    """
    named = environment.get("KUBEBUILDER_ASSETS")
    if not named:
        return {}
    folder = Path(named)
    if not folder.is_dir():
        raise AssetsError(f"KUBEBUILDER_ASSETS names {named}, which is no folder: correct it, or unset it and build")
    found = {name: folder / name for name in _IN_ASSETS if os.access(folder / name, os.X_OK)}
    wanted = kubernetes_version()
    if "kube-apiserver" in found and not _same_minor(found["kube-apiserver"], wanted):
        say(f"the kube-apiserver in KUBEBUILDER_ASSETS is not a {wanted}: using our own")
        del found["kube-apiserver"]
    return found


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The folder of what these sources, built in this way for this kind of machine, make."""
    base = environment.get("XDG_CACHE_HOME") or str(Path(environment.get("HOME") or Path.home()) / ".cache")
    recipe = f"{RECIPE} {platform.system()} {platform.machine()} {_ldflags(kubernetes_version())}"
    sources = (HERE / "go.mod").read_bytes() + (HERE / "go.sum").read_bytes()
    return Path(base) / "nodewright" / "controlplane" / hashlib.sha256(sources + recipe.encode()).hexdigest()[:16]


def kubernetes_version() -> str:
    """The release that go.mod asks for, such as v1.37.2."""
    found = re.search(r"^\s*k8s\.io/kubernetes (v\S+)", (HERE / "go.mod").read_text(), re.MULTILINE)
    if found is None:
        raise BuildError(f"{HERE / 'go.mod'} requires no k8s.io/kubernetes")
    return found[1]


def _same_minor(apiserver: Path, wanted: str) -> bool:
    done = subprocess.run([apiserver, "--version"], capture_output=True, text=True, check=False)
    version, ours = parse_version(done.stdout), parse_version(wanted)
    return version is not None and ours is not None and version[:2] == ours[:2]


@contextmanager
def _locked(folder: Path, say: Say) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another build of the control plane is running: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(programs: list[Program], folder: Path, environment: Mapping[str, str], say: Say) -> None:
    needed = re.search(r"^go (\S+)$", (HERE / "go.mod").read_text(), re.MULTILINE)
    version = parse_version(needed[1]) if needed else None
    if version is None:
        raise BuildError(f"{HERE / 'go.mod'} has no go line")
    go = find_go(version, environment, ROOT, say)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".build-") as scratch:
        for number, program in enumerate(programs, 1):
            # Another process may have built it while we waited for the lock.
            if not (folder / program.name).exists():
                _build_one(go, program, Path(scratch), environment, _counted(say, number, len(programs)))
                (Path(scratch) / program.name).replace(folder / program.name)
        (Path(scratch) / STAGES).write_text(_read_stages(go, environment))
        (Path(scratch) / STAGES).replace(folder / STAGES)


def _counted(say: Say, number: int, total: int) -> Say:
    return lambda text: say(f"[{number}/{total}] {text}")


def _build_one(go: Path, program: Program, scratch: Path, environment: Mapping[str, str], say: Say) -> None:
    flags = ["-p", "2", "-trimpath", "-mod=readonly", "-buildvcs=false", "-ldflags", _ldflags(kubernetes_version())]
    command = [str(go), "build", *flags, "-o", str(scratch / program.name), program.package]
    started = time.monotonic()
    said = scratch / f"{program.name}.log"
    say(f"building {program.name}")
    with said.open("w") as output:
        process = subprocess.Popen(command, cwd=HERE, env=go_environment(environment), stdout=output, stderr=output)
        try:
            code = _wait(process, program, started, say)
        finally:
            process.kill()
            process.wait()
    if code != 0:
        raise BuildError(_explain(program, code, said.read_text()))
    say(f"built {program.name} in {time.monotonic() - started:.0f} s")


def _wait(process: subprocess.Popen[bytes], program: Program, started: float, say: Say) -> int:
    while True:
        try:
            return process.wait(_PROGRESS_SECONDS)
        except subprocess.TimeoutExpired:
            say(f"building {program.name}: {time.monotonic() - started:.0f} s")


def _explain(program: Program, code: int, output: str) -> str:
    tail = "\n".join(output.strip().splitlines()[-15:]) or "(it said nothing: was it killed for want of memory?)"
    free = shutil.disk_usage(HERE).free // 2**30
    return (
        f"go build of {program.name} ended with code {code}:\n{tail}\n"
        "It needs a Go module proxy (`go env GOPROXY`), 4 GB of disk for Go's caches "
        f"({free} GB are free here) and 3 GB of memory. Then run `python -m sandbox.controlplane build` again: "
        "what was built is kept"
    )


def _ldflags(version: str) -> str:
    """What Kubernetes' own build sets, so that /version and the components name the release; without debug symbols."""
    major, minor, *_ = version.removeprefix("v").split(".")
    names = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "archive"}
    settings = [f"-X k8s.io/component-base/version.{name}={value}" for name, value in names.items()]
    return " ".join(["-s", "-w", *settings])


def _read_stages(go: Path, environment: Mapping[str, str]) -> str:
    """KWOK's own stage files as one, so that the module cache isn't needed once the binaries are built."""
    done = subprocess.run(
        [go, "mod", "download", "-json", "sigs.k8s.io/kwok"],
        cwd=HERE,
        env=go_environment(environment),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise BuildError(f"go could not fetch the module of KWOK's stages: {done.stdout}{done.stderr}")
    module = Path(json.loads(done.stdout)["Dir"]) / "kustomize" / "stage"
    files = [file for folder in _STAGE_FOLDERS for file in sorted((module / folder).glob("*.yaml"))]
    stages = [text for file in files if "\nkind: Stage\n" in (text := file.read_text())]
    if len(stages) < len(_STAGE_FOLDERS):
        raise BuildError(f"the KWOK module at {module} holds no stages for {', '.join(_STAGE_FOLDERS)}")
    return "---\n".join(stages)
