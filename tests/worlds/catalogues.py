"""A handful of instance types, sold here and there."""

from dataclasses import replace

from hypothesis import strategies as st

from nodewright.domain.catalogue import CapacityType, InstanceType, Offering
from tests.builders import USD, instance_type

ZONES = ("a", "b", "c")
ALL_TYPES: tuple[InstanceType, ...] = (
    instance_type("x.s", cpu="1930m", memory="3Gi", pod_slots=8, on_demand=1.0),
    instance_type("x.m", cpu="3920m", memory="7Gi", pod_slots=16, on_demand=2.0),
    instance_type("x.l", cpu="7910m", memory="15Gi", pod_slots=30, on_demand=4.0),
    instance_type("y.s", cpu="1930m", memory="7Gi", pod_slots=8, on_demand=1.2),
    instance_type("y.m", cpu="3920m", memory="15Gi", pod_slots=16, on_demand=2.3),
    instance_type("arm.m", cpu="3920m", memory="7Gi", pod_slots=16, arch="arm64", on_demand=1.7),
    instance_type("gpu.m", cpu="3920m", memory="14Gi", pod_slots=16, gpu=1, on_demand=6.0),
)
SOLD_AS: tuple[tuple[CapacityType, ...], ...] = (("on-demand",), ("on-demand", "spot"), ("spot",))


@st.composite
def catalogues(draw: st.DrawFn) -> tuple[InstanceType, ...]:
    """Up to six types; some sold in few zones, some offerings not available now."""
    names = draw(st.sets(st.sampled_from([each.name for each in ALL_TYPES]), min_size=1, max_size=5)) | {"x.m"}
    return tuple(draw(_sold(each)) for each in ALL_TYPES if each.name in names)


@st.composite
def _sold(draw: st.DrawFn, of: InstanceType) -> InstanceType:
    full = of.offerings[0].price
    zones = draw(st.sampled_from([ZONES] * 5 + [("a", "b"), ("a",), ("b",), ("c",)]))
    kinds = draw(st.sampled_from(SOLD_AS))
    gone = draw(st.sets(st.sampled_from([(zone, kind) for zone in zones for kind in kinds]), max_size=1))
    offerings = tuple(
        Offering(zone, kind, _price(full, zone, kind), (zone, kind) not in gone) for zone in zones for kind in kinds
    )
    return replace(of, offerings=offerings, volumes=draw(st.sampled_from([None, None, 1, 2, 25])))


def _price(full: int, zone: str, kind: CapacityType) -> int:
    """Spot prices differ by zone."""
    return full if kind == "on-demand" else full * (3 + ZONES.index(zone)) // 10 // (USD // 1000) * (USD // 1000)
