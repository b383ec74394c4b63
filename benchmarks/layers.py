"""What the layers weigh unpacked, as they are uploaded."""

from collections import Counter
from pathlib import Path

from benchmarks.tables import show
from infra import layers

BUDGET_MB = 200
LAMBDA_LIMIT_MB = 250
SHOWN = 15


def main() -> None:
    built = [layers.core(), layers.dependencies()]
    sizes, compiled = Counter[str](), Counter[str]()
    for layer in built:
        _weigh(layer.folder / "python", sizes, compiled)
    top = sizes.most_common(SHOWN)
    rest = sizes.total() - sum(size for _, size in top), compiled.total() - sum(compiled[name] for name, _ in top)
    show(
        ("package", "MB", "of it bytecode"),
        [
            *((name, size / 1e6, compiled[name] / 1e6) for name, size in top),
            (f"{len(sizes) - len(top)} others", rest[0] / 1e6, rest[1] / 1e6),
            ("together", sizes.total() / 1e6, compiled.total() / 1e6),
        ],
    )
    for layer in built:
        print(f"layer {layer.name}: {layer.unpacked_bytes / 1e6:.1f} MB, bytecode {'yes' if layer.bytecode else 'no'}")
    share = sizes.total() / 1e6 / BUDGET_MB
    print(f"{share:.0%} of the budget of {BUDGET_MB} MB; Lambda's limit with the function is {LAMBDA_LIMIT_MB} MB")


def _weigh(python: Path, sizes: Counter[str], compiled: Counter[str]) -> None:
    """By what stands directly under python/; metadata and shared libraries count to their package."""
    for path in python.rglob("*"):
        if path.is_file():
            name = path.relative_to(python).parts[0].split("-")[0].removesuffix(".libs").removesuffix(".py")
            sizes[name] += path.stat().st_size
            compiled[name] += path.stat().st_size if path.suffix == ".pyc" else 0
