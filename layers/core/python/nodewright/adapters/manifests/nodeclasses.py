"""EC2NodeClasses of v1 and v1beta1."""

from collections.abc import Mapping
from dataclasses import dataclass

from nodewright.adapters.manifests.block_devices import read_block_devices
from nodewright.adapters.manifests.fields import Fields, metadata_fields, report_on
from nodewright.adapters.manifests.generations import written_as_v1beta1
from nodewright.adapters.manifests.image_terms import read_images
from nodewright.adapters.manifests.kubelets import read_kubelet
from nodewright.adapters.manifests.launch_settings import read_metadata_options, read_tags
from nodewright.adapters.manifests.tag_filters import read_tag_filter
from nodewright.application.ports import ManifestWarning
from nodewright.domain.nodeclasses import NodeClass, SelectorTerm

_NOT_HONOURED = {
    "capacityReservationSelectorTerms": "its reservations are not used",
    "placementGroupSelector": "nodes are launched outside of it",
    "networkInterfaces": "nodes get one network interface",
    "ipPrefixCount": "no prefixes are assigned at launch",
    "connectionTracking": "EC2's own timeouts hold",
    "cpuOptions": "EC2's own options hold",
}


@dataclass(frozen=True, slots=True)
class NodeClassReading:
    """What a class's manifest came to; no class where it can't be used, and the warnings say why."""

    node_class: NodeClass | None
    warnings: tuple[ManifestWarning, ...]


def read_node_class(raw: Mapping[str, object]) -> NodeClassReading:
    """One EC2NodeClass object. Disks are left out where it names none: they are the image family's."""
    name, report = report_on(raw, "EC2NodeClass", "no node of this class is launched")
    root = Fields(raw, "", report)
    root.known("apiVersion", "kind", "metadata", "status")
    spec = root.child("spec")
    spec.not_honoured(_NOT_HONOURED)
    family, image_terms = read_images(spec)
    role, profile = _role_and_profile(spec)
    node_class = NodeClass(
        name=name,
        ami_family=family,
        ami_terms=image_terms,
        subnet_terms=_terms(spec, "subnetSelectorTerms"),
        security_group_terms=_terms(spec, "securityGroupSelectorTerms", named=True),
        role=role,
        instance_profile=profile,
        user_data=spec.text("userData"),
        block_devices=read_block_devices(spec),
        metadata_options=read_metadata_options(spec, hop_limit=2 if written_as_v1beta1(raw) else 1),
        tags=read_tags(spec),
        kubelet=read_kubelet(spec.child("kubelet")),
        detailed_monitoring=spec.flag("detailedMonitoring") or False,
        associate_public_ip=spec.flag("associatePublicIPAddress"),
        instance_store_raid0=_raid0(spec),
        context=spec.text("context"),
        terminating="deletionTimestamp" in metadata_fields(raw),
    )
    root.finish()
    return NodeClassReading(None if report.refused else node_class, tuple(report.warnings))


def _terms(spec: Fields, name: str, *, named: bool = False) -> tuple[SelectorTerm, ...]:
    """`named`: EC2 knows such things by a name of their own, beside the tag Name."""
    terms = tuple(_term(entry, named=named) for entry in spec.children(name))
    if not terms:
        spec.refuse(name, "it selects nothing; give at least one term with an id or tags")
    return terms


def _term(entry: Fields, *, named: bool) -> SelectorTerm:
    name = entry.text("name") if named else ""
    term = SelectorTerm(id=entry.text("id"), name=name, tags=read_tag_filter(entry))
    given = [bool(term.id), bool(term.name), bool(term.tags)].count(True)
    if given != 1:
        either = "an id, a name or tags" if named else "an id or tags"
        entry.refuse("", f"a term has either {either}, and this one has {given} of them")
    return term


def _role_and_profile(spec: Fields) -> tuple[str, str]:
    role, profile = spec.text("role"), spec.text("instanceProfile")
    if role and profile:
        spec.refuse("instanceProfile", "role and instanceProfile exclude each other; remove one")
    if ":" in role:
        spec.refuse("role", f"{role!r} is not a role's name; write the name alone, without arn:…:role/")
    return role, profile


def _raid0(spec: Fields) -> bool:
    policy = spec.text("instanceStorePolicy")
    if policy not in {"", "RAID0"}:
        spec.refuse("instanceStorePolicy", f"{policy!r} is not known; there is RAID0")
    return policy == "RAID0"
