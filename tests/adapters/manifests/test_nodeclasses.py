import pytest

from nodewright.adapters.manifests.nodeclasses import NodeClassReading, read_node_class
from nodewright.domain.nodeclasses import BlockDevice, MetadataOptions, NodeClass, SelectorTerm
from tests.adapters.manifests.raw import Json, node_class


def sound(raw: Json) -> NodeClass:
    """The class of a manifest that has nothing wrong with it."""
    reading = read_node_class(raw)
    assert reading.warnings == ()
    assert reading.node_class is not None
    return reading.node_class


def only_warning(reading: NodeClassReading) -> tuple[str, str]:
    (warning,) = reading.warnings
    assert warning.object == "EC2NodeClass/default"
    return warning.path, warning.message


def written_by(*versions: str) -> Json:
    """Metadata of an object whose spec was written through these versions, one after the other."""
    entries = [
        {"apiVersion": f"karpenter.k8s.aws/{version}", "time": f"2026-01-0{day}T00:00:00Z", "fieldsV1": {"f:spec": {}}}
        for day, version in enumerate(versions, start=1)
    ]
    status = {"apiVersion": "karpenter.k8s.aws/v1beta1", "time": "2026-02-01T00:00:00Z", "fieldsV1": {"f:status": {}}}
    return {"managedFields": [*entries[::-1], status]}


def test_a_v1_class_is_read_field_by_field() -> None:
    read = sound(
        node_class(
            amiFamily="Custom",
            amiSelectorTerms=[{"name": "mine-*", "owner": "self"}, {"ssmParameter": "/mine"}, {"id": "ami-1"}],
            subnetSelectorTerms=[{"id": "subnet-1"}, {"tags": {"team": "*"}}],
            securityGroupSelectorTerms=[{"name": "nodes"}],
            userData="#!/bin/sh",
            tags={"team": "a"},
            associatePublicIPAddress=False,
            detailedMonitoring=True,
            instanceStorePolicy="RAID0",
            context="reserved",
            kubelet={"maxPods": 30, "evictionHard": {"memory.available": "5%"}, "cpuCFSQuota": False},
            metadataOptions={"httpTokens": "optional", "httpPutResponseHopLimit": 3},
        )
    )
    assert read.ami_family == "Custom"
    assert read.ami_terms == (
        SelectorTerm(name="mine-*", owner="self"),
        SelectorTerm(ssm_parameter="/mine"),
        SelectorTerm(id="ami-1"),
    )
    assert read.subnet_terms == (SelectorTerm(id="subnet-1"), SelectorTerm(tags={"team": "*"}))
    assert read.security_group_terms == (SelectorTerm(name="nodes"),)
    assert (read.role, read.instance_profile, read.user_data) == ("node", "", "#!/bin/sh")
    assert (read.tags, read.context) == ({"team": "a"}, "reserved")
    assert (read.associate_public_ip, read.detailed_monitoring, read.instance_store_raid0) == (False, True, True)
    assert (read.kubelet.max_pods, read.kubelet.cpu_cfs_quota) == (30, False)
    assert read.kubelet.eviction_hard == {"memory.available": "5%"}
    assert read.metadata_options == MetadataOptions(http_tokens="optional", http_put_response_hop_limit=3)


@pytest.mark.parametrize(
    ("alias", "family"),
    [("al2@latest", "AL2"), ("al2023@v20260101", "AL2023"), ("bottlerocket@1.50.0", "Bottlerocket")],
)
def test_an_alias_says_the_family(alias: str, family: str) -> None:
    read = sound(node_class(amiSelectorTerms=[{"alias": alias}]))
    assert read.ami_family == family
    assert read.ami_terms == (SelectorTerm(alias=alias),)


@pytest.mark.parametrize(("family", "alias"), [("AL2", "al2"), ("AL2023", "al2023"), ("Bottlerocket", "bottlerocket")])
def test_a_family_without_terms_means_its_latest_image(family: str, alias: str) -> None:
    read = sound(node_class(version="v1beta1", amiFamily=family, amiSelectorTerms=None))
    assert read.ami_terms == (SelectorTerm(alias=f"{alias}@latest"),)


