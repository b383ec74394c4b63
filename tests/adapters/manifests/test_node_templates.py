import pytest

from nodewright.adapters.manifests.node_templates import read_node_template
from nodewright.domain.nodeclasses import BlockDevice, MetadataOptions, NodeClass, SelectorTerm
from tests.adapters.manifests.raw import Json, node_template


def sound(raw: Json) -> NodeClass:
    """The class of a manifest that has nothing wrong with it."""
    reading = read_node_template(raw)
    assert reading.warnings == ()
    assert reading.node_class is not None
    return reading.node_class


def test_a_template_is_read_field_by_field() -> None:
    ebs = {"volumeSize": "50G", "volumeType": "gp3", "iops": 3000, "throughput": 125, "deleteOnTermination": True}
    read = sound(
        node_template(
            amiFamily="Bottlerocket",
            instanceProfile="nodes",
            userData="[settings]",
            blockDeviceMappings=[{"deviceName": "/dev/xvda", "ebs": {**ebs, "encrypted": True}}],
            detailedMonitoring=True,
            context="reservation",
            tags={"Name": "web", "team": "a"},
        )
    )
    assert read == NodeClass(
        name="default",
        ami_family="Bottlerocket",
        ami_terms=(SelectorTerm(alias="bottlerocket@latest"),),
        subnet_terms=(SelectorTerm(tags={"team": "a"}),),
        security_group_terms=(SelectorTerm(id="sg-1"),),
        instance_profile="nodes",
        user_data="[settings]",
        block_devices=(BlockDevice("/dev/xvda", 47, "gp3", 3000, 125, encrypted=True, delete_on_termination=True),),
        metadata_options=MetadataOptions(http_put_response_hop_limit=2),
        tags={"Name": "web", "team": "a"},
        detailed_monitoring=True,
        context="reservation",
        source="AWSNodeTemplate/default",
    )


def test_the_family_is_al2_unless_said_otherwise() -> None:
    read = sound(node_template())
    assert (read.ami_family, read.ami_terms) == ("AL2", (SelectorTerm(alias="al2@latest"),))
    assert (read.role, read.instance_profile) == ("", "")


def test_an_image_of_its_own_takes_the_place_of_the_family_s() -> None:
    assert sound(node_template(amiSelector={"aws-ids": "ami-1"})).ami_terms == (SelectorTerm(id="ami-1"),)
    custom = sound(node_template(amiFamily="Custom", amiSelector={"team": "a"}, userData="#!/bin/sh"))
    assert (custom.ami_family, custom.ami_terms) == ("Custom", (SelectorTerm(tags={"team": "a"}),))


def test_the_metadata_service_takes_two_hops_unless_said_otherwise() -> None:
    assert sound(node_template()).metadata_options == MetadataOptions(http_put_response_hop_limit=2)
    options = {"httpTokens": "optional", "httpPutResponseHopLimit": 1}
    assert sound(node_template(metadataOptions=options)).metadata_options == MetadataOptions(
        http_tokens="optional", http_put_response_hop_limit=1
    )


@pytest.mark.parametrize("size", [100, "100", "100Gi"])
def test_a_size_without_a_unit_is_in_gib(size: object) -> None:
    disk = {"deviceName": "/dev/xvda", "ebs": {"volumeSize": size}}
    (device,) = sound(node_template(blockDeviceMappings=[disk])).block_devices
    assert device.volume_size_gib == 100


def test_a_template_being_deleted_says_so() -> None:
    assert sound(node_template(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})).terminating


def test_an_unknown_field_is_a_warning_and_no_more() -> None:
    reading = read_node_template(node_template(subnetSelectors={"a": "b"}))
    (warning,) = reading.warnings
    assert reading.node_class is not None
    assert (warning.object, warning.path) == ("AWSNodeTemplate/default", "spec.subnetSelectors")


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (node_template(subnetSelector=None), "spec.subnetSelector"),
        (node_template(securityGroupSelector=None), "spec.securityGroupSelector"),
        (node_template(amiFamily="Ubuntu"), "spec.amiFamily"),
        (node_template(amiFamily="Windows2022"), "spec.amiFamily"),
        (node_template(amiFamily="Custom"), "spec.amiSelector"),
        (node_template(metadataOptions={"httpTokens": "maybe"}), "spec.metadataOptions.httpTokens"),
        (node_template(launchTemplate="mine"), "spec.launchTemplate"),
        (
            node_template(blockDeviceMappings=[{"deviceName": "a", "ebs": {"volumeSize": 1, "volumeType": "fast"}}]),
            "spec.blockDeviceMappings[0].ebs.volumeType",
        ),
    ],
)
def test_what_we_do_not_understand_is_not_launched(raw: Json, path: str) -> None:
    reading = read_node_template(raw)
    (warning,) = reading.warnings
    assert reading.node_class is None
    assert warning.path == path
    assert "no node of this template is launched until this is fixed" in warning.message


def test_a_launch_template_is_refused_with_what_to_write_instead() -> None:
    (warning,) = read_node_template(node_template(launchTemplate="mine")).warnings
    for field in ("amiSelector", "userData", "securityGroupSelector", "blockDeviceMappings"):
        assert field in warning.message


@pytest.mark.parametrize("raw", [{}, {"metadata": {"name": "x"}, "spec": "text"}, {"spec": {"tags": ["a"]}}])
def test_a_manifest_of_any_other_shape_is_refused_without_a_crash(raw: Json) -> None:
    reading = read_node_template(raw)
    assert reading.node_class is None
    assert reading.warnings
