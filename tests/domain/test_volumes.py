"""What the volumes of a pod mean for its node."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.domain.free_volumes import NO_PROVISIONER
from nodewright.domain.nodes import HOSTNAME_LABEL, NAME_FIELD, ZONE_LABEL
from nodewright.domain.pods import Attachment, ClaimTemplate, Pod, PodKey
from nodewright.domain.requirements import Requirements
from nodewright.domain.storage import PersistentVolume, PersistentVolumeClaim, Storage, StorageClass, VolumeAttachment
from nodewright.domain.volumes import ONE_POD_ONLY, attached, free_volumes, with_volumes
from tests.builders import NOW, pod, requirements

EBS = "ebs.csi.aws.com"
LAZY = StorageClass("lazy", EBS, waits=True)
EAGER = StorageClass("eager", EBS)


def zone(*names: str) -> Requirements:
    return requirements((ZONE_LABEL, "In", *names))


def claim(name: str = "data", storage_class: str | None = "lazy", **more: object) -> PersistentVolumeClaim:
    return replace(PersistentVolumeClaim("default", name, storage_class), **more)  # type: ignore[arg-type]


def bound(name: str, volume: str) -> PersistentVolumeClaim:
    return claim(name, volume=volume, bound=True)


def volume(name: str, *nodes: Requirements, **more: object) -> PersistentVolume:
    made = PersistentVolume(name, nodes or (Requirements(),), Attachment(EBS, f"vol-{name}"))
    return replace(made, **more)  # type: ignore[arg-type]


def looked_at(storage: Storage, *claims: str, **more: object) -> Pod:
    """A pod with these claims."""
    (read,) = with_volumes([pod(claim_names=claims or ("data",), **more)], storage)  # type: ignore[arg-type]
    return read


def problem(storage: Storage, *claims: str, **more: object) -> str:
    (only,) = looked_at(storage, *claims, **more).problems
    return only


def test_a_pod_without_claims_stays_as_it_is() -> None:
    plain = pod()
    assert with_volumes([plain, pod("q", claim_names=("data",))], Storage())[0] is plain


def test_a_bound_volume_fixes_the_zone_and_is_attached_by_its_handle() -> None:
    read = looked_at(Storage((bound("data", "v"),), (volume("v", zone("b")),)))
    assert read.volume_nodes == (zone("b"),)
    assert read.attachments == {Attachment(EBS, "vol-v")}
    assert read.problems == ()


def test_its_terms_are_alternatives() -> None:
    apart = requirements((ZONE_LABEL, "In", "a"), ("rack", "In", "1"))
    read = looked_at(Storage((bound("data", "v"),), (volume("v", apart, zone("b")),)))
    assert set(read.volume_nodes) == {apart, zone("b")}


def test_terms_that_list_values_of_one_label_become_one() -> None:
    read = looked_at(Storage((bound("data", "v"),), (volume("v", zone("b"), zone("a")),)))
    assert read.volume_nodes == (zone("a", "b"),)


def test_several_volumes_must_be_reached_at_once() -> None:
    claims = (bound("data", "v"), bound("logs", "w"))
    read = looked_at(Storage(claims, (volume("v", zone("a", "b")), volume("w", zone("b", "c")))), "data", "logs")
    assert read.volume_nodes == (zone("b"),)
    assert read.attachments == {Attachment(EBS, "vol-v"), Attachment(EBS, "vol-w")}


def test_volumes_in_different_zones_are_a_problem_that_names_both() -> None:
    storage = Storage((bound("data", "v"), bound("logs", "w")), (volume("v", zone("b")), volume("w", zone("c"))))
    says = problem(storage, "data", "logs")
    assert says.startswith("spec.volumes: no node reaches all of its volumes: ")
    assert f"data ({ZONE_LABEL} In [b]), logs ({ZONE_LABEL} In [c])" in says
    assert looked_at(storage, "data", "logs").volume_nodes == ()


def test_a_claim_that_waits_for_its_consumer_is_made_where_its_class_allows() -> None:
    storage = Storage((claim(),), classes=(replace(LAZY, topologies=(zone("c"),)),))
    assert looked_at(storage).volume_nodes == (zone("c"),)
    assert looked_at(storage).attachments == {Attachment(EBS, "default/data")}
    assert looked_at(Storage((claim(),), classes=(LAZY,))).volume_nodes == (Requirements(),)


def test_the_provisioner_of_old_makes_volumes_of_the_driver() -> None:
    old = StorageClass("lazy", "kubernetes.io/aws-ebs", waits=True)
    assert looked_at(Storage((claim(),), classes=(old,))).attachments == {Attachment(EBS, "default/data")}


def test_a_claim_whose_volume_is_being_made_for_a_node_waits_for_that_node() -> None:
    storage = Storage((claim(selected_node="n"),), classes=(LAZY,))
    assert looked_at(storage).volume_nodes == (requirements((NAME_FIELD, "In", "n")),)


def test_a_claim_that_names_no_class_has_the_newest_default_one() -> None:
    default = replace(LAZY, name="new", provisioner="x", default=True, created=NOW)
    older = replace(default, name="old", provisioner="y", created=NOW - timedelta(days=1))
    storage = Storage((claim(storage_class=None),), classes=(older, default))
    assert looked_at(storage).attachments == {Attachment("x", "default/data")}


def test_an_ephemeral_volume_whose_claim_is_to_come_follows_its_template() -> None:
    template = ClaimTemplate("p-tmp", "lazy")
    storage = Storage(classes=(replace(LAZY, topologies=(zone("c"),)),))
    read = looked_at(storage, "p-tmp", claim_templates=(template,))
    assert (read.volume_nodes, read.problems) == ((zone("c"),), ())
    there = replace(storage, claims=(bound("p-tmp", "v"),), volumes=(volume("v", zone("a")),))
    assert looked_at(there, "p-tmp", claim_templates=(template,)).volume_nodes == (zone("a"),)


def test_a_class_without_a_provisioner_offers_the_free_volumes_that_suit() -> None:
    def disk(name: str, **more: object) -> PersistentVolume:
        base = {"storage_class": "local", "available": True, "size": 10, "access_modes": frozenset({"ReadWriteOnce"})}
        here = requirements((HOSTNAME_LABEL, "In", name))
        return volume(name, here, attachment=None, **{**base, **more})

    disks = (
        disk("n-1"),
        disk("n-2"),
        disk("n-3", claimed_by="default/data", available=False),
        disk("taken", claimed_by="default/other"),
        disk("gone", available=False),
        disk("small", size=1),
        disk("shared", access_modes=frozenset({"ReadOnlyMany"})),
        disk("another", storage_class="slow"),
    )
    wanted = claim(storage_class="local", size=5, access_modes=frozenset({"ReadWriteOnce"}))
    local = StorageClass("local", NO_PROVISIONER, waits=True)
    read = looked_at(Storage((wanted,), disks, (local,)))
    assert read.volume_nodes == (requirements((HOSTNAME_LABEL, "In", "n-1", "n-2", "n-3")),)
    assert read.attachments == frozenset()
    assert "waits for a free PersistentVolume of class local" in problem(Storage((wanted,), (), (local,)))


@pytest.mark.parametrize(
    ("storage", "says"),
    [
        (Storage(), "claim data doesn't exist; create PersistentVolumeClaim default/data or correct"),
        (Storage((replace(bound("data", "v"), deleting=True),), (volume("v"),)), "claim data is being deleted"),
        (Storage((claim(volume="v", lost=True),)), "claim data has lost its volume v"),
        (Storage((bound("data", "v"),)), "is bound to PersistentVolume v, which doesn't exist"),
        (Storage((bound("data", "v"),), (volume("v", nodes=()),)), "whose nodeAffinity no node can meet"),
        (Storage((claim(storage_class="eager"),), classes=(EAGER,)), "class eager (Immediate) has ebs.csi.aws.com do"),
        (Storage((claim(volume="v"),), classes=(LAZY,)), "waits to be bound to PersistentVolume v"),
        (Storage((claim(storage_class=None),), classes=(LAZY,)), "has no StorageClass; set its storageClassName"),
        (Storage((claim(storage_class=""),), classes=(LAZY,)), "wants no StorageClass; create a PersistentVolume"),
        (Storage((claim(storage_class="x"),)), "names StorageClass x, which doesn't exist; create or correct it"),
        (Storage(None), "PersistentVolumeClaims may not be listed; run `nodewright connect` again"),
        (Storage((claim(),), None, None), "as PersistentVolumes, StorageClasses may not be listed"),
    ],
)
def test_what_a_claim_waits_for_is_said_with_the_fix(storage: Storage, says: str) -> None:
    found = problem(storage)
    assert found.startswith("spec.volumes: claim data ")
    assert says in found


def test_a_claim_for_one_pod_only_waits_for_the_pod_that_has_it() -> None:
    mine, other = pod("p", claim_names=("data",)), pod("q", claim_names=("data",), node_name="n", phase="Running")
    storage = Storage((replace(bound("data", "v"), access_modes=frozenset({ONE_POD_ONLY})),), (volume("v"),))
    waits, has = with_volumes([mine, other], storage)
    assert waits.problems == (
        f"spec.volumes: claim data is {ONE_POD_ONLY} and used by default/q; it waits for that to end",
    )
    assert has.problems == ()


def test_claims_are_those_of_the_pod_s_own_namespace() -> None:
    storage = Storage((bound("data", "v"),), (volume("v"),))
    assert "create PersistentVolumeClaim shop/data" in problem(storage, key=PodKey("shop", "p"))


def test_problems_and_attachments_of_the_pod_itself_stay() -> None:
    inline = Attachment(EBS, "vol-inline")
    read = looked_at(Storage(), problems=("first",), attachments=frozenset({inline}))
    assert read.problems[0] == "first"
    assert inline in read.attachments


class TestFreeVolumes:
    """Three disks: two of n-1, of which one is large, and one of n-2."""

    LOCAL = StorageClass("local", NO_PROVISIONER, waits=True)

    def disk(self, name: str, node: str, size: int) -> PersistentVolume:
        here = requirements((HOSTNAME_LABEL, "In", node))
        return volume(name, here, attachment=None, storage_class="local", available=True, size=size)

    def read(self, *sizes: int) -> tuple[tuple[Pod, ...], dict[str, dict[str, int]]]:
        """Pods that claim so much each, and what counts on either node."""
        disks = (self.disk("d1", "n-1", 5), self.disk("d2", "n-1", 10), self.disk("d3", "n-2", 5))
        claims = tuple(claim(f"c{n}", "local", size=size) for n, size in enumerate(sizes))
        storage = Storage(claims, disks, (self.LOCAL,))
        every = [pod(f"p{n}", claim_names=(f"c{n}",)) for n in range(len(sizes))]
        free = free_volumes(every, storage)
        return with_volumes(every, storage), {n: dict(free.within({HOSTNAME_LABEL: n})) for n in ("n-1", "n-2")}

    def test_as_long_as_nobody_else_wants_them_nothing_is_counted(self) -> None:
        (only,), counts = self.read(5)
        assert only.attachments == frozenset()
        assert counts == {"n-1": {}, "n-2": {}}

    def test_of_several_claims_no_more_go_to_a_node_than_it_has(self) -> None:
        (one, other), counts = self.read(5, 5)
        assert {each.driver for each in one.attachments} == {each.driver for each in other.attachments}
        assert sorted(count for each in counts.values() for count in each.values()) == [1, 2]

    def test_a_claim_that_fewer_suit_counts_among_those_and_among_all(self) -> None:
        (small, large, second), counts = self.read(5, 10, 10)
        assert len(large.attachments) == 2
        assert len(small.attachments) == 1
        assert [each for each in (small, large, second) if each.problems] == [second]
        assert sorted(counts["n-1"].values()) == [1, 2]

    def test_what_is_bound_already_is_no_claim_any_more(self) -> None:
        storage = Storage((bound("c0", "d1"),), (self.disk("d1", "n-1", 5),), (self.LOCAL,))
        assert free_volumes([pod(claim_names=("c0",))], storage).within({HOSTNAME_LABEL: "n-1"}) == {}


def test_what_is_attached_goes_by_its_handle_where_the_volume_is_known() -> None:
    there = (VolumeAttachment("n", EBS, "v"), VolumeAttachment("n", EBS, "gone"), VolumeAttachment("m", EBS, "v"))
    storage = Storage(volumes=(volume("v"),), attachments=there)
    assert attached(storage) == {
        "n": {Attachment(EBS, "vol-v"), Attachment(EBS, "gone")},
        "m": {Attachment(EBS, "vol-v")},
    }
