"""uv and Python 3.13 are stood in for by small scripts here, so nothing is downloaded."""

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from sandbox.lambdas.interpreter import NoRuntimeError, current_runtime, prepare_runtime

UV = """#!{python}
import sys
from pathlib import Path
arguments = sys.argv[1:]
with Path(__file__).with_name("calls").open("a") as calls:
    print(*arguments, file=calls)
if arguments[0] == "export":
    Path(arguments[arguments.index("--output-file") + 1]).write_text("numpy==2.4.6\\n")
elif "awslambdaric" in arguments:
    target = Path(arguments[arguments.index("--target") + 1])
    (target / "awslambdaric").mkdir(parents=True)
    (target / "awslambdaric" / "__init__.py").touch()
else:
    target = Path(arguments[arguments.index("--target") + 1])
    for name in {files!r}:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).touch()
"""
PYTHON_313 = """#!/bin/sh
if [ "$1" = "-c" ]; then echo "3.13 $0"; else exec {python} "$@"; fi
"""
INSTALLED = [
    "numpy/__init__.py",
    "numpy/core.cpython-313-x86_64-linux-gnu.so",
    "numpy/tests/test_all.py",
    "numpy.libs/libblas.so.0",
    "aiohttp/__init__.py",
    "aiohttp/speed.cpython-313-x86_64-linux-gnu.so",
]
LAYER = ["numpy/__init__.py", "numpy/core.cpython-313-aarch64-linux-gnu.so", "numpy-2.4.6.dist-info/METADATA"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    for name in ("uv.lock", "pyproject.toml"):
        (root / name).write_text(name)
    return root


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    uv = _script(tmp_path / "tools" / "uv", UV.format(python=sys.executable, files=INSTALLED))
    return {"UV": str(uv), "PATH": str(tmp_path / "empty"), "PYENV_ROOT": str(tmp_path / "pyenv")}


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    return _folder(tmp_path / "layer", LAYER)


def test_a_machine_without_python_3_13_runs_functions_on_this_one_with_all_that_is_locked(
    root: Path, environment: Mapping[str, str], layer: Path
) -> None:
    runtime = prepare_runtime(root, [layer], environment)
    assert (runtime.python, runtime.version) == (current_runtime().python, current_runtime().version)
    assert _sources(runtime.dependencies) == sorted(INSTALLED)


def test_python_3_13_is_found_among_pyenvs_versions_and_a_shim_to_nowhere_is_passed_over(
    root: Path, environment: Mapping[str, str], tmp_path: Path
) -> None:
    _script(tmp_path / "empty" / "python3.13", "#!/bin/sh\necho 'not installed' >&2\nexit 127\n")
    python = tmp_path / "pyenv" / "versions" / "3.13.1" / "bin" / "python3.13"
    _script(python, PYTHON_313.format(python=sys.executable))
    runtime = prepare_runtime(root, [], environment)
    assert (runtime.python, runtime.version) == (python, "3.13")


def test_what_the_layer_leaves_out_is_missing_here_too(
    root: Path, environment: Mapping[str, str], layer: Path, tmp_path: Path
) -> None:
    _script(tmp_path / "empty" / "python3.13", PYTHON_313.format(python=sys.executable))
    runtime = prepare_runtime(root, [layer], environment)
    assert _sources(runtime.dependencies) == sorted(
        ["numpy/__init__.py", "numpy/core.cpython-313-x86_64-linux-gnu.so", "numpy.libs/libblas.so.0"]
    )
    assert [folder.name for folder in runtime.packages] == ["runtime"]
    assert _sources(runtime.packages[0]) == ["awslambdaric/__init__.py"]


def test_it_is_built_once_for_a_lock(root: Path, environment: Mapping[str, str], tmp_path: Path) -> None:
    def calls() -> int:
        return len((tmp_path / "tools" / "calls").read_text().splitlines())

    first = prepare_runtime(root, [], environment)
    after_first = calls()
    assert prepare_runtime(root, [], environment) == first
    assert calls() == after_first
    (root / "uv.lock").write_text("another")
    assert prepare_runtime(root, [], environment) != first
    assert calls() == 2 * after_first


def test_builds_that_nobody_used_for_days_are_removed_and_those_in_use_stay(
    root: Path, environment: Mapping[str, str]
) -> None:
    idle = _built(root, environment, "idle", days=4)
    killed = idle.with_name(f"{idle.name}.123")
    killed.mkdir()
    _age(killed, days=4)
    recent = _built(root, environment, "recent", days=2)
    old_but_used = _built(root, environment, "old but used", days=9)
    _built(root, environment, "old but used", days=0)
    now = _built(root, environment, "now", days=0)
    assert sorted(now.parent.iterdir()) == sorted([recent, old_but_used, now])


def test_another_layer_is_another_build(
    root: Path, environment: Mapping[str, str], layer: Path, tmp_path: Path
) -> None:
    first = prepare_runtime(root, [layer], environment)
    assert prepare_runtime(root, [_folder(tmp_path / "other", [*LAYER, "new/__init__.py"])], environment) != first


def test_a_failed_build_leaves_nothing_and_gives_uvs_words(
    root: Path, environment: Mapping[str, str], tmp_path: Path
) -> None:
    uv = _script(tmp_path / "broken" / "uv", "#!/bin/sh\necho 'no such index' >&2\nexit 2\n")
    with pytest.raises(NoRuntimeError, match="no such index"):
        prepare_runtime(root, [], {**environment, "UV": str(uv)})
    assert list((root / ".build" / "runtime").iterdir()) == []


def test_without_uv_it_says_where_it_looked(root: Path, environment: Mapping[str, str]) -> None:
    with pytest.raises(NoRuntimeError, match=r"neither in UV, nor on PATH, nor at .*\.tools/uv/bin/uv"):
        prepare_runtime(root, [], {**environment, "UV": ""})


def _built(root: Path, environment: Mapping[str, str], lock: str, *, days: int) -> Path:
    """The build of this lock, last used so long ago."""
    (root / "uv.lock").write_text(lock)
    dependencies = prepare_runtime(root, [], environment).dependencies
    assert dependencies is not None
    _age(dependencies.parent, days)
    return dependencies.parent


def _age(folder: Path, days: int) -> None:
    then = folder.stat().st_mtime - days * 24 * 3600
    os.utime(folder, (then, then))


def _script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def _folder(folder: Path, names: list[str]) -> Path:
    for name in names:
        (folder / "python" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "python" / name).touch()
    return folder


def _sources(folder: Path | None) -> list[str]:
    assert folder is not None
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return sorted(path.relative_to(folder).as_posix() for path in files)
