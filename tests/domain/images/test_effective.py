from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewright.domain.images import FAMILIES, effective, missing_image
from nodewright.domain.nodeclasses import BlockDevice, Kubelet, NodeClass, SelectorTerm
from tests.application.world import node_class

AL2_LATEST = (SelectorTerm(alias="al2@latest"),)
AL2023_LATEST = (SelectorTerm(alias="al2023@latest"),)


def al2(**changes: object) -> NodeClass:
    return replace(node_class(ami_family="AL2", ami_terms=AL2_LATEST), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("terms", [AL2_LATEST, (SelectorTerm(alias="al2@v20261109"),)], ids=["latest", "pinned"])
def test_al2_gives_way_to_the_latest_al2023_where_it_has_no_image(terms: tuple[SelectorTerm, ...]) -> None:
    written = al2(ami_terms=terms, kubelet=Kubelet(max_pods=20), block_devices=(BlockDevice("/dev/xvda", 50),))
    found, told = effective(written, "1.33")
    assert found == replace(written, ami_family="AL2023", ami_terms=AL2023_LATEST)
    assert told == "AL2 has no image for Kubernetes 1.33, so its nodes are AL2023; name AL2023 instead"


@pytest.mark.parametrize(
    ("written", "kubernetes"),
    [
        pytest.param(al2(), "1.32", id="AL2 has an image"),
        pytest.param(al2(ami_terms=(SelectorTerm(id="ami-1"),)), "1.37", id="its own image"),
        pytest.param(al2(user_data="#!/bin/sh"), "1.37", id="its own user data"),
        pytest.param(node_class(ami_family="Custom", ami_terms=AL2_LATEST), "1.37", id="Custom"),
        pytest.param(node_class(), "1.37", id="AL2023"),
    ],
)
def test_any_other_class_is_launched_as_it_is_written(written: NodeClass, kubernetes: str) -> None:
    assert effective(written, kubernetes) == (written, "")


def test_user_data_written_for_al2_is_what_to_change_where_there_is_no_image() -> None:
    path, fix = missing_image(al2(user_data="#!/bin/sh"), "1.33")
    assert path == "spec.userData"
    assert "set amiFamily AL2023" in fix
    assert missing_image(node_class(), "1.33")[0] == "spec.amiSelectorTerms"


@pytest.mark.property
@given(
    st.sampled_from([family.name for family in FAMILIES]),
    st.integers(20, 60),
    st.sampled_from(["", " \n", "#!/bin/sh"]),
    st.sampled_from([AL2_LATEST, AL2023_LATEST, (SelectorTerm(id="ami-1"),)]),
)
def test_it_is_done_once_and_told_whenever_it_is(
    family: str, minor: int, user_data: str, terms: tuple[SelectorTerm, ...]
) -> None:
    written = node_class(ami_family=family, user_data=user_data, ami_terms=terms)
    found, told = effective(written, f"1.{minor}")
    assert (found != written) == bool(told)
    assert effective(found, f"1.{minor}") == (found, "")
