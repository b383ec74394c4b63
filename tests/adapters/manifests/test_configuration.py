from nodewright.adapters.manifests.configuration import Configuration, read_configuration
from tests.adapters.manifests.raw import Json, node_class, node_pool, node_template, provisioner


def pool(name: str, max_pods: int | None = None, node_class: str = "default") -> Json:
    kubelet = {"kubelet": {"maxPods": max_pods}} if max_pods else {}
    node = {"nodeClassRef": {"name": node_class}, **kubelet}
    return node_pool(version="v1beta1", metadata={"name": name}, node=node)


def max_pods(configuration: Configuration) -> dict[str, int | None]:
    """By pool, of the class it ends up with."""
    classes = {c.name: c for c in configuration.node_classes}
    return {p.name: classes[p.node_class].kubelet.max_pods for p in configuration.pools}


def test_kubelet_settings_of_a_v1beta1_pool_go_to_its_class() -> None:
    read = read_configuration([pool("a", max_pods=30)], [node_class(version="v1beta1")])
    assert [c.name for c in read.node_classes] == ["default"]
    assert max_pods(read) == {"a": 30}
    assert read.warnings == ()


def test_pools_that_agree_share_their_class() -> None:
    read = read_configuration([pool("a", max_pods=30), pool("b", max_pods=30)], [node_class()])
    assert [c.name for c in read.node_classes] == ["default"]
    assert max_pods(read) == {"a": 30, "b": 30}


def test_pools_that_differ_get_a_copy_of_the_class_each_and_a_warning() -> None:
    read = read_configuration([pool("a", max_pods=30), pool("b", max_pods=50), pool("c")], [node_class()])
    assert [c.name for c in read.node_classes] == ["default", "default.a", "default.b"]
    assert max_pods(read) == {"a": 30, "b": 50, "c": None}
    (warning,) = read.warnings
    assert (warning.object, warning.path) == ("EC2NodeClass/default", "spec.kubelet")
    assert "default.a, default.b" in warning.message


def test_the_class_s_own_settings_hold_where_no_pool_has_any() -> None:
    read = read_configuration([node_pool()], [node_class(kubelet={"maxPods": 20})])
    assert max_pods(read) == {"default": 20}


def test_a_pool_whose_class_is_missing_is_still_a_pool() -> None:
    read = read_configuration([pool("a", node_class="gone")], [node_class()])
    assert [p.node_class for p in read.pools] == ["gone"]


def test_pools_and_classes_come_sorted_whatever_order_the_api_server_has() -> None:
    classes = [node_class(metadata={"name": name}) for name in "ba"]
    read = read_configuration([pool("d", node_class="a"), pool("c", node_class="b"), pool("b"), pool("a")], classes)
    assert [p.name for p in read.pools] == ["a", "b", "c", "d"]
    assert [c.name for c in read.node_classes] == ["a", "b"]


def test_one_bad_pool_leaves_the_others_alone() -> None:
    read = read_configuration([node_pool(weight=-1), pool("a")], [node_class()])
    assert [p.name for p in read.pools] == ["a"]
    assert [w.object for w in read.warnings] == ["NodePool/default"]


def test_old_and_new_kinds_are_read_side_by_side() -> None:
    read = read_configuration(
        [node_pool(metadata={"name": "new"}), provisioner(metadata={"name": "old"}, providerRef={"name": "old"})],
        [node_class(), node_template(metadata={"name": "old"})],
    )
    assert [(p.kind, p.name, p.node_class) for p in read.pools] == [
        ("NodePool", "new", "default"),
        ("Provisioner", "old", "old"),
    ]
    assert list(map(str, read.node_classes)) == ["EC2NodeClass/default", "AWSNodeTemplate/old"]
    assert read.warnings == ()


