"""Nodes that joined, matched to their claims: registered, then initialized (karpenter-behaviour §7.6)."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nodewright.application.errors import (
    ConflictError,
    NotFoundError,
    RefusedError,
    UnavailableError,
    UnreachableError,
)
from nodewright.application.orders import UNREGISTERED
from nodewright.application.ports import Cluster, Fleet, Ledger, Observer
from nodewright.domain.claims import ClaimState, NodeClaim, advanced
from nodewright.domain.nodeclasses import NodeClass
from nodewright.domain.nodes import INITIALIZED_LABEL, REGISTERED_LABEL, Node
from nodewright.domain.quantities import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from nodewright.domain.taints import is_ephemeral

#: What every node has; other resources must show up before a node counts as initialized.
_BASIC = frozenset({CPU, MEMORY, EPHEMERAL_STORAGE, PODS})


@dataclass(frozen=True, slots=True)
class Registrar:
    """Takes the nodes of one cluster forward."""

    ledger: Ledger
    fleet: Fleet
    observer: Observer

    def advance(
        self,
        cluster: str,
        kubernetes: Cluster,
        claims: Sequence[NodeClaim],
        nodes: Sequence[Node],
        named: Collection[str] = (),
    ) -> int:
        """Register and initialise what can be; returns how many claims moved. One bad node stops no other.

        `named`: classes that name their instances themselves. UnavailableError comes last, unless nobody answers.
        """
        moved = 0
        unclear: UnavailableError | None = None
        for claim, node in _joined(claims, nodes):
            tags = _tags(claim, node, keeps_name=claim.node_class in named)
            try:
                moved += self._one(cluster, kubernetes, claim, node, tags)
            except UnreachableError:
                raise
            except UnavailableError as error:
                unclear = error
        if unclear is not None:
            raise unclear
        return moved

    def _one(self, cluster: str, kubernetes: Cluster, claim: NodeClaim, node: Node, tags: Mapping[str, str]) -> int:
        target = _target(claim, node)
        if not claim.state.precedes(target):
            return 0
        try:
            # The node first, the claim after: a run that dies between does the node again, which is harmless.
            kubernetes.register_node(node.name, missing_labels(claim, node, target), (UNREGISTERED,))
            if claim.state.precedes(ClaimState.REGISTERED):
                self.fleet.name(claim.instance_id, tags)
            before = self._save(cluster, claim, node.name, target)
        except (ConflictError, NotFoundError, RefusedError) as error:
            self.observer.problem(cluster, "register", f"{node.name}: {error}; the next run tries again")
            return 0
        if before is None:
            return 0
        self._announce(cluster, before, node, target)
        return 1

    def _save(self, cluster: str, claim: NodeClaim, node: str, target: ClaimState) -> NodeClaim | None:
        """The claim from which it was moved; None where another run moved it meanwhile, which tells it, too.

        It was read before the nodes: that it changed since, as its node leaves, is no reason to wait a minute.
        """
        try:
            self.ledger.save_claim(cluster, replace(advanced(claim, target), node_name=node))
        except ConflictError:
            claim = self.ledger.claim(cluster, claim.id)
            if not claim.state.precedes(target):
                return None
            self.ledger.save_claim(cluster, replace(advanced(claim, target), node_name=node))
        return claim

    def _announce(self, cluster: str, claim: NodeClaim, node: Node, target: ClaimState) -> None:
        if claim.state.precedes(ClaimState.REGISTERED):
            self.observer.registered(cluster, node.name, claim)
        if target is ClaimState.INITIALIZED:
            self.observer.initialized(cluster, node.name, claim)


def naming(node_classes: Iterable[NodeClass]) -> frozenset[str]:
    """Classes whose own tags name their instances: that name stays (karpenter-behaviour §7.3)."""
    return frozenset(node_class.name for node_class in node_classes if "Name" in node_class.tags)


def _tags(claim: NodeClaim, node: Node, *, keeps_name: bool) -> dict[str, str]:
    """What is known of an instance once it has a node."""
    named = {} if keeps_name else {"Name": node.name}
    return {**named, "karpenter.sh/nodeclaim": claim.id}


def _joined(claims: Iterable[NodeClaim], nodes: Iterable[Node]) -> Iterator[tuple[NodeClaim, Node]]:
    """Claims that aren't gone, with the node of their instance."""
    by_instance = {node.instance_id: node for node in nodes if node.instance_id}
    for claim in claims:
        node = by_instance.get(claim.instance_id)
        if node is not None and claim.state is not ClaimState.GONE:
            yield claim, node


def _target(claim: NodeClaim, node: Node) -> ClaimState:
    return ClaimState.INITIALIZED if is_initialized(claim, node) else ClaimState.REGISTERED


def is_initialized(claim: NodeClaim, node: Node) -> bool:
    """Ready, startup and known ephemeral taints gone, requested extended resources there."""
    startup = {(t.key, t.effect) for t in claim.startup_taints}
    starting = any(is_ephemeral(t) and t != UNREGISTERED for t in node.taints)
    held = any((t.key, t.effect) in startup for t in node.taints)
    resources = all(node.allocatable.get(r, 0) > 0 for r in claim.requests if r not in _BASIC)
    return node.ready and not starting and not held and resources


def missing_labels(claim: NodeClaim, node: Node, target: ClaimState) -> Mapping[str, str]:
    """What the claim promises and the node lacks. A label with another value is left: somebody chose it."""
    wanted = {**claim.labels, REGISTERED_LABEL: "true"}
    if target is ClaimState.INITIALIZED:
        wanted[INITIALIZED_LABEL] = "true"
    return {key: value for key, value in wanted.items() if key not in node.labels}
