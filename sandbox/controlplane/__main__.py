"""`python -m sandbox.controlplane build | up`: build the programs, or run one control plane until ctrl-c."""

import argparse
import os
import signal
import sys
from pathlib import Path

from sandbox.controlplane import binaries
from sandbox.controlplane.binaries import AssetsError, BuildError
from sandbox.controlplane.controlplane import ControlPlane, say
from sandbox.controlplane.golang import NoGoError
from sandbox.controlplane.processes import ProcessError


def main(arguments: list[str]) -> int:
    """Do what the command line says; the exit code is 1 where it could not be done."""
    parser = argparse.ArgumentParser(prog="python -m sandbox.controlplane", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("build", help="build what is missing and say where each program is")
    up = verbs.add_parser("up", help="run a control plane until ctrl-c")
    up.add_argument("--folder", type=Path, help="where to keep its files (default: a temporary folder)")
    chosen = parser.parse_args(arguments)
    try:
        return _build() if chosen.verb == "build" else _up(chosen.folder)
    except (BuildError, AssetsError, NoGoError, ProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _build() -> int:
    for name, path in binaries.ensure(os.environ, say).programs.items():
        print(f"{name:<24} {path}")
    return 0


def _up(folder: Path | None) -> int:
    # Both signals end the wait below and nothing before it: a start that is interrupted cleans up after itself.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with ControlPlane(folder=folder) as plane:
            print(f"Kubernetes {plane.version} at {plane.url}")
            print(f"export KUBECONFIG={plane.kubeconfig}")
            print(f"{plane.kubectl} get nodes", flush=True)
            plane.wait()
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
