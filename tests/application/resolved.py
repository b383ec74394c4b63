"""A node class as it is resolved, with everything it names there."""

from nodewright.adapters.assumed_aws import AssumedImages, AssumedNetworks, AssumedProfiles
from nodewright.application.node_class_resolution import NodeClassResolver, ResolvedNodeClass
from nodewright.domain.nodeclasses import Kubelet, NodeClass, SelectorTerm
from tests.application.world import connected

ANY = (SelectorTerm(tags={"a": "b"}),)


def resolved(*zones: str, kubelet: Kubelet = Kubelet()) -> ResolvedNodeClass:  # noqa: B008
    """An AL2023 class with a subnet in each of these zones."""
    node_class = NodeClass("default", "AL2023", (SelectorTerm(alias="al2023@latest"),), ANY, ANY, kubelet=kubelet)
    resolver = NodeClassResolver(AssumedNetworks(zones), AssumedImages(), AssumedProfiles(), "assumed")
    return resolver.resolve(node_class, connected(), {})
