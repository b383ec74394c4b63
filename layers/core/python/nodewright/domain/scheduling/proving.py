"""What the pods of a plan cost at least, where it came about in parts that prove nothing together."""

from collections.abc import Iterable

import numpy as np

from nodewright.domain.plans import Launch
from nodewright.domain.scheduling.buying import relaxed_bound
from nodewright.domain.scheduling.shapes import group
from nodewright.domain.snapshot import Snapshot


def proven(snapshot: Snapshot, launches: Iterable[Launch]) -> int:
    """A lower bound for the pods on these new nodes, whatever the rules between them; `snapshot.pods` has them all."""
    bought = {pod for launch in launches for node in launch.nodes for pod in node}
    shapes = group(pod for pod in snapshot.pods if pod.key in bought)
    counts = np.array([len(shape.pods) for shape in shapes], dtype=np.int64)
    pools = [options for options in snapshot.pools if not options.pool.terminating]
    return relaxed_bound(pools, snapshot.daemon_sets, shapes, counts)
