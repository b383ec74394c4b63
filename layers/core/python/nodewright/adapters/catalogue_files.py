"""A catalogue somebody wrote: `nodewright plan --catalogue FILE` (architecture §11)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Final, Literal, cast

import msgspec

from nodewright.adapters.manifests.yaml_values import YamlError, read_yaml
from nodewright.application.node_class_resolution import ResolvedNodeClass
from nodewright.application.plan import BadInputError
from nodewright.application.ports import ManifestWarning
from nodewright.domain.capacity import CapacityOptions, node_capacity
from nodewright.domain.catalogue import InstanceType, Offering
from nodewright.domain.instance_facts import InstanceFacts, type_labels
from nodewright.domain.labels import AWS_DOMAIN
from nodewright.domain.money import parse_usd
from nodewright.domain.nodeclasses import NodeClass
from nodewright.domain.nodes import ARCH_LABEL, REGION_LABEL
from nodewright.domain.overhead import MIB, overhead
from nodewright.domain.plans import Plan
from nodewright.domain.quantities import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, Resources, possible

PODS_UNSAID: Final = 110
"""Kubelet's own default."""


class _Offering(msgspec.Struct, rename="camel"):
    zone: str
    price: Decimal
    capacity_type: Literal["on-demand", "spot", "reserved"] = "on-demand"
    available: bool = True


class _InstanceType(msgspec.Struct, rename="camel"):
    name: str
    capacity: dict[str, str | int | float]
    offerings: tuple[_Offering, ...]
    labels: dict[str, str] = {}
    allocatable: dict[str, str | int | float] | None = None
    volumes: int | None = None


class _Catalogue(msgspec.Struct, rename="camel"):
    instance_types: tuple[_InstanceType, ...]


@dataclass(frozen=True, slots=True)
class CatalogueFile:
    """Implements Catalogue."""

    name: str
    types: tuple[InstanceType, ...]
    """Labels without those of a class; allocatable empty where the file doesn't say it."""
    region: str = ""

    @property
    def zones(self) -> tuple[str, ...]:
        """Those in which anything is sold, sorted."""
        return tuple(sorted({offering.zone for each in self.types for offering in each.offerings}))

    def instance_types(self, resolved: ResolvedNodeClass) -> tuple[InstanceType, ...]:
        """With what depends on the class."""
        return tuple(self._under(resolved.node_class, each) for each in self.types)

    def remark(self, plan: Plan) -> tuple[ManifestWarning, ...]:  # noqa: ARG002
        """Whoever wrote the prices knows of them."""
        return ()

    def _under(self, node_class: NodeClass, each: InstanceType) -> InstanceType:
        labels = {f"{AWS_DOMAIN}/ec2nodeclass": node_class.name}
        if self.region:
            labels[REGION_LABEL] = self.region
        capacity = _completed(each, node_class)
        allocatable = each.allocatable or _allocatable(capacity, node_class)
        extra = {name: capacity.get(name) for name in (EPHEMERAL_STORAGE, PODS) if name not in allocatable}
        return replace(
            each, labels={**each.labels, **labels}, capacity=capacity, allocatable=allocatable + Resources(extra)
        )


def read_catalogue(path: Path, region: str = "") -> CatalogueFile:
    """A JSON or YAML file. BadInputError says where it is wrong."""
    try:
        return catalogue_of(path.read_bytes(), str(path), region)
    except OSError as error:
        raise BadInputError(f"catalogue {path}: {error.strerror or error}") from None


def catalogue_of(content: bytes, name: str, region: str = "") -> CatalogueFile:
    """The content of such a file."""
    try:
        raw = _decoded(content)
        types = tuple(sorted((_instance_type(each) for each in raw.instance_types), key=lambda each: each.name))
    except UnicodeDecodeError:
        raise BadInputError(f"catalogue {name}: it is not text in UTF-8; save it as UTF-8") from None
    except YamlError as error:
        raise BadInputError(f"catalogue {name}, line {error.line + 1}: {error.message}") from None
    except RecursionError:
        raise BadInputError(f"catalogue {name}: it is nested too deeply; write it as docs/plan.md shows") from None
    except (msgspec.MsgspecError, ValueError) as error:
        raise BadInputError(f"catalogue {name}: {error}") from None
    _check(types, name)
    return CatalogueFile(f"catalogue {name}", types, region)


