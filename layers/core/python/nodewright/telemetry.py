"""Logs and metrics, by Powertools; the Observer port turned into both. Log keys are fixed nouns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from nodewright.domain.money import show_usd

if TYPE_CHECKING:
    # For the types alone: loading the domain would cost notify half of its cold start.
    from nodewright.application.ports import Duty, FleetAnswer
    from nodewright.domain.claims import NodeClaim
    from nodewright.domain.plans import Launch, Plan
    from nodewright.domain.retirement import Reason, Retirement

NAMESPACE = "Nodewright"


@dataclass(frozen=True, slots=True)
class Telemetry:
    """One function's logger and metrics, made once per container."""

    logger: Logger
    metrics: EphemeralMetrics

    @classmethod
    def of(cls, function: str, stack_id: str) -> Telemetry:
        """Constructed at cold start; infra/monitoring.py has alarms on a stack's functions by these dimensions."""
        # Not the shared kind: what one instance is told would be told by all of a process.
        metrics = EphemeralMetrics(namespace=NAMESPACE, service=function)
        metrics.set_default_dimensions(stack=stack_id)
        return cls(Logger(service=function, utc=True), metrics)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Around one invocation: its metrics leave with it, whatever happens."""
        try:
            yield
        finally:
            if self.metrics.metric_set:  # Powertools warns of having nothing to say
                self.metrics.flush_metrics()


@dataclass(frozen=True, slots=True)
class PowertoolsObserver:
    """Implements Observer."""

    telemetry: Telemetry

    def hint_sent(self, cluster: str, duty: Duty) -> None:
        """Counted only: a burst has thousands."""
        self._count("HintsSent", 1)
        self.telemetry.logger.debug("hint", cluster=cluster, duty=duty)

    def planned(self, cluster: str, plan: Plan, pods: int) -> None:
        """One line per plan, with its price and bound in USD per hour."""
        self._count("PlannedNodes", sum(len(launch.nodes) for launch in plan.launches))
        self._count("UnschedulablePods", len(plan.unschedulable))
        self.telemetry.logger.info(
            "plan",
            cluster=cluster,
            pods=pods,
            price=show_usd(plan.cost),
            bound=None if plan.bound is None else show_usd(plan.bound),
            launches=[_shown(launch) for launch in plan.launches],
            nominated=sum(len(n.pods) for n in plan.nominations),
            expected=len(plan.expected),
            headroom=len(plan.headroom),
            unschedulable=[
                {"pod": str(u.pod), "reason": u.reason, "message": u.message} for u in plan.unschedulable[:20]
            ],
            truncated=plan.truncated,
        )

    def launched(self, cluster: str, pool: str, answer: FleetAnswer) -> None:
        """One line per CreateFleet answer."""
        self._count("LaunchedNodes", len(answer.instances))
        self._count("FleetErrors", len(answer.errors))
        self.telemetry.logger.info(
            "fleet",
            cluster=cluster,
            node_pool=pool,
            instances=[
                {"id": i.id, "instance_type": i.instance_type, "zone": i.zone, "capacity_type": i.capacity_type}
                for i in answer.instances
            ],
            errors=[{"code": e.code, "message": e.message, "instance_type": e.instance_type} for e in answer.errors],
        )

    def registered(self, cluster: str, node: str, claim: NodeClaim) -> None:
        """A node of ours joined."""
        self._count("RegisteredNodes", 1)
        self.telemetry.logger.info("registered", cluster=cluster, node=node, node_claim=claim.id)

    def initialized(self, cluster: str, node: str, claim: NodeClaim) -> None:
        """A node of ours is ready for pods."""
        self._count("InitializedNodes", 1)
        self.telemetry.logger.info("initialized", cluster=cluster, node=node, node_claim=claim.id)

    def interrupted(self, cluster: str, claim: NodeClaim, reason: Reason) -> None:
        """AWS takes a node of ours."""
        self._count("Interruptions", 1)
        self.telemetry.logger.info(
            "interrupted",
            cluster=cluster,
            node_claim=claim.id,
            node=claim.node_name,
            instance_type=claim.instance_type,
            zone=claim.zone,
            capacity_type=claim.capacity_type,
            reason=reason,
        )

    def retiring(self, cluster: str, claim: NodeClaim, retirement: Retirement, note: str) -> None:
        """One line per step of a node's way out; the end is counted."""
        self._count("RetiredNodes", int(note == "gone"))
        self.telemetry.logger.info(
            "retiring",
            cluster=cluster,
            node_claim=claim.id,
            node=claim.node_name,
            reason=retirement.reason,
            step=retirement.step.value,
            note=note,
        )

    def disrupted(self, cluster: str, reason: Reason, claims: Sequence[NodeClaim], replacements: int) -> None:
        """One line for nodes that go together."""
        self._count("DisruptedNodes", len(claims))
        self.telemetry.logger.info(
            "disrupted",
            cluster=cluster,
            reason=reason,
            nodes=[claim.node_name for claim in claims],
            replacements=replacements,
        )

    def disruption_dropped(self, cluster: str, reason: Reason, nodes: str, why: str) -> None:
        """Told, as it was decided and then wasn't done."""
        self._count("DroppedDisruptions", 1)
        self.telemetry.logger.info("dropped", cluster=cluster, reason=reason, nodes=nodes, why=why)

    def disruption_blocked(self, cluster: str, nodes: int) -> None:
        """Counted only: the decision says why."""
        self._count("BlockedNodes", nodes)
        self.telemetry.logger.debug("blocked", cluster=cluster, nodes=nodes)

    def foreign_event(self, event: str, instance_id: str) -> None:
        """Counted only: the account may be full of strangers."""
        self._count("ForeignEvents", 1)
        self.telemetry.logger.debug("foreign", aws_event=event, instance=instance_id)

    def braked(self, cluster: str, brake: str, message: str) -> None:
        """Buying was stopped."""
        self._count("BrakesApplied", 1)
        self.telemetry.logger.error("braked", cluster=cluster, brake=brake, reason=message)

    def problem(self, cluster: str, what: str, message: str) -> None:
        """Something to be looked at."""
        self._count("Problems", 1)
        self.telemetry.logger.warning("problem", cluster=cluster, what=what, reason=message)

    def _count(self, name: str, value: int) -> None:
        if value:
            self.telemetry.metrics.add_metric(name=name, unit=MetricUnit.Count, value=value)


def _shown(launch: Launch) -> dict[str, object]:
    return {
        "node_pool": launch.pool,
        "nodes": len(launch.nodes),
        "pods": sum(len(pods) for pods in launch.nodes),
        "instance_types": list(launch.instance_types[:10]),
        "zones": list(launch.zones),
        "capacity_type": launch.capacity_type,
        "price": show_usd(launch.price),
    }
