"""What classes of all generations say of an instance alike: its tags and its metadata service."""

import re
from collections.abc import Mapping

from nodewright.adapters.manifests.fields import Fields
from nodewright.domain.nodeclasses import MetadataOptions

_FORBIDDEN_TAGS = re.compile(
    r"eks:eks-cluster-name|kubernetes\.io/cluster/.*|karpenter\.sh/nodepool|karpenter\.sh/nodeclaim"
    r"|karpenter\.k8s\.aws/ec2nodeclass|nodewright\.dev/.*"
)


def read_metadata_options(spec: Fields, hop_limit: int) -> MetadataOptions:
    """`hop_limit`: the generation's own, where the class names none."""
    options = spec.child("metadataOptions")
    return MetadataOptions(
        http_endpoint=_one_of(options, "httpEndpoint", ("enabled", "disabled")),
        http_protocol_ipv6=_one_of(options, "httpProtocolIPv6", ("disabled", "enabled")),
        http_put_response_hop_limit=options.whole("httpPutResponseHopLimit", 1, 64) or hop_limit,
        http_tokens=_one_of(options, "httpTokens", ("required", "optional")),
    )


def read_tags(spec: Fields) -> Mapping[str, str]:
    """The class's own tags less those that aren't for users."""
    tags = spec.pairs("tags")
    forbidden = [key for key in tags if _FORBIDDEN_TAGS.fullmatch(key)]
    for key in forbidden:
        spec.warn(f"tags.{key}", "this tag is set by the autoscaler itself, so yours is ignored; remove it")
    return {key: value for key, value in tags.items() if key not in forbidden}


def _one_of(fields: Fields, name: str, allowed: tuple[str, ...]) -> str:
    """One of these, the first where it is absent."""
    text = fields.text(name, allowed[0])
    if text not in allowed:
        fields.refuse(name, f"{text!r} is not known; use {' or '.join(allowed)}")
    return text
