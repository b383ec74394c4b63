"""Values for adapter tests, with keyword overrides."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from nodewright.application.ports import FleetOverride, FleetRequest, FleetTemplate, LaunchTemplateSpec
from nodewright.domain.claims import ClaimState, LaunchRecord, NodeClaim
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.nodeclasses import NodeClass, SelectorTerm
from nodewright.domain.pods import PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.taints import Taint

NOW = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC)
STACK = "nodewright-test"


def cluster(name: str = "prod", **changes: object) -> ConnectedCluster:
    base = ConnectedCluster(
        name=name,
        endpoint="https://k8s.example",
        certificate_authority="Q0E=",
        version="1.37",
        service_cidr="10.100.0.0/16",
        dns_ip="10.100.0.10",
        token_hashes=("ab" * 32,),
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def claim(claim_id: str = "l1-00", **changes: object) -> NodeClaim:
    base = NodeClaim(
        id=claim_id,
        launch_id=claim_id.rpartition("-")[0],
        state=ClaimState.RESERVED,
        pool="default",
        node_class="default",
        pool_hash="1",
        class_hash="2",
        created=NOW,
        labels={"team": "a"},
        taints=(Taint("dedicated", "a", "NoSchedule"),),
        startup_taints=(),
        requests=Resources({"cpu": 1500, "memory": 2**31}),
        nominated_pods=(PodKey("shop", "web-0"),),
        expected_pods=(PodKey("shop", "web-expected-0"),),
        headroom=(PodKey("nodewright.dev", "default-headroom-0"),),
        price=12_600_000,
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def claims(launch_id: str, count: int) -> list[NodeClaim]:
    return [claim(f"{launch_id}-{index:02d}") for index in range(count)]


def launch(launch_id: str = "l1", count: int = 1, **changes: object) -> LaunchRecord:
    base = LaunchRecord(
        id=launch_id,
        claim_ids=tuple(f"{launch_id}-{index:02d}" for index in range(count)),
        request='{"launch_id":"é"}',
        lease_until=NOW + timedelta(seconds=90),
        deadline=NOW + timedelta(minutes=5),
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def node_class(**changes: object) -> NodeClass:
    base = NodeClass(
        name="default",
        ami_family="AL2023",
        ami_terms=(SelectorTerm(alias="al2023@latest"),),
        subnet_terms=(SelectorTerm(tags={"net": "a"}),),
        security_group_terms=(SelectorTerm(tags={"net": "a"}),),
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def template_spec(image_id: str, security_group: str, profile: str = "nodes", **changes: object) -> LaunchTemplateSpec:
    base = LaunchTemplateSpec(
        image_id=image_id,
        user_data="#!/bin/sh\necho é\n",
        instance_profile=profile,
        security_group_ids=(security_group,),
        node_class=node_class(),
        capacity_type="on-demand",
        tags=fleet_tags(),
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def fleet_tags(cluster_name: str = "prod") -> dict[str, str]:
    return {"nodewright.dev/stack": STACK, "eks:eks-cluster-name": cluster_name, "karpenter.sh/nodepool": "default"}


def fleet_request(template: str, overrides: tuple[FleetOverride, ...], **changes: object) -> FleetRequest:
    base = FleetRequest(
        launch_id="l1",
        capacity=1,
        capacity_type="on-demand",
        templates=(FleetTemplate(template, overrides),),
        tags=fleet_tags(),
    )
    return replace(base, **changes)  # type: ignore[arg-type]
