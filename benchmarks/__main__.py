"""`python -m benchmarks [NAME…]` runs these benchmarks, all without a name. Figures only: nothing here can fail."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks import burst, demo, drawn, imports, interruptions, kept, layers, matrix, profile, solve, spine, state


def main() -> None:
    parser = _parser()
    arguments = parser.parse_args()
    if unknown := ", ".join(name for name in arguments.names if name not in BENCHMARKS):
        parser.error(f"no benchmark is called {unknown}; there are {', '.join(BENCHMARKS)}")
    for name in arguments.names or BENCHMARKS:
        print(f"\n=== {name}: {BENCHMARKS[name][0]}", flush=True)
        BENCHMARKS[name][1](arguments)


def _drawn(arguments: argparse.Namespace) -> None:
    _with_peer(arguments, lambda peer: drawn.main(peer, arguments.workloads))


def _kept(arguments: argparse.Namespace) -> None:
    _with_peer(arguments, lambda peer: kept.main(peer, arguments.seeds))


def _with_peer(arguments: argparse.Namespace, run: Callable[[Path], None]) -> None:
    if arguments.peer is None:
        print("left out: it needs the peer's workloads and catalogues, --peer FOLDER")
    else:
        run(arguments.peer)


#: In the order they run: the quick ones first.
BENCHMARKS: Mapping[str, tuple[str, Callable[[argparse.Namespace], None]]] = {
    "layers": ("unpacked size of the layers, by package", lambda _: layers.main()),
    "imports": ("cold import of each function beside boto3 alone", lambda arguments: imports.main(arguments.rounds)),
    "solve": ("plans beside Karpenter's own scheduler", lambda arguments: solve.main(arguments.peer)),
    "drawn": ("plans of drawn workloads beside Karpenter's", _drawn),
    "profile": ("where the time of a plan goes", lambda arguments: _with_peer(arguments, profile.main)),
    "matrix": ("calls × faults of the crash matrix", lambda _: matrix.main()),
    "spine": ("pending pod to running pod through the deployed functions", lambda _: spine.main()),
    "state": ("DynamoDB reads and writes of launches", lambda arguments: state.main(arguments.launches)),
    "interruptions": (
        "spot notice to tainted, replaced and drained, one alone and many at once",
        lambda arguments: interruptions.main(arguments.notices),
    ),
    "burst": ("pods a controller makes one by one, looked ahead and not", lambda arguments: burst.main(arguments.pods)),
    "kept": ("pods on the nodes they were planned for, told of them and not", _kept),
    "demo": ("`make demo` in a fresh clone, then again", lambda _: demo.main()),
}


def _parser() -> argparse.ArgumentParser:
    known = "\n".join(f"  {name:<15}{what}" for name, (what, _) in BENCHMARKS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", epilog=f"benchmarks:\n{known}", formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="which; all without one")
    parser.add_argument(
        "--peer", type=Path, metavar="FOLDER", help="of drawn, profile and kept, and of solve beside the mix"
    )
    parser.add_argument(
        "--rounds", type=int, default=7, metavar="N", help="imports: fresh processes of each (%(default)s)"
    )
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="kept: boots of each (%(default)s)")
    parser.add_argument("--workloads", type=int, default=100, metavar="N", help="drawn: how many (%(default)s)")
    parser.add_argument(
        "--launches", type=int, nargs="+", default=[1, 10, 100], metavar="N", help="state: nodes of each (%(default)s)"
    )
    parser.add_argument("--pods", type=int, default=1000, metavar="N", help="burst: replicas (%(default)s)")
    parser.add_argument(
        "--notices", type=int, default=100, metavar="N", help="interruptions: nodes taken at once (%(default)s)"
    )
    return parser


if __name__ == "__main__":
    main()
