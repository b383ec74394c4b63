"""What a need costs at least where any part of a node can be bought: the smallest of linear programs, solved at once.

A few resources and some hundred kinds of node: the simplex method takes a few steps, where loading a solver would
take longer than a whole quick plan.
"""

from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Floats


def cheapest_mix(supply: Floats, prices: Floats) -> Floats:
    """Prices of resources, of each of which one unit is needed, under which no kind supplies more than it costs.

    `supply`: kinds × resources, some of each resource.
    """
    scale = float(prices.max())
    kinds, resources = supply.shape
    with np.errstate(divide="ignore"):
        alone = (prices[:, None] / scale / supply).min(axis=0)
    # Buying each resource alone is dearer than what it begins with, twice that, would be worth keeping for.
    columns = np.hstack([supply.T, -np.eye(resources), np.eye(resources)])
    costs = np.concatenate([prices / scale, np.zeros(resources), alone * 2])
    basis = np.arange(kinds + resources, kinds + 2 * resources)
    values = costs[basis]
    for _ in range(_STEPS):
        inverse = np.linalg.inv(columns[:, basis])
        values = costs[basis] @ inverse
        gains = costs - values @ columns
        enters = int(np.argmin(gains))
        if gains[enters] > -_NOTHING:
            break
        way = inverse @ columns[:, enters]
        with np.errstate(divide="ignore", invalid="ignore"):
            limits = np.where(way > _NOTHING, inverse.sum(axis=1) / way, np.inf)
        basis[int(np.argmin(limits))] = enters
    found: Floats = np.maximum(values, 0.0) * scale
    return found


_STEPS: Final = 200
_NOTHING: Final = 1e-12