def test_family_custom_may_stand_beside_an_alias() -> None:
    assert sound(node_class(amiFamily="Custom")).ami_family == "Custom"


@pytest.mark.parametrize(
    ("raw", "hop_limit"),
    [
        (node_class(), 1),
        (node_class(version="v1beta1"), 2),
        (node_class(metadata=written_by("v1beta1")), 2),
        (node_class(metadata=written_by("v1beta1", "v1")), 1),
        (node_class(metadata=written_by("v1", "v1beta1")), 2),
        (node_class(version="v1beta1", metadataOptions={"httpPutResponseHopLimit": 1}), 1),
    ],
)
def test_the_default_hop_limit_is_that_of_the_version_it_was_written_in(raw: Json, hop_limit: int) -> None:
    assert sound(raw).metadata_options.http_put_response_hop_limit == hop_limit


@pytest.mark.parametrize(
    ("size", "gib"), [("20Gi", 20), ("2Gi", 2), ("100G", 94), ("1.5Gi", 2), ("1Ti", 1024), ("1T", 932)]
)
def test_disk_sizes_are_whole_gib_rounded_up(size: str, gib: int) -> None:
    read = sound(node_class(blockDeviceMappings=[{"deviceName": "/dev/xvda", "ebs": {"volumeSize": size}}]))
    assert read.block_devices == (BlockDevice("/dev/xvda", volume_size_gib=gib),)


def test_a_disk_is_read_field_by_field() -> None:
    ebs = {
        "volumeSize": "20Gi",
        "volumeType": "gp3",
        "iops": 3000,
        "throughput": 125,
        "encrypted": True,
        "kmsKeyID": "key",
        "snapshotID": "snap-1",
        "deleteOnTermination": False,
    }
    read = sound(node_class(blockDeviceMappings=[{"deviceName": "/dev/xvda", "rootVolume": True, "ebs": ebs}]))
    assert read.block_devices == (
        BlockDevice(
            "/dev/xvda",
            volume_size_gib=20,
            volume_type="gp3",
            iops=3000,
            throughput=125,
            encrypted=True,
            kms_key_id="key",
            snapshot_id="snap-1",
            delete_on_termination=False,
            root_volume=True,
        ),
    )


def test_disks_are_left_to_the_image_family_where_none_are_named() -> None:
    assert sound(node_class()).block_devices == ()


def test_neither_role_nor_profile_is_fine() -> None:
    read = sound(node_class(role=None))
    assert (read.role, read.instance_profile) == ("", "")


@pytest.mark.parametrize(
    "key",
    ["karpenter.sh/nodepool", "kubernetes.io/cluster/mine", "eks:eks-cluster-name", "nodewright.dev/stack"],
)
def test_a_tag_that_is_ours_is_left_out_with_a_warning(key: str) -> None:
    reading = read_node_class(node_class(tags={key: "x", "team": "a"}))
    path, _ = only_warning(reading)
    assert path == f"spec.tags.{key}"
    assert reading.node_class is not None
    assert reading.node_class.tags == {"team": "a"}


