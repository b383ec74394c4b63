import re

from nodewright.adapters.ec2_static import _table, static_limits


def test_branch_interfaces_and_bandwidth_are_those_that_aws_publishes() -> None:
    assert static_limits("m5.large") == (9, 750)
    assert static_limits("c7g.4xlarge").branch_interfaces == 54


def test_a_type_without_trunking_has_no_branch_interfaces() -> None:
    assert static_limits("t3.large").branch_interfaces == 0


def test_a_type_newer_than_the_table_is_unknown() -> None:
    assert static_limits("zz9.huge") == (0, None)


def test_every_row_is_an_instance_type_with_plausible_figures() -> None:
    rows = _table().items()
    assert len(rows) > 1000
    assert [name for name, _ in rows if not re.fullmatch(r"[a-z0-9-]+\.[a-z0-9-]+", name)] == []
    assert [row for row in rows if not 0 <= row[1].branch_interfaces <= 200] == []
    assert [row for row in rows if not 0 < (row[1].network_bandwidth_mbps or 1) <= 10_000_000] == []
