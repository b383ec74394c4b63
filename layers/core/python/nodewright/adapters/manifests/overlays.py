"""NodeOverlays (karpenter.sh/v1alpha1; karpenter-behaviour §4.5)."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from nodewright.adapters.manifests.constraints import read_requirements
from nodewright.adapters.manifests.fields import Fields, report_on
from nodewright.application.ports import ManifestWarning
from nodewright.domain.money import parse_usd
from nodewright.domain.overlays import NodeOverlay, PriceChange
from nodewright.domain.quantities import LARGEST, whole
from nodewright.domain.requirements import Requirements

_PRICE: Final = re.compile(r"[0-9]+(\.[0-9]+)?")
_MOST_FACTOR: Final = 10_000
_ADJUSTMENT: Final = re.compile(r"(?P<sign>[+-])(?P<amount>[0-9]*\.?[0-9]+)(?P<percent>%?)")
_MODELLED: Final = frozenset({"cpu", "memory", "pods", "ephemeral-storage"})
_MOST_WEIGHT: Final = 10_000
_NOT_EXTENDED: Final = "an overlay can't change it, only extended resources like example.com/fpga; remove it"


@dataclass(frozen=True, slots=True)
class OverlayReading:
    """What an overlay's manifest came to; no overlay where it can't be used, and the warnings say why."""

    overlay: NodeOverlay | None
    warnings: tuple[ManifestWarning, ...]


def read_overlays(raws: Iterable[Mapping[str, object]]) -> tuple[tuple[NodeOverlay, ...], tuple[ManifestWarning, ...]]:
    """Overlays that can be used, sorted by name, and what is wrong with the rest. Of one name the last counts."""
    readings = [read_overlay(raw) for raw in raws]
    by_name = {reading.overlay.name: reading.overlay for reading in readings if reading.overlay}
    warnings = tuple(warning for reading in readings for warning in reading.warnings)
    return tuple(by_name[name] for name in sorted(by_name)), warnings


def read_overlay(raw: Mapping[str, object]) -> OverlayReading:
    """One NodeOverlay object."""
    name, report = report_on(raw, "NodeOverlay", "it is not applied")
    root = Fields(raw, "", report)
    root.known("apiVersion", "kind", "metadata", "status")
    spec = root.child("spec")
    overlay = NodeOverlay(
        name=name,
        requirements=Requirements(read_requirements(spec, "requirements", may_name_pool=True)),
        weight=spec.whole("weight", lowest=1, highest=_MOST_WEIGHT) or 0,
        price=_price_change(spec),
        capacity=_capacity(spec),
    )
    if overlay.price is None and not overlay.capacity and not report.refused:
        spec.refuse("", "it changes nothing; give it a price, a priceAdjustment or a capacity")
    root.finish()
    return OverlayReading(None if report.refused else overlay, tuple(report.warnings))


def _price_change(spec: Fields) -> PriceChange | None:
    price, adjustment = spec.text("price"), spec.text("priceAdjustment")
    if price and adjustment:
        spec.refuse("priceAdjustment", "price and priceAdjustment exclude each other; remove one")
        return None
    if price:
        return _fixed(spec, price)
    return _adjusted(spec, adjustment) if adjustment else None


def _fixed(spec: Fields, text: str) -> PriceChange | None:
    if not _PRICE.fullmatch(text):
        spec.refuse("price", f"{text!r} is not a price in USD per hour; write it like 0.0126")
        return None
    nanos = _usd(spec, "price", text)
    return None if nanos is None else PriceChange(Fraction(0), nanos)


def _usd(spec: Fields, name: str, text: str) -> int | None:
    try:
        return parse_usd(text)
    except ValueError as error:
        spec.refuse(name, str(error))
        return None


def _adjusted(spec: Fields, text: str) -> PriceChange | None:
    match = _ADJUSTMENT.fullmatch(text)
    if match is None:
        spec.refuse("priceAdjustment", f"{text!r} is no adjustment; write it like -15%, +10% or +0.02 (USD per hour)")
        return None
    sign = -1 if match["sign"] == "-" else 1
    if not match["percent"]:
        nanos = _usd(spec, "priceAdjustment", match["amount"])
        return None if nanos is None else PriceChange(nanos=sign * nanos)
    factor = 1 + sign * Fraction(match["amount"]) / 100
    if factor > _MOST_FACTOR:
        spec.refuse("priceAdjustment", f"{text} is more than any price; +{(_MOST_FACTOR - 1) * 100}% is the most")
        return None
    if factor < 0:
        spec.refuse("priceAdjustment", f"{text} would be less than nothing; -100% is the least")
        return None
    return PriceChange(factor)


def _capacity(spec: Fields) -> dict[str, int]:
    """Extended resources alone: the others are known of the type, and kubelet decides them."""
    read: dict[str, int] = {}
    for name, raw in spec.mapping("capacity").items():
        amount = _amount(raw)
        if name in _MODELLED or name.startswith("hugepages-") or "/" not in name:
            spec.refuse(f"capacity.{name}", _NOT_EXTENDED)
        elif amount is None:
            spec.refuse(f"capacity.{name}", f"{raw!r} is not a whole number of it; write one like 1")
        elif amount > LARGEST:
            spec.refuse(f"capacity.{name}", f"no node has {raw} of it; correct it")
        else:
            read[name] = amount
    return read


def _amount(raw: object) -> int | None:
    """None where it is no amount of something countable."""
    try:
        amount = whole(raw) if isinstance(raw, str | int) and not isinstance(raw, bool) else -1
    except ValueError:
        return None
    return amount if amount >= 0 else None
