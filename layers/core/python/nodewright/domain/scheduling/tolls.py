"""Prices at which plans take less of scarce limits: planned with, never told or paid."""

from dataclasses import replace

import numpy as np

from nodewright.domain.scheduling.budget import Toll
from nodewright.domain.scheduling.limits import UNLIMITED
from nodewright.domain.scheduling.tiers import Tier


def tolled(place: Tier, toll: Toll) -> Tier:
    """The tier at these prices. Launches cost what their offerings cost all the same."""
    if not toll.price or not place.limited:
        return place
    counted = [number for number, name in enumerate(place.limited) if toll.resource in ("", name)]
    left = place.remaining[place.purse_of][:, counted]
    scarce = (left > 0) & (left < UNLIMITED)
    shares = np.where(scarce, place.usage[:, counted] / np.where(scarce, left, 1), 0.0).max(axis=1, initial=0.0)
    # Of what no limit leaves nothing is bought; the rest keeps sums of prices within what can be counted.
    extra = np.rint(np.minimum(shares, 1.0) * toll.price).astype(np.int64)
    return replace(place, prices=place.prices + extra)
