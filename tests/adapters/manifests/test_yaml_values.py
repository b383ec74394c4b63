import pytest

from nodewright.adapters.manifests.yaml_values import Note, YamlError, read_yaml, split_documents


def value(text: str) -> object:
    return read_yaml(text)[0]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1", 1),
        ("-7", -7),
        ("0o17", 15),
        ("017", 15),
        ("0x1F", 31),
        ("1.30", 1.3),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("true", True),
        ("False", False),
        ("~", None),
        ("null", None),
        ("", None),
    ],
)
def test_plain_scalars_are_numbers_booleans_or_nothing(written: str, meant: object) -> None:
    found = value(f"a: {written}")
    assert found == {"a": meant}
    assert isinstance(found, dict)
    assert type(found["a"]) is type(meant)


@pytest.mark.parametrize(
    "written",
    [
        "on",
        "NO",
        "yes",
        "y",
        "22:22",
        "2026-01-01",
        "1_000",
        "1.2.3",
        "500m",
        "089",
        "=",
        "0b1",
        "1e9999",
        "+",
        ".",
    ],
)
def test_what_yaml_1_1_makes_something_else_of_is_a_text(written: str) -> None:
    assert value(f"a: {written}") == {"a": written}


@pytest.mark.parametrize("written", ['"1.30"', "'true'", "!!str 5", '"null"'])
def test_quoted_and_tagged_texts_stay_texts(written: str) -> None:
    assert value(f"a: {written}") == {"a": written.strip("\"'").removeprefix("!!str ")}


def test_maps_of_texts_keep_numbers_as_they_are_written_and_tell() -> None:
    read, notes = read_yaml("metadata:\n  labels: {version: 1.30}\n  annotations: {on: true}\n")
    assert read == {"metadata": {"labels": {"version": "1.30"}, "annotations": {"on": "true"}}}
    assert [(note.line, note.path) for note in notes] == [
        (1, "metadata.labels.version"),
        (2, "metadata.annotations.on"),
    ]
    assert notes[0] == Note(1, "metadata.labels.version", notes[0].message)
    assert "quotes" in notes[0].message


def test_keys_are_texts() -> None:
    assert value("{1: a, true: b}") == {"1": "a", "true": "b"}


def test_merge_keys_are_merged_and_what_stands_there_wins() -> None:
    text = "one: &one {a: 1, b: 1}\ntwo: &two {b: 2, c: 2}\nboth: {<<: [*one, *two], c: 3}\nalone: {<<: *two}\n"
    read = value(text)
    assert isinstance(read, dict)
    assert read["both"] == {"a": 1, "b": 1, "c": 3}
    assert read["alone"] == {"b": 2, "c": 2}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", 2, "'a' is there twice"),
        ("a:\n\t- b\n", 1, "cannot start any token"),
        ("a: [1, 2\n", 1, "did not find"),
        ("a: *nobody\n", 0, "undefined alias"),
        ("a: {{ x }}\n", 0, "a key must be a text"),
        ("a: &a [*a]\n", 0, "nested too deeply"),
        ("<<: 5\n", 0, "<< must name a map"),
        ("a: \x01\n", 0, "not YAML"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(YamlError, match=message) as raised:
        read_yaml(text)
    assert raised.value.line == line


def test_aliases_that_stand_for_more_than_fits_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodewright.adapters.manifests.yaml_values.MOST_VALUES", 1000)
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(YamlError, match="repeat too much"):
        read_yaml("\n".join(lines))


def test_an_empty_document_is_nothing() -> None:
    assert read_yaml("# nothing\n") == (None, ())


def test_documents_are_split_where_their_line_begins() -> None:
    text = "a: 1\n---\nb: |\n  ---\n  text\n--- # third\nc: ---\n"
    assert list(split_documents(text)) == [(0, "a: 1\n"), (1, "\nb: |\n  ---\n  text\n"), (5, " # third\nc: ---\n")]
