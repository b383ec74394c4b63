"""EC2NodeClasses of v1 and v1beta1."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from nodewright.adapters.manifests.block_devices import read_block_devices
from nodewright.adapters.manifests.fields import Fields, Report, metadata_fields
from nodewright.adapters.manifests.generations import written_as_v1beta1
from nodewright.adapters.manifests.image_terms import read_images
from nodewright.adapters.manifests.kubelets import read_kubelet
from nodewright.adapters.manifests.tag_filters import read_tag_filter
from nodewright.application.ports import ManifestWarning
from nodewright.domain.nodeclasses import MetadataOptions, NodeClass, SelectorTerm

_FORBIDDEN_TAGS = re.compile(
    r"eks:eks-cluster-name|kubernetes\.io/cluster/.*|karpenter\.sh/nodepool|karpenter\.sh/nodeclaim"
    r"|karpenter\.k8s\.aws/ec2nodeclass|nodewright\.dev/.*"
)
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
    """What an EC2NodeClass manifest came to; no class where it can't be used, and the warnings say why."""

    node_class: NodeClass | None
    warnings: tuple[ManifestWarning, ...]


def read_node_class(raw: Mapping[str, object]) -> NodeClassReading:
    """One EC2NodeClass object. Disks are left out where it names none: they are the image family's."""
    metadata = metadata_fields(raw)
    name = metadata.text("name")
    report = Report(f"EC2NodeClass/{name}", "no node of this class is launched")
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
        security_group_terms=_terms(spec, "securityGroupSelectorTerms"),
        role=role,
        instance_profile=profile,
        user_data=spec.text("userData"),
        block_devices=read_block_devices(spec),
        metadata_options=_metadata_options(spec, hop_limit=2 if written_as_v1beta1(raw) else 1),
        tags=_tags(spec),
        kubelet=read_kubelet(spec.child("kubelet")),
        detailed_monitoring=spec.flag("detailedMonitoring") or False,
        associate_public_ip=spec.flag("associatePublicIPAddress"),
        instance_store_raid0=_raid0(spec),
        context=spec.text("context"),
        terminating="deletionTimestamp" in metadata,
    )
    root.finish()
    return NodeClassReading(None if report.refused else node_class, tuple(report.warnings))


def _terms(spec: Fields, name: str) -> tuple[SelectorTerm, ...]:
    terms = tuple(_term(entry) for entry in spec.children(name))
    if not terms:
        spec.refuse(name, "it selects nothing; give at least one term with an id or tags")
    return terms


def _term(entry: Fields) -> SelectorTerm:
    term = SelectorTerm(id=entry.text("id"), name=entry.text("name"), tags=read_tag_filter(entry))
    given = [bool(term.id), bool(term.name), bool(term.tags)].count(True)
    if given != 1:
        entry.refuse("", f"a term has either an id, a name or tags, and this one has {given} of them")
    return term


def _role_and_profile(spec: Fields) -> tuple[str, str]:
    role, profile = spec.text("role"), spec.text("instanceProfile")
    if role and profile:
        spec.refuse("instanceProfile", "role and instanceProfile exclude each other; remove one")
    if ":" in role:
        spec.refuse("role", f"{role!r} is not a role's name; write the name alone, without arn:…:role/")
    return role, profile


def _metadata_options(spec: Fields, hop_limit: int) -> MetadataOptions:
    options = spec.child("metadataOptions")
    return MetadataOptions(
        http_endpoint=_one_of(options, "httpEndpoint", ("enabled", "disabled")),
        http_protocol_ipv6=_one_of(options, "httpProtocolIPv6", ("disabled", "enabled")),
        http_put_response_hop_limit=options.whole("httpPutResponseHopLimit", 1, 64) or hop_limit,
        http_tokens=_one_of(options, "httpTokens", ("required", "optional")),
    )


def _one_of(fields: Fields, name: str, allowed: tuple[str, ...]) -> str:
    """One of these, the first where it is absent."""
    text = fields.text(name, allowed[0])
    if text not in allowed:
        fields.refuse(name, f"{text!r} is not known; use {' or '.join(allowed)}")
    return text


def _tags(spec: Fields) -> Mapping[str, str]:
    tags = spec.pairs("tags")
    forbidden = [key for key in tags if _FORBIDDEN_TAGS.fullmatch(key)]
    for key in forbidden:
        spec.warn(f"tags.{key}", "this tag is set by the autoscaler itself, so yours is ignored; remove it")
    return {key: value for key, value in tags.items() if key not in forbidden}


def _raid0(spec: Fields) -> bool:
    policy = spec.text("instanceStorePolicy")
    if policy not in {"", "RAID0"}:
        spec.refuse("instanceStorePolicy", f"{policy!r} is not known; there is RAID0")
    return policy == "RAID0"