def _decoded(content: bytes) -> _Catalogue:
    text = content.decode("utf-8-sig")
    if text.lstrip().startswith("{"):
        return msgspec.json.decode(text, type=_Catalogue)
    return msgspec.convert(read_yaml(text)[0], _Catalogue)


def _check(types: tuple[InstanceType, ...], name: str) -> None:
    names = [each.name for each in types]
    repeated = sorted({each for each in names if names.count(each) > 1})
    if repeated:
        raise BadInputError(f"catalogue {name}: {', '.join(repeated)} is there more than once; keep one of each")
    if not types:
        raise BadInputError(f"catalogue {name}: instanceTypes is empty, so nothing can be bought; add a type")


def _instance_type(raw: _InstanceType) -> InstanceType:
    try:
        capacity, allocatable = _amounts(raw.capacity), _amounts(raw.allocatable or {})
        offerings = tuple(_offering(each) for each in raw.offerings)
    except ValueError as error:
        raise ValueError(f"{raw.name}: {error}") from None
    if not capacity.get(CPU) or not capacity.get(MEMORY):
        raise ValueError(f"{raw.name}: capacity must name cpu and memory")
    _refuse_repeated(raw)
    return InstanceType(
        name=raw.name,
        labels={**_labels(raw, capacity), **raw.labels},
        capacity=capacity,
        allocatable=allocatable,
        offerings=tuple(sorted(offerings, key=lambda each: (each.zone, each.capacity_type))),
        volumes=raw.volumes,
    )


def _refuse_repeated(raw: _InstanceType) -> None:
    ways = [(each.zone, each.capacity_type) for each in raw.offerings]
    if twice := next((way for way in ways if ways.count(way) > 1), None):
        raise ValueError(f"{raw.name}: {' '.join(twice)} is offered more than once; keep one of each")


def _amounts(raw: Mapping[str, object]) -> Resources:
    """ValueError names the resource."""
    return Resources({name: possible(name, amount) for name, amount in Resources.parse(raw).items()})


def _offering(raw: _Offering) -> Offering:
    return Offering(raw.zone, raw.capacity_type, parse_usd(str(raw.price)), raw.available)


#: What EC2 alone knows of a type; a label that isn't given is absent, not false.
_UNKNOWN: Final = frozenset(
    f"{AWS_DOMAIN}/{name}"
    for name in ("instance-hypervisor", "instance-encryption-in-transit-supported", "nitro-sandbox")
)


def _labels(raw: _InstanceType, capacity: Resources) -> Mapping[str, str]:
    """Those that follow from name and size, and GPUs by their resource."""
    arch = raw.labels.get(ARCH_LABEL, "amd64")
    facts = InstanceFacts(
        raw.name, cast(Literal["amd64", "arm64"], arch), -(-capacity.get(CPU) // 1000), capacity.get(MEMORY) // MIB
    )
    labels = {key: value for key, value in type_labels(facts).items() if key not in _UNKNOWN}
    return {**labels, **_gpu_labels(capacity)}


def _gpu_labels(capacity: Resources) -> Mapping[str, str]:
    for manufacturer, resource in (("nvidia", "nvidia.com/gpu"), ("amd", "amd.com/gpu")):
        if count := capacity.get(resource):
            return {
                f"{AWS_DOMAIN}/instance-gpu-count": str(count),
                f"{AWS_DOMAIN}/instance-gpu-manufacturer": manufacturer,
            }
    return {}


def _completed(each: InstanceType, node_class: NodeClass) -> Resources:
    """Capacity with what the class decides where the file leaves it open."""
    facts = InstanceFacts(each.name, "amd64", -(-each.capacity.get(CPU) // 1000), each.capacity.get(MEMORY) // MIB)
    derived = node_capacity(facts, node_class, CapacityOptions())
    pods = node_class.kubelet.max_pods or each.capacity.get(PODS) or PODS_UNSAID
    storage = each.capacity.get(EPHEMERAL_STORAGE) or derived.get(EPHEMERAL_STORAGE)
    return Resources({**each.capacity, PODS: pods, EPHEMERAL_STORAGE: storage})


def _allocatable(capacity: Resources, node_class: NodeClass) -> Resources:
    reserved = overhead(capacity, node_class.kubelet, capacity.get(PODS), -(-capacity.get(CPU) // 1000))
    return (capacity - reserved).floor_zero()
