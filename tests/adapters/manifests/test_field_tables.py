from collections.abc import Mapping

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # of moto's; it has no types

from tests.adapters.manifests.field_tables import TABLES, Reading, Row, Table, spoiled_rows

MADE = ("pool", "node_class", "overlay")


def with_status(*statuses: str) -> list[tuple[Table, Row]]:
    return [(table, row) for table in TABLES for row in table.rows if row.status in statuses]


def value_of(reading: Reading, attribute: str) -> object:
    """`pool.requirements[key]`, `node_class.kubelet.max_pods`; the key may have points in it."""
    path, _, key = attribute.removesuffix("]").partition("[")
    found: object = reading
    for name in path.split("."):
        found = getattr(found, name, None)
    return found.get(key) if key and isinstance(found, Mapping) else found


def usable(reading: Reading) -> bool:
    return any(getattr(reading, made, None) is not None for made in MADE)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_manifest_that_fields_are_set_in_has_nothing_wrong_with_it(table: Table) -> None:
    reading = table.read(table.base())
    assert usable(reading)
    assert reading.warnings == ()


@pytest.mark.parametrize(("table", "row"), with_status("honoured"))
def test_a_field_is_read(table: Table, row: Row) -> None:
    reading = table.read(table.manifest(row))
    assert reading.warnings == ()
    assert value_of(reading, row.attribute) == row.becomes


@pytest.mark.parametrize(("table", "row"), with_status("honoured"))
def test_what_a_field_says_is_not_what_holds_without_it(table: Table, row: Row) -> None:
    with_nothing = table.read(table.base())
    if row.attribute.startswith("kubelet."):
        assert getattr(with_nothing, "kubelet", None) is None
    else:
        assert value_of(with_nothing, row.attribute) != row.becomes


@pytest.mark.parametrize(("table", "row"), with_status("implied"))
def test_a_field_that_says_what_holds_anyway_changes_nothing_and_warns_of_nothing(table: Table, row: Row) -> None:
    reading, without = table.read(table.manifest(row)), table.read(table.base())
    assert reading.warnings == ()
    for made in MADE:
        assert getattr(reading, made, None) == getattr(without, made, None)


@pytest.mark.parametrize(("table", "row"), with_status("warned", "refused"))
def test_what_is_not_honoured_is_said_by_object_and_path_with_the_fix(table: Table, row: Row) -> None:
    reading = table.read(table.manifest(row))
    (warning,) = [w for w in reading.warnings if w.path == row.warned_path.replace("\\.", ".")]
    assert warning.object == f"{table.kind}/default"
    assert row.message in warning.message
    assert usable(reading) == (row.status == "warned")


def misspellings() -> list[tuple[Table, str, object, str]]:
    """Of each name a manifest may have: (table, path with two letters changed round, value, what was meant)."""
    found = {}
    for table, row in with_status("honoured", "implied"):
        inside, _, name = row.where.rpartition(".")
        if len(name) > 4 and name[-1] != name[-2] and inside.startswith("spec"):
            wrong = name[:-2] + name[-1] + name[-2]
            found[table.name, row.where] = (table, f"{inside}.{wrong}", row.value, name)
    return list(found.values())


@pytest.mark.parametrize(("table", "path", "value", "meant"), misspellings())
def test_a_misspelt_field_is_named_with_what_was_meant(table: Table, path: str, value: object, meant: str) -> None:
    reading = table.read(table.manifest(Row(path, value)))
    assert [w.message for w in reading.warnings if w.path == path] == [f"unknown field, ignored: did you mean {meant}?"]


SOUND = [(table, row) for table, row in with_status("honoured", "implied", "warned") if row.where.startswith("spec")]


@pytest.mark.parametrize(("table", "row"), SOUND)
def test_our_crd_takes_every_field(table: Table, row: Row) -> None:
    Draft202012Validator(table.schema).validate(table.manifest(row))


@pytest.mark.parametrize(("table", "row"), SOUND)
def test_our_crd_describes_every_field(table: Table, row: Row) -> None:
    """Down to where it takes anything."""
    inside = table.schema
    for name in row.path.replace("[]", "").split("."):
        inside = inside["items"] if inside["type"] == "array" else inside
        if "properties" not in inside:
            assert "additionalProperties" in inside or inside["x-kubernetes-preserve-unknown-fields"]
            return
        assert name in inside["properties"], f"{row.path}: no {name}"
        inside = inside["properties"][name]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_whatever_stands_in_a_field_is_read_or_told_of_by_its_path(table: Table) -> None:
    for row in spoiled_rows(table):
        for warning in table.read(table.manifest(row)).warnings:
            assert warning.object == f"{table.kind}/default"
            assert warning.path.startswith(row.where.partition(".")[0]), (row, warning)
            assert len(warning.message) < 400, (row, warning)
