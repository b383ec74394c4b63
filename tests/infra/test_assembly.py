from pathlib import Path

import pytest

from sandbox import deploy


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, content in {
        "cdk.json": "{}",
        "uv.lock": "",
        "infra/app.py": "",
        "functions/tick/handler.py": "",
        "layers/core/python/nodewright/settings.py": "",
        "sandbox/node/package-lock.json": "{}",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    return tmp_path


@pytest.fixture
def synthesized(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Stands in for CDK; where it was asked to synthesize."""
    asked: list[Path] = []

    def synth(out: Path, _context: object = None, **_: object) -> None:
        out.mkdir()
        asked.append(out)

    monkeypatch.setattr(deploy, "synth", synth)
    return asked


@pytest.mark.parametrize(
    "changed", ["cdk.json", "uv.lock", "infra/app.py", "functions/tick/handler.py", "sandbox/node/package-lock.json"]
)
def test_whatever_synthesis_reads_makes_another_assembly(root: Path, synthesized: list[Path], changed: str) -> None:
    before = deploy.assembly(root=root)
    (root / changed).write_text("changed")

    assert deploy.assembly(root=root) != before
    assert len(synthesized) == 2


def test_another_choice_makes_another_assembly(root: Path, synthesized: list[Path]) -> None:
    assert deploy.assembly({"retainState": "false"}, root=root) != deploy.assembly(root=root)
    assert len(synthesized) == 2


def test_the_same_input_is_synthesized_once_whatever_python_compiled(root: Path, synthesized: list[Path]) -> None:
    first = deploy.assembly(root=root)
    (root / "infra/__pycache__").mkdir()
    (root / "infra/__pycache__/app.cpython-311.pyc").write_bytes(b"x")

    assert deploy.assembly(root=root) == first
    assert len(synthesized) == 1


def test_assemblies_do_not_pile_up(root: Path, synthesized: list[Path]) -> None:
    made = []
    for number in range(6):
        (root / "cdk.json").write_text(str(number))
        made.append(deploy.assembly(root=root))

    assert made[-1].is_dir()
    assert len(list((root / ".build/assemblies").iterdir())) == 4
    assert len(synthesized) == 6


def test_the_program_is_the_one_that_the_lock_names() -> None:
    program = deploy.ensure_node_tools()

    installed = (program.parents[1] / "package.json").read_text()
    assert '"version": "2.1148.1"' in installed
    assert '"version": "2.1148.1"' in (deploy.ROOT / "sandbox/node/package-lock.json").read_text()


def test_nobody_elses_aws_account_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "real")

    environment = deploy._environment({"AWS_ACCESS_KEY_ID": "sandbox"})

    assert "AWS_PROFILE" not in environment
    assert environment["AWS_ACCESS_KEY_ID"] == "sandbox"
