"""A world whose pods wait, for the tests of provision."""

import pytest

from nodewright.domain.pods import Pod
from nodewright.domain.pools import NodePool
from tests.application.killing import KilledError
from tests.application.world import PRICES, ZONES, OfferingKey, World
from tests.builders import pool

CPU = "karpenter.k8s.aws/instance-cpu"
#: No room for any offering of a kind.
SPOT: dict[OfferingKey, int] = {(name, zone, "spot"): 0 for name in PRICES for zone in ZONES}
ON_DEMAND: dict[OfferingKey, int] = {(name, zone, "on-demand"): 0 for name in PRICES for zone in ZONES}
#: Of two cores, so a pod of 1500m has a node to itself.
SMALL = pool("default", (CPU, "In", "2"))


def world(*waiting: Pod, of: NodePool | None = None) -> World:
    made = World()
    made.cluster.add(*waiting, of or pool())
    return made


def killed_at(here: World, what: str) -> None:
    """Provision, killed right after its first call of this."""
    probe = world(*here.cluster.pods.values(), of=here.cluster.pools["default"])
    probe.provision()
    here.fuse.renew(probe.fuse.made.index(what) + 1)
    with pytest.raises(KilledError, match=what):
        here.provision()