def test_what_can_not_be_honoured_yet_is_a_warning() -> None:
    reading = read_node_class(node_class(placementGroupSelector={"name": "a"}, ipPrefixCount=0))
    path, message = only_warning(reading)
    assert reading.node_class is not None
    assert path == "spec.placementGroupSelector"
    assert "not honoured" in message


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (node_class(amiFamily="Ubuntu", amiSelectorTerms=[{"id": "ami-1"}]), "spec.amiFamily"),
        (node_class(amiFamily="Windows2022", amiSelectorTerms=[{"id": "ami-1"}]), "spec.amiFamily"),
        (node_class(amiSelectorTerms=[{"alias": "windows2022@latest"}]), "spec.amiSelectorTerms[0].alias"),
        (node_class(amiFamily="AL2"), "spec.amiFamily"),
        (node_class(amiSelectorTerms=None), "spec.amiFamily"),
        (node_class(amiSelectorTerms=[{"id": "ami-1"}]), "spec.amiFamily"),
        (node_class(amiFamily="Custom", amiSelectorTerms=None), "spec.amiSelectorTerms"),
        (node_class(amiSelectorTerms=[{"alias": "al2023@latest"}, {"id": "ami-1"}]), "spec.amiSelectorTerms"),
        (node_class(amiFamily="AL2023", amiSelectorTerms=[{"owner": "self"}]), "spec.amiSelectorTerms[0].owner"),
        (node_class(amiFamily="AL2023", amiSelectorTerms=[{"id": "a", "name": "b"}]), "spec.amiSelectorTerms[0]"),
        (node_class(subnetSelectorTerms=[]), "spec.subnetSelectorTerms"),
        (node_class(subnetSelectorTerms=[{}]), "spec.subnetSelectorTerms[0]"),
        (node_class(subnetSelectorTerms=[{"id": "a", "tags": {"a": "b"}}]), "spec.subnetSelectorTerms[0]"),
        (node_class(subnetSelectorTerms=[{"tags": {"a": ""}}]), "spec.subnetSelectorTerms[0].tags.a"),
        (node_class(securityGroupSelectorTerms=None), "spec.securityGroupSelectorTerms"),
        (node_class(instanceProfile="p"), "spec.instanceProfile"),
        (node_class(role="arn:aws:iam::1:role/node"), "spec.role"),
        (node_class(instanceStorePolicy="RAID1"), "spec.instanceStorePolicy"),
        (node_class(metadataOptions={"httpTokens": "maybe"}), "spec.metadataOptions.httpTokens"),
        (node_class(metadataOptions={"httpPutResponseHopLimit": 0}), "spec.metadataOptions.httpPutResponseHopLimit"),
        (node_class(blockDeviceMappings=[{"deviceName": "a", "ebs": {"volumeSize": "20"}}]),
         "spec.blockDeviceMappings[0].ebs.volumeSize"),
        (node_class(blockDeviceMappings=[{"ebs": {"volumeSize": "20Gi"}}]), "spec.blockDeviceMappings[0].deviceName"),
        (node_class(blockDeviceMappings=[{"deviceName": "a", "ebs": {"volumeSize": "1Gi", "volumeType": "fast"}}]),
         "spec.blockDeviceMappings[0].ebs.volumeType"),
        (node_class(kubelet={"evictionHard": {"memory": "5%"}}), "spec.kubelet.evictionHard.memory"),
    ],
)  # fmt: skip
def test_what_we_do_not_understand_is_not_launched(raw: Json, path: str) -> None:
    reading = read_node_class(raw)
    assert reading.node_class is None
    refusals = [w for w in reading.warnings if "no node of this class is launched" in w.message]
    assert path in {w.path for w in refusals}


def test_a_disk_without_size_and_snapshot_is_refused() -> None:
    reading = read_node_class(node_class(blockDeviceMappings=[{"deviceName": "/dev/xvda", "ebs": {}}]))
    path, message = only_warning(reading)
    assert reading.node_class is None
    assert path == "spec.blockDeviceMappings[0].ebs.volumeSize"
    assert "20Gi" in message


def test_two_root_volumes_are_refused() -> None:
    disk = {"deviceName": "/dev/xvda", "rootVolume": True, "ebs": {"volumeSize": "20Gi"}}
    assert read_node_class(node_class(blockDeviceMappings=[disk, disk])).node_class is None


@pytest.mark.parametrize("raw", [{}, {"metadata": {"name": "x"}, "spec": "text"}, {"spec": {"tags": ["a"]}}])
def test_a_manifest_of_any_other_shape_is_refused_without_a_crash(raw: Json) -> None:
    reading = read_node_class(raw)
    assert reading.node_class is None
    assert reading.warnings
