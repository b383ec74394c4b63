from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nodewright.adapters.manifests.yaml_text import yaml_text
from nodewright.adapters.manifests.yaml_values import read_yaml, split_documents

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
LOOKALIKES = st.sampled_from(
    [
        "1e3",
        "0x1f",
        "0o17",
        "017",
        "1_000",
        "on",
        "no",
        "null",
        "~",
        "1.5",
        ".5",
        "-1",
        "2026-01-01",
        "22:22",
        "a: b",
        "#",
    ]
)
SCALARS = st.one_of(TEXT, LOOKALIKES, st.booleans(), st.integers(-(2**60), 2**60), st.none())
KEYS = st.one_of(st.from_regex("[a-z][a-z./-]{0,8}", fullmatch=True), LOOKALIKES)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=12,
)


@pytest.mark.property
@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4))
@example({"userData": "#!/bin/sh\necho  \n\n"})
@example({"userData": "\n a\n\tb"})
@example({"annotations": {"a": "1"}})
@settings(deadline=None)
def test_what_is_written_reads_as_what_it_was(document: dict[str, Any]) -> None:
    assert read_yaml(yaml_text([document]))[0] == document


def test_documents_are_told_apart_and_keys_keep_their_order() -> None:
    text = yaml_text([{"kind": "B", "apiVersion": "v1"}, {"kind": "A"}])
    assert [part for _, part in split_documents(text)] == ["kind: B\napiVersion: v1\n", "\nkind: A\n"]


def test_text_of_several_lines_is_written_as_such() -> None:
    assert yaml_text([{"userData": "#!/bin/sh\necho\n"}]) == "userData: |\n  #!/bin/sh\n  echo\n"


def test_a_value_that_stands_twice_is_written_twice() -> None:
    same = {"a": "b"}
    assert yaml_text([{"x": same, "y": same}]) == "x:\n  a: b\ny:\n  a: b\n"