def test_an_object_without_a_kind_is_told_by_its_shape() -> None:
    pools = [node_pool(metadata={"name": "new"}), provisioner(metadata={"name": "old"})]
    classes = [node_class(metadata={"name": "new"}), node_template(metadata={"name": "default"})]
    read = read_configuration(*([without_kind(raw) for raw in raws] for raws in (pools, classes)))
    assert list(map(str, read.pools)) == ["NodePool/new", "Provisioner/old"]
    assert list(map(str, read.node_classes)) == ["AWSNodeTemplate/default", "EC2NodeClass/new"]


def test_of_two_pools_of_one_name_the_newer_kind_counts() -> None:
    for raws in ([node_pool(weight=3), provisioner()], [provisioner(), node_pool(weight=3)]):
        read = read_configuration(raws, [node_class()])
        assert [(p.kind, p.weight) for p in read.pools] == [("NodePool", 3)]
        (warning,) = read.warnings
        assert (warning.object, warning.path) == ("Provisioner/default", "metadata.name")
        assert "the NodePool of this name counts" in warning.message


def test_of_two_classes_of_one_name_the_newer_kind_counts() -> None:
    read = read_configuration([], [node_template(), node_class()])
    assert list(map(str, read.node_classes)) == ["EC2NodeClass/default"]
    (warning,) = read.warnings
    assert (warning.object, warning.path) == ("AWSNodeTemplate/default", "metadata.name")


def test_a_newer_pool_that_can_not_be_used_does_not_bring_the_older_back() -> None:
    read = read_configuration([node_pool(weight=-1), provisioner()], [node_class()])
    assert read.pools == ()
    assert [w.object for w in read.warnings] == ["Provisioner/default", "NodePool/default"]


def test_a_class_written_into_a_provisioner_is_a_class() -> None:
    inline = {"subnetSelector": {"a": "b"}, "securityGroupSelector": {"a": "b"}}
    raw = provisioner(providerRef=None, provider=inline, kubeletConfiguration={"maxPods": 20})
    read = read_configuration([raw], [node_class()])
    (found,) = read.pools
    assert [c.name for c in read.node_classes] == ["default", found.node_class]
    assert max_pods(read) == {"default": 20}


def test_provisioners_that_differ_in_kubelet_settings_get_a_copy_of_their_template_each() -> None:
    raws = [provisioner(metadata={"name": n}, kubeletConfiguration={"maxPods": m}) for n, m in (("a", 20), ("b", 30))]
    read = read_configuration(raws, [node_template()])
    assert max_pods(read) == {"a": 20, "b": 30}
    (warning,) = read.warnings
    assert (warning.object, warning.path) == ("AWSNodeTemplate/default", "spec.kubelet")
    assert {str(c) for c in read.node_classes} == {"AWSNodeTemplate/default"}


def test_of_two_manifests_for_one_object_the_last_counts() -> None:
    read = read_configuration([node_pool(weight=3), node_pool(weight=5)], [node_class(), node_class(context="last")])
    assert [p.weight for p in read.pools] == [5]
    assert [c.context for c in read.node_classes] == ["last"]
    assert [(w.object, w.path) for w in read.warnings] == [
        ("NodePool/default", "metadata.name"),
        ("EC2NodeClass/default", "metadata.name"),
    ]


def test_an_object_without_a_name_is_left_out_and_keeps_no_other_from_being_read() -> None:
    nameless = [node_pool(metadata={"name": None}), provisioner(metadata={"name": ""})]
    read = read_configuration([*nameless, pool("a")], [node_class(), node_template(metadata={"name": None})])
    assert [p.name for p in read.pools] == ["a"]
    assert {(w.object, w.path) for w in read.warnings} == {
        ("NodePool/", "metadata.name"),
        ("Provisioner/", "metadata.name"),
        ("AWSNodeTemplate/", "metadata.name"),
    }


def without_kind(raw: Json) -> Json:
    return {name: value for name, value in raw.items() if name not in {"apiVersion", "kind"}}
