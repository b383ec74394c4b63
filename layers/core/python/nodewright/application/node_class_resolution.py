"""A node class's selectors turned into subnets, security groups, images and a profile."""

from collections.abc import Mapping
from dataclasses import dataclass

from nodewright.application.errors import RefusedError
from nodewright.application.ports import Image, Images, InstanceProfiles, ManifestWarning, Networks, Subnet
from nodewright.domain import nodes
from nodewright.domain.catalogue import InstanceType
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.images import Family, Variant, effective, family_of_alias, missing_image
from nodewright.domain.nodeclasses import NodeClass

ImageKey = tuple[str, Variant]


class UnusableNodeClassError(RefusedError):
    """A class nothing can be launched from; says which field and the fix."""

    def __init__(self, node_class: NodeClass, path: str, message: str) -> None:
        self.path = node_class.path(path)
        super().__init__(f"{node_class}: {self.path} {message}")
        self.message = message


@dataclass(frozen=True, slots=True)
class ResolvedNodeClass:
    """What a launch needs of a class (Karpenter keeps the same in EC2NodeClass status)."""

    node_class: NodeClass
    """As it is launched: its image family is the effective one."""
    subnets: Mapping[str, Subnet]
    """Zone → the subnet with most free addresses there."""
    security_group_ids: tuple[str, ...]
    instance_profile: str
    images: Mapping[ImageKey, str]
    """(architecture, variant) → image id."""
    warnings: tuple[ManifestWarning, ...] = ()

    @property
    def zones(self) -> frozenset[str]:
        """Where its nodes may be born."""
        return frozenset(self.subnets)

    def image_for(self, instance_type: InstanceType) -> str | None:
        """The image a type boots; None when the class has none for it."""
        arch = instance_type.labels.get(nodes.ARCH_LABEL, "")
        return self.images.get((arch, variant(instance_type)))


@dataclass(frozen=True, slots=True)
class NodeClassResolver:
    """Asks AWS. The defaults are the stack's own role and profile (architecture §6)."""

    networks: Networks
    images: Images
    profiles: InstanceProfiles
    default_profile: str

    def resolve(
        self, node_class: NodeClass, cluster: ConnectedCluster, known_images: Mapping[str, str]
    ) -> ResolvedNodeClass:
        """UnusableNodeClassError names the class, the field and the fix.

        `known_images`: parameter → image id as refresh stored them; only what is missing is asked.
        """
        launched, told = effective(node_class, cluster.version)
        return ResolvedNodeClass(
            launched,
            self._subnets(launched),
            self._security_groups(launched),
            self._profile(launched, cluster),
            self._images(launched, cluster, known_images),
            (ManifestWarning(str(launched), launched.path("spec.amiFamily"), told),) if told else (),
        )

    def _subnets(self, node_class: NodeClass) -> dict[str, Subnet]:
        by_zone: dict[str, Subnet] = {}
        for subnet in self.networks.subnets(node_class.subnet_terms):  # most free addresses first
            by_zone.setdefault(subnet.zone, subnet)
        if not by_zone:
            raise UnusableNodeClassError(
                node_class, "spec.subnetSelectorTerms", "matches no subnet here; tag one or name its id"
            )
        return by_zone

    def _security_groups(self, node_class: NodeClass) -> tuple[str, ...]:
        ids = self.networks.security_groups(node_class.security_group_terms)
        if not ids:
            raise UnusableNodeClassError(
                node_class, "spec.securityGroupSelectorTerms", "matches no security group; tag one or name its id"
            )
        return ids

    def _profile(self, node_class: NodeClass, cluster: ConnectedCluster) -> str:
        if node_class.instance_profile:
            return node_class.instance_profile
        if node_class.role:
            return self.profiles.ensure(cluster.name, node_class.name, node_class.role)
        return self.default_profile

    def _images(
        self, node_class: NodeClass, cluster: ConnectedCluster, known: Mapping[str, str]
    ) -> dict[ImageKey, str]:
        found = self._aliased(node_class, cluster, known) | self._named(node_class)
        if not found:
            raise UnusableNodeClassError(node_class, *missing_image(node_class, cluster.version))
        return found

    def _aliased(
        self, node_class: NodeClass, cluster: ConnectedCluster, known: Mapping[str, str]
    ) -> dict[ImageKey, str]:
        found: dict[ImageKey, str] = {}
        for alias in [t.alias for t in node_class.ami_terms if t.alias]:
            version = alias.partition("@")[2] or "latest"
            queries = _family_of(alias, node_class).queries(cluster.version, version)
            ids = known
            if not any(q.parameter in known for q in queries):
                ids = self.images.by_parameters([q.parameter for q in queries])
            found |= {(q.arch, q.variant): ids[q.parameter] for q in queries if q.parameter in ids}
        return found

    def _named(self, node_class: NodeClass) -> dict[ImageKey, str]:
        terms = tuple(t for t in node_class.ami_terms if not t.alias)
        images = self.images.by_terms(terms) if terms else ()
        return {key: image.id for image in reversed(images) for key in _keys(image)}  # newest, listed first, wins


def _family_of(alias: str, node_class: NodeClass) -> Family:
    """Of the image; the class's own may be Custom, which writes no user data for it."""
    try:
        return family_of_alias(alias)
    except ValueError as error:
        raise UnusableNodeClassError(node_class, "spec.amiSelectorTerms", str(error)) from error


def _keys(image: Image) -> tuple[ImageKey, ...]:
    """An image named by the user serves every variant of its architecture."""
    variants: tuple[Variant, ...] = ("standard", "nvidia", "neuron")
    return tuple((image.arch, v) for v in variants)


def variant(instance_type: InstanceType) -> Variant:
    """Which image variant a type needs."""
    if instance_type.labels.get("karpenter.k8s.aws/instance-gpu-manufacturer") == "nvidia":
        return "nvidia"
    if instance_type.labels.get("karpenter.k8s.aws/instance-accelerator-manufacturer") == "aws":
        return "neuron"
    return "standard"
