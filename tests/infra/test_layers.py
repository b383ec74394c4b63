import importlib.util
import marshal
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from infra import bytecode, layers

#: e_machine in an ELF header (elf.h).
AARCH64 = 183
#: architecture.md section 13; Lambda's own limit is 250 MB.
UNPACKED_LIMIT = 200_000_000

NEEDED = """
import boto3, cronsim, highspy, kubernetes.client.rest, kubernetes.config, msgspec, numpy, tomli_w, yaml
from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.utilities.batch import BatchProcessor
from kubernetes.client import ApiClient, Configuration
for service in SERVICES:
    client = boto3.client(service, region_name="eu-west-1", aws_access_key_id="x", aws_secret_access_key="x")
    for operation in client.meta.method_to_api_mapping:
        client.can_paginate(operation)
ApiClient(Configuration())
BatchProcessor
Logger(service="x").info("x")
Metrics(namespace="x", service="x")
print(numpy.linalg.solve(numpy.eye(2), numpy.ones(2)), highspy.Highs().version())
"""


@pytest.fixture(scope="module")
def dependencies() -> layers.Layer:
    return layers.dependencies()


@pytest.fixture(scope="module")
def recipe() -> layers.Recipe:
    return layers.Recipe.read(layers.ROOT / "layers/dependencies/layer.toml")


def test_every_compiled_library_is_for_the_processor_of_the_functions(dependencies: layers.Layer) -> None:
    libraries = [path for path in dependencies.folder.rglob("*.so*") if path.is_file()]

    assert len(libraries) > 20
    assert {_machine(path) for path in libraries} == {AARCH64}


def test_both_layers_together_stay_within_their_budget(dependencies: layers.Layer) -> None:
    unpacked = [path for layer in (layers.core(), dependencies) for path in layer.folder.rglob("*") if path.is_file()]

    assert sum(path.stat().st_size for path in unpacked) <= UNPACKED_LIMIT


def test_the_stated_size_is_what_is_there(dependencies: layers.Layer) -> None:
    files = [path for path in dependencies.folder.rglob("*") if path.is_file()]

    assert dependencies.unpacked_bytes == sum(path.stat().st_size for path in files)


def test_bytecode_is_there_for_the_runtime_of_the_functions_or_not_at_all(dependencies: layers.Layer) -> None:
    compiled = list(dependencies.folder.rglob("*.pyc"))

    assert bool(compiled) is dependencies.bytecode
    assert all(path.name.endswith(".cpython-313.pyc") for path in compiled)


def test_the_core_layer_is_the_package_byte_for_byte() -> None:
    source = layers.ROOT / "layers/core/python"
    built = layers.core().folder / "python"

    assert _contents(built) == _contents(source)


def test_the_layer_holds_what_is_needed_and_not_the_command_line(dependencies: layers.Layer) -> None:
    names = {path.name for path in (dependencies.folder / "python").iterdir()}

    assert {"boto3", "kubernetes", "numpy", "highspy", "msgspec", "aws_lambda_powertools"} <= names
    assert not names & {"typer", "rich", "aiohttp", "pytest", "nodewright"}


def test_nothing_that_was_left_out_is_needed(recipe: layers.Recipe, tmp_path: Path) -> None:
    """The same distributions for this machine's Python, with the same left out, and nothing else to import from."""
    layers.install(layers.requirements(layers.ROOT, recipe), tmp_path, root=layers.ROOT)
    layers.prune(tmp_path, recipe)
    program = f"SERVICES = {list(recipe.services)}\n{NEEDED}"

    ran = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={"PYTHONPATH": str(tmp_path), "PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr


def test_services_that_were_left_out_are_really_gone(dependencies: layers.Layer, recipe: layers.Recipe) -> None:
    data = dependencies.folder / "python/botocore/data"

    assert {path.name for path in data.iterdir() if path.is_dir()} == set(recipe.services)


def test_a_layer_is_named_by_what_it_is_made_from(tmp_path: Path) -> None:
    here, there = _checkout(tmp_path / "here"), _checkout(tmp_path / "there")

    assert layers.core(here).digest == layers.core(there).digest

    (there / "layers/core/python/nodewright/module.py").write_text("X = 2\n")
    assert layers.core(here).digest != layers.core(there).digest


def test_bytecode_of_this_machine_does_not_get_into_the_name(tmp_path: Path) -> None:
    root = _checkout(tmp_path)
    before = layers.core(root)

    cache = root / "layers/core/python/nodewright/__pycache__"
    cache.mkdir()
    (cache / "module.cpython-311.pyc").write_bytes(b"x")

    assert layers.core(root) == before
    assert not list(before.folder.rglob("*-311.pyc"))


def test_an_unchanged_layer_is_not_built_again(tmp_path: Path) -> None:
    root = _checkout(tmp_path)
    built = layers.core(root).folder / "python/nodewright/module.py"
    first = built.stat()

    assert layers.core(root).folder / "python/nodewright/module.py" == built
    assert (built.stat().st_ino, built.stat().st_mtime_ns) == (first.st_ino, first.st_mtime_ns)


def test_old_layers_do_not_pile_up(tmp_path: Path) -> None:
    root = _checkout(tmp_path)
    for number in range(6):
        (root / "layers/core/python/nodewright/module.py").write_text(f"X = {number}\n")
        layers.core(root)

    assert len(list((root / ".build/layers").glob("core-*"))) == 4


def test_tracebacks_show_the_path_on_lambda(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("def f():\n    pass\n")

    bytecode.compile_tree(tmp_path, python=Path(sys.executable), shown_as="/opt/python")

    compiled = Path(importlib.util.cache_from_source(str(tmp_path / "module.py"))).read_bytes()
    assert marshal.loads(compiled[16:]).co_filename == "/opt/python/module.py"  # noqa: S302


def test_bytecode_is_used_whatever_the_date_of_its_source(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("pass\n")

    bytecode.compile_tree(tmp_path, python=Path(sys.executable), shown_as="/opt/python")

    compiled = Path(importlib.util.cache_from_source(str(tmp_path / "module.py"))).read_bytes()
    # PEP 552: bit 0 says by hash, bit 1 would say that the source is to be looked at.
    assert int.from_bytes(compiled[4:8], "little") == 0b01


def test_an_interpreter_of_another_version_is_not_taken() -> None:
    assert bytecode.interpreter("3.1") is None
    assert bytecode.interpreter(f"{sys.version_info.major}.{sys.version_info.minor}") == Path(sys.executable)


def _machine(path: Path) -> int:
    with path.open("rb") as library:
        header = library.read(20)
    assert header[:4] == b"\x7fELF", path
    return int.from_bytes(header[18:20], "little")


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def _checkout(root: Path) -> Path:
    package = root / "layers/core/python/nodewright"
    package.mkdir(parents=True)
    (package / "module.py").write_text("X = 1\n")
    (root / "layers/dependencies").mkdir()
    shutil.copy(layers.ROOT / "layers/dependencies/layer.toml", root / "layers/dependencies/layer.toml")
    return root
