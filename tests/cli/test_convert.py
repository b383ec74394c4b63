import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from nodewright.cli.app import app
from tests.adapters.manifests.raw import SEED_TWO, Json, node_pool, provisioner

RUNNER = CliRunner()


def convert(*arguments: str, stdin: str = "") -> Result:
    return RUNNER.invoke(app, ["convert", *arguments], input=stdin)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.yaml").write_text(yaml.safe_dump_all([provisioner(metadata={"name": "a"}), node_pool()]))
    (tmp_path / "b.yml").write_text(
        yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}})
    )
    return tmp_path


def test_a_directory_is_written_as_yaml_in_its_order(folder: Path) -> None:
    result = convert("-f", str(folder))
    assert result.exit_code == 0
    documents = list(yaml.safe_load_all(result.stdout))
    assert [(raw["apiVersion"], raw["kind"]) for raw in documents] == [
        ("karpenter.sh/v1", "NodePool"),
        ("karpenter.sh/v1", "NodePool"),
        ("v1", "ConfigMap"),
    ]
    assert all(list(raw)[:3] == ["apiVersion", "kind", "metadata"] for raw in documents)


def test_json_is_one_list(folder: Path) -> None:
    result = convert("-f", str(folder), "-o", "json")
    written = json.loads(result.stdout)
    assert (written["kind"], len(written["items"])) == ("List", 3)


def test_what_kubectl_prints_is_read_from_standard_input() -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": [provisioner(), node_pool(metadata={"name": "b"})]}
    result = convert("-f", "-", stdin=yaml.safe_dump(listed))
    assert [raw["metadata"]["name"] for raw in yaml.safe_load_all(result.stdout)] == ["default", "b"]


def test_warnings_go_to_standard_error_and_name_object_field_and_fix() -> None:
    result = convert("-f", "-", stdin=yaml.safe_dump(node_pool(wieght=3)))
    assert result.exit_code == 0
    assert result.stderr == "warning: NodePool/default spec.wieght: unknown field, ignored: did you mean weight?\n"


def test_what_can_not_be_converted_is_named_and_keeps_nothing_else_from_being_converted(folder: Path) -> None:
    bad: Json = provisioner(metadata={"name": "bad"}, weight=1000)
    (folder / "c.yaml").write_text(yaml.safe_dump(bad) + "---\na: [\n")
    result = convert("-f", str(folder))
    assert result.exit_code == 1
    documents = list(yaml.safe_load_all(result.stdout))
    assert documents[-1] == bad
    assert documents[0]["kind"] == "NodePool"
    assert "not converted:" in result.stderr
    assert "Provisioner/bad" in result.stderr.splitlines()[-1]
    assert "c.yaml document 2" in result.stderr.splitlines()[-1]


@pytest.mark.parametrize("arguments", [("-f", "/nowhere/a.yaml"), ("-f", "-"), ()])
def test_nothing_to_convert_is_told(arguments: tuple[str, ...]) -> None:
    result = convert(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr


def test_the_seed_converts_without_anything_left() -> None:
    result = convert("-f", str(SEED_TWO))
    assert result.exit_code == 0
    versions = {raw["apiVersion"] for raw in yaml.safe_load_all(result.stdout) if "karpenter" in raw["apiVersion"]}
    assert versions == {"karpenter.sh/v1", "karpenter.k8s.aws/v1"}
