import io
from pathlib import Path

import pytest

from nodewright.adapters.manifests.files import Documents, UnreadableInputError, read_sources, unfolded
from tests.adapters.manifests.raw import Json

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\n"


def read(*names: str | Path, standard_input: bytes = b"") -> Documents:
    return read_sources([str(name) for name in names], io.BytesIO(standard_input))


def read_text(tmp_path: Path, text: str | bytes, name: str = "in.yaml") -> Documents:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(path)


def names(documents: Documents) -> list[str]:
    return [str(each["metadata"]["name"]) for each in documents.objects]  # type: ignore[index]


def told(documents: Documents) -> list[str]:
    return [f"{Path(w.object).name}|{w.path}|{w.message}" for w in documents.warnings]


def test_directories_are_read_whole_in_the_order_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".git").mkdir()
    for name in ("b.yaml", "a.yml", "sub/c.json", ".git/d.yaml", "e.txt", ".hidden.yaml"):
        text = POD % name if not name.endswith("json") else f'{{"kind": "Pod", "metadata": {{"name": "{name}"}}}}'
        (tmp_path / name).write_text(text)
    assert names(read(tmp_path)) == ["a.yml", "b.yaml", "sub/c.json"]


def test_standard_input_is_read_as_dash() -> None:
    assert names(read("-", standard_input=(POD % "web").encode())) == ["web"]


def test_a_file_named_is_read_whatever_it_is_called(tmp_path: Path) -> None:
    assert names(read_text(tmp_path, POD % "web", "manifest.txt")) == ["web"]


def test_json_and_yaml_in_flow_style_are_told_apart(tmp_path: Path) -> None:
    assert names(read_text(tmp_path, '{"kind": "Pod", "metadata": {"name": "json"}}', "a")) == ["json"]
    assert names(read_text(tmp_path, "{kind: Pod, metadata: {name: flow}}", "a")) == ["flow"]
    assert names(read_text(tmp_path, '[{"kind": "Pod", "metadata": {"name": "array"}}]', "a")) == ["array"]


def test_marks_of_byte_order_and_directives_are_no_content(tmp_path: Path) -> None:
    assert names(read_text(tmp_path, b"\xef\xbb\xbf" + (POD % "bom").encode())) == ["bom"]
    assert names(read_text(tmp_path, b'\xef\xbb\xbf{"kind": "Pod", "metadata": {"name": "bom"}}')) == ["bom"]
    assert names(read_text(tmp_path, "%YAML 1.2\n---\n" + POD % "directive")) == ["directive"]


def test_a_broken_document_keeps_no_other_from_being_read(tmp_path: Path) -> None:
    documents = read_text(tmp_path, f"{POD % 'a'}---\nkind: [\n---\n{POD % 'b'}")
    assert names(documents) == ["a", "b"]
    (only,) = told(documents)
    assert only.startswith("in.yaml document 2|line 6|it is not YAML: ")


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("", "in.yaml||it is empty"),
        ("# only\n---\n# comments\n", "in.yaml||it holds nothing but comments"),
        (b"\x7fELF\xff", "in.yaml||it is not text in UTF-8, so it is left out; save it as UTF-8"),
        (b"kind: P\0d", "in.yaml||it is not text in UTF-8, so it is left out; save it as UTF-8"),
        ("[" * 5000, "in.yaml||it is nested too deeply to be a Kubernetes object, so it is left out"),
        ("a:\n\t- b\n", "in.yaml|line 2|a tab indents this line, which YAML doesn't allow; use spaces"),
        (
            "a: 1\na: 2\n",
            "in.yaml|line 2|the key 'a' is there twice; remove one of them, or write --- between two objects",
        ),
        ("\n\nreplicas: 3\n", "in.yaml|line 3|it is no Kubernetes object: it has no kind; left out"),
        ("- 5\n", "in.yaml|line 1|it is no Kubernetes object: it has no kind; left out"),
        (
            '{"kind": "Pod",\n "x": nope}',
            "in.yaml|line 2|it is not JSON: JSON is malformed: invalid character (byte 26)",
        ),
    ],
)
def test_what_cannot_be_read_is_told_by_file_and_line(tmp_path: Path, text: str | bytes, warning: str) -> None:
    assert told(read_text(tmp_path, text)) == [warning]


@pytest.mark.parametrize(
    "text", ["kind: Pod\nmetadata:\n  name: {{ .Values.name }}\n", "{{- if .Values.on }}\nkind: Pod\n{{ end }}"]
)
def test_a_template_is_told_to_be_rendered_first(tmp_path: Path, text: str) -> None:
    (only,) = told(read_text(tmp_path, text))
    assert "it is a template" in only
    assert "helm template" in only


def test_braces_in_a_text_are_no_template(tmp_path: Path) -> None:
    documents = read_text(tmp_path, 'kind: ConfigMap\nmetadata: {name: "{{ x }}"}\n')
    assert (names(documents), told(documents)) == (["{{ x }}"], [])


def test_numbers_where_texts_must_be_are_told_with_their_line(tmp_path: Path) -> None:
    documents = read_text(tmp_path, "kind: Pod\nmetadata:\n  name: a\n  labels:\n    version: 1.30\n")
    assert documents.objects[0]["metadata"] == {"name": "a", "labels": {"version": "1.30"}}
    (only,) = told(documents)
    assert only.startswith("in.yaml|line 5: metadata.labels.version|1.30 is a number to YAML")


def test_what_is_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match=r"nowhere\.yaml: No such file"):
        read(tmp_path / "nowhere.yaml")
    with pytest.raises(UnreadableInputError, match=r"holds no file that ends in \.json, \.yaml, \.yml"):
        read(tmp_path)


def test_lists_are_unfolded_and_their_items_named() -> None:
    listed: list[Json] = [
        {
            "kind": "List",
            "apiVersion": "v1",
            "items": [{"kind": "Pod"}, {"kind": "List", "items": [{"kind": "Node"}]}, 5],
        },
        {"kind": "DeploymentList", "apiVersion": "apps/v1", "items": [{"metadata": {"name": "a"}}]},
        {"kind": "Checklist"},
    ]
    assert list(unfolded(listed)) == [
        {"kind": "Pod"},
        {"kind": "Node"},
        {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "a"}},
        {"kind": "Checklist"},
    ]
