"""EC2NodeClasses of v1 out of EC2NodeClasses of v1beta1 and AWSNodeTemplates (karpenter-behaviour §3.2, §3.4)."""

from collections.abc import Mapping
from typing import Final

from nodewright.adapters.manifests.fields import Fields, Report
from nodewright.adapters.manifests.kubelets import read_kubelet
from nodewright.adapters.manifests.v1.metadata import written
from nodewright.adapters.manifests.v1.values import Json, given, inside, kubelet_settings, listed, selector_term
from nodewright.domain.nodeclasses import MetadataOptions, NodeClass


def class_as_v1(raw: Mapping[str, object], node_class: NodeClass) -> Json:
    """`node_class` is what the manifest was read as, or a copy with a name and kubelet settings of its own."""
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": written(inside(raw, "metadata"), node_class.name),
        "spec": _from_class(raw, node_class),
    }


def template_as_v1(metadata: Json, spec: Json, node_class: NodeClass) -> Json:
    """Of a node template's spec, wherever it stands: in an object of its own or within a Provisioner."""
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": written(metadata, node_class.name),
        "spec": _from_template(spec, node_class),
    }


def _from_class(raw: Mapping[str, object], node_class: NodeClass) -> Json:
    spec = inside(raw, "spec")
    if not listed(spec, "amiSelectorTerms"):
        spec = {**_images(node_class), **{name: spec[name] for name in spec if name not in _IMAGE_FIELDS}}
    if read_kubelet(Fields(spec.get("kubelet"), "", Report("", ""))) != node_class.kubelet:
        spec.pop("kubelet", None)
        spec |= given(kubelet=kubelet_settings(node_class.kubelet))
    return spec | given(metadataOptions=_metadata_options(spec, node_class))


_IMAGE_FIELDS: Final = frozenset({"amiFamily", "amiSelectorTerms"})


def _images(node_class: NodeClass) -> Json:
    """An alias says the family too."""
    aliased = any(term.alias for term in node_class.ami_terms)
    family = None if aliased and node_class.ami_family != "Custom" else node_class.ami_family
    return given(amiFamily=family, amiSelectorTerms=[selector_term(term) for term in node_class.ami_terms])


def _metadata_options(spec: Mapping[str, object], node_class: NodeClass) -> Json:
    """The hop limit is said where older generations had another than v1 without saying so."""
    options, limit = inside(spec, "metadataOptions"), node_class.metadata_options.http_put_response_hop_limit
    default = MetadataOptions().http_put_response_hop_limit
    return options if limit == default else {**options, "httpPutResponseHopLimit": limit}


def _from_template(spec: Json, node_class: NodeClass) -> Json:
    return {
        **_images(node_class),
        "subnetSelectorTerms": [selector_term(term) for term in node_class.subnet_terms],
        "securityGroupSelectorTerms": [selector_term(term) for term in node_class.security_group_terms],
        **given(
            instanceProfile=node_class.instance_profile,
            userData=node_class.user_data,
            blockDeviceMappings=[_disk(entry) for entry in listed(spec, "blockDeviceMappings")],
            metadataOptions=_metadata_options(spec, node_class),
            tags=dict(node_class.tags),
            detailedMonitoring=node_class.detailed_monitoring or None,
            context=node_class.context,
            kubelet=kubelet_settings(node_class.kubelet),
        ),
    }


def _disk(entry: Json) -> Json:
    """A size without a unit was in GiB."""
    ebs = inside(entry, "ebs")
    size = str(ebs.get("volumeSize", ""))
    sized = {"volumeSize": f"{size}Gi"} if size.isdecimal() else {}
    return {**entry, **given(ebs={**ebs, **sized})}
