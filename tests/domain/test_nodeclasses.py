import pytest

from nodewright.domain.nodeclasses import NodeClass


def read_from(source: str) -> NodeClass:
    return NodeClass("web", "AL2", (), (), (), source=source)


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("", "EC2NodeClass/web"),
        ("AWSNodeTemplate/old", "AWSNodeTemplate/old"),
        ("Provisioner/old", "Provisioner/old"),
    ],
)
def test_a_class_is_called_as_the_object_it_was_read_from(source: str, shown: str) -> None:
    assert str(read_from(source)) == shown


@pytest.mark.parametrize(
    ("source", "field", "path"),
    [
        ("", "spec.subnetSelectorTerms", "spec.subnetSelectorTerms"),
        ("AWSNodeTemplate/old", "spec.subnetSelectorTerms", "spec.subnetSelector"),
        ("AWSNodeTemplate/old", "spec.amiSelectorTerms", "spec.amiSelector"),
        ("AWSNodeTemplate/old", "spec.userData", "spec.userData"),
        ("AWSNodeTemplate/old", "spec", "spec"),
        ("Provisioner/old", "spec.securityGroupSelectorTerms", "spec.provider.securityGroupSelector"),
        ("Provisioner/old", "spec.amiFamily", "spec.provider.amiFamily"),
    ],
)
def test_a_field_is_named_where_it_stands_in_that_object(source: str, field: str, path: str) -> None:
    assert read_from(source).path(field) == path
