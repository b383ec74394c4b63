"""What must hold at every moment, looked at after every call that may break it."""

from typing import TYPE_CHECKING

from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.limits import NODES, PRICE, exceeded
from nodewright.domain.nodes import NODE_POOL_LABEL
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.retirement import DISRUPTED
from nodewright.domain.rooms import STARTUP_PATIENCE
from tests.application.world import CLUSTER

if TYPE_CHECKING:
    from tests.harness.world import World


class Watch:
    """Looks at EC2 and Kubernetes themselves, not at what our table says of them."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._known: dict[str, NodeClaim] = {}
        self._was_ready: set[str] = set()
        self.violations: list[str] = []

    def after(self, name: str) -> None:
        if name in {"fleet.launch", "ledger.settle_launch"}:
            self._limits()
        if name == "ledger.reserve":
            self._bought_twice()

    def _limits(self) -> None:
        for pool in self._world.cluster.pools.values():
            used = self._used(pool.name)
            resource = exceeded(pool.limits, Resources(), used) if pool.limits is not None else None
            if resource is not None:
                self._violated(f"pool {pool.name} has {used} of limit {pool.limits}: too much {resource}")

    def _used(self, pool: str) -> Resources:
        used = Resources()
        for instance in self._world.fleet.instances.values():
            if instance.state != "terminated" and instance.tags.get(NODE_POOL_LABEL) == pool:
                price = self._world.fleet.prices[instance.instance_type, instance.zone, instance.capacity_type]
                used += self._world.size(instance).capacity + Resources({NODES: 1, PRICE: price})
        return used

    def _bought_twice(self) -> None:
        """A pod is bought for a second time only where it lost its place on the node of the first."""
        claims = {claim.id: claim for claim in self._world.ledger.claims(CLUSTER)}
        fresh = [claim for claim_id, claim in claims.items() if claim_id not in self._known]
        before = [claim for claim_id, claim in claims.items() if claim_id in self._known]
        self._known |= claims
        for claim in fresh:
            for pod in claim.nominated_pods:
                for other in before:
                    if pod in self._world.cluster.pods and pod in other.nominated_pods and self._holds(other, pod):
                        self._violated(
                            f"{pod} has a place on {other.id} ({other.state}), and {claim.id} was bought for it"
                        )

    def _holds(self, claim: NodeClaim, bought_for: PodKey) -> bool:
        """Whether this pod could be on it, and all others that still wait for it."""
        world, now = self._world, self._world.timeline.now()
        if claim.retirement is not None or claim.state is ClaimState.GONE:
            return False
        # Whoever gives it up, or an expired node, may have a clock that is ahead.
        if claim.state is not ClaimState.INITIALIZED and now + world.most_skew > claim.created + STARTUP_PATIENCE:
            return False
        # No place for who leaves another expired node.
        lasts = claim.expire_after is None or now + world.most_skew < claim.created + claim.expire_after
        if not lasts:
            return False
        if claim.instance_id and not self._serves(claim.instance_id):
            return False
        return self._wanted(claim.nominated_pods, bought_for).fits(self._free(claim))

    def _serves(self, instance_id: str) -> bool:
        """Whether the instance lives and its Node, once it has been Ready, takes pods."""
        instance = self._world.fleet.instances.get(instance_id)
        node = next((n for n in self._world.cluster.nodes.values() if n.instance_id == instance_id), None)
        marked = node is not None and (node.terminating or DISRUPTED in node.taints)
        lost = (node is None or not node.ready) and instance_id in self._was_ready
        if node is not None and node.ready:
            self._was_ready.add(instance_id)
        return instance is not None and instance.state == "running" and not marked and not lost

    def _wanted(self, pods: tuple[PodKey, ...], bought_for: PodKey) -> Resources:
        """By all who wait for a place on it, those that have to leave another node among them."""
        cluster = self._world.cluster
        there = (pod for key in pods for pod in (cluster.pods.get(key),) if pod is not None)
        return sum((pod.requests for pod in there if pod.key == bought_for or self._moves(pod)), Resources())

    def _moves(self, pod: Pod) -> bool:
        """Whether it has no node, or one that is on its way out, as Kubernetes or our table knows."""
        world = self._world
        node = world.cluster.nodes.get(pod.node_name)
        leaving = {claim.instance_id for claim in world.ledger.claims(CLUSTER) if claim.retirement is not None}
        return node is None or node.terminating or DISRUPTED in node.taints or node.instance_id in leaving

    def _free(self, claim: NodeClaim) -> Resources:
        """By its Node, which our table may not know yet."""
        cluster = self._world.cluster
        names = {node.name for node in cluster.nodes.values() if node.instance_id == claim.instance_id}
        on_it = [pod for pod in cluster.pods.values() if pod.node_name in names]
        return claim.allocatable - sum((pod.requests for pod in on_it), Resources())

    def _violated(self, what: str) -> None:
        self.violations.append(f"{self._world.timeline.now():%H:%M:%S.%f} {what}")
