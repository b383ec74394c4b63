# ruff: noqa: FBT003
"""Karpenter's field tables as data: each field of each kind and generation, set in a manifest, and what it comes to.

Source: karpenter-behaviour §1–§4.5. The tests of readers, CRDs, conversion and docs/manifests.md go by it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction
from typing import Any, Literal, Protocol

from nodewright.adapters.manifests.crds import crds
from nodewright.adapters.manifests.node_templates import read_node_template
from nodewright.adapters.manifests.nodeclasses import read_node_class
from nodewright.adapters.manifests.overlays import read_overlay
from nodewright.adapters.manifests.pools import read_pool
from nodewright.adapters.manifests.provisioners import read_provisioner
from nodewright.application.ports import ManifestWarning
from nodewright.domain.limits import PRICE, Limits
from nodewright.domain.nodeclasses import BlockDevice, SelectorTerm
from nodewright.domain.overlays import PriceChange
from nodewright.domain.pools import DisruptionBudget
from nodewright.domain.requirements import Requirement
from nodewright.domain.taints import Taint
from tests.adapters.manifests.raw import Json, node_class, node_overlay, node_pool, node_template, provisioner

Status = Literal["honoured", "implied", "warned", "refused"]
"""Read and acted on; says what holds anyway; read on without it; nothing can be done with the object."""


class Reading(Protocol):
    """What a reader makes of an object."""

    @property
    def warnings(self) -> tuple[ManifestWarning, ...]: ...


@dataclass(frozen=True)
class Row:
    """One field: set to `value` at `path` up to the first `[]`, it makes `attribute` of the reading `becomes`."""

    path: str
    value: object
    attribute: str = ""
    becomes: object = None
    status: Status = "honoured"
    message: str = ""
    """What the warning says, in part."""
    at: str = ""
    """Where the warning points, if not at the path with [0] for []."""
    beside: Mapping[str, object] = field(default_factory=dict)
    """What else a sound manifest with this field says, by path."""

    @property
    def where(self) -> str:
        return self.path.partition("[]")[0]

    @property
    def warned_path(self) -> str:
        return self.at or self.path.replace("[]", "[0]")


@dataclass(frozen=True)
class Table:
    """The fields of one kind in one generation. `base` makes a sound manifest of it, given the path of none."""

    kind: str
    version: str
    base: Callable[[], Json]
    read: Callable[[Mapping[str, object]], Reading]
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        return f"{self.kind} {self.version}"

    def manifest(self, *rows: Row) -> Json:
        """The sound manifest with these fields set."""
        raw = self.base()
        for row in rows:
            for path, value in {**row.beside, row.where: row.value}.items():
                place(raw, path, value)
        return raw

    @property
    def schema(self) -> dict[str, Any]:
        """By which our CRD checks this kind in this version."""
        (served,) = [
            version["schema"]["openAPIV3Schema"]
            for crd in CRDS
            for version in crd["spec"]["versions"]
            if (crd["spec"]["names"]["kind"], version["name"]) == (self.kind, self.version)
        ]
        found: dict[str, Any] = served
        return found


CRDS: list[Any] = list(crds())


def place(raw: Json, path: str, value: object) -> None:
    """Set a field, or take it away with None; a map is merged into one that is there.

    `\\.` is a point within a name.
    """
    *parents, last = [name.replace("\0", ".") for name in path.replace("\\.", "\0").split(".")]
    inside: Json = raw
    for name in parents:
        known = inside.get(name)
        inside[name] = dict(known) if isinstance(known, Mapping) else {}
        inside = inside[name]  # type: ignore[assignment]
    known = inside.pop(last, None) if value is None else inside.get(last)
    if value is not None:
        inside[last] = {**known, **value} if isinstance(known, Mapping) and isinstance(value, Mapping) else value


def warned(path: str, value: object, message: str, at: str = "") -> Row:
    """A field that is read over, and that says so."""
    return Row(path, value, status="warned", message=message, at=at)


def refused(path: str, value: object, message: str, at: str = "") -> Row:
    """A field with which the object can't be used."""
    return Row(path, value, status="refused", message=message, at=at)


def implied(path: str, value: object) -> Row:
    """A field that says what holds anyway."""
    return Row(path, value, status="implied")


CPU = "karpenter.k8s.aws/instance-cpu"
ZONE = "topology.kubernetes.io/zone"
DAY = timedelta(days=1)
BUDGET = {"nodes": "20%", "reasons": ["Empty", "Drifted"], "schedule": "0 9 * * 1-5", "duration": "8h"}
READ_BUDGET = (DisruptionBudget("20%", "0 9 * * 1-5", timedelta(hours=8), ("Empty", "Drifted")),)
EBS: Json = {
    "deleteOnTermination": False,
    "encrypted": True,
    "iops": 4000,
    "throughput": 250,
    "kmsKeyID": "alias/disks",
    "snapshotID": "snap-1",
    "volumeSize": "100G",
    "volumeType": "gp3",
}
DISK = {"deviceName": "/dev/xvda", "rootVolume": True, "ebs": EBS}
READ_DISK = (
    BlockDevice(
        "/dev/xvda",
        volume_size_gib=94,
        volume_type="gp3",
        iops=4000,
        throughput=250,
        encrypted=True,
        kms_key_id="alias/disks",
        snapshot_id="snap-1",
        delete_on_termination=False,
        root_volume=True,
    ),
)


def requirement_rows(path: str, owner: str = "pool") -> tuple[Row, ...]:
    """Each operator, and minValues."""
    entries: tuple[tuple[str, Json, Requirement], ...] = (
        ("operator", {"key": "team", "operator": "In", "values": ["a"]}, Requirement.of("team", "In", ("a",))),
        ("values", {"key": "team", "operator": "NotIn", "values": ["a"]}, Requirement.of("team", "NotIn", ("a",))),
        ("key", {"key": "team", "operator": "Exists"}, Requirement.of("team", "Exists")),
        ("operator", {"key": "team", "operator": "DoesNotExist"}, Requirement.of("team", "DoesNotExist")),
        ("operator", {"key": CPU, "operator": "Gt", "values": ["3"]}, Requirement.of(CPU, "Gt", ("3",))),
        ("operator", {"key": CPU, "operator": "Lt", "values": ["9"]}, Requirement.of(CPU, "Lt", ("9",))),
        ("operator", {"key": CPU, "operator": "Gte", "values": ["4"]}, Requirement.of(CPU, "Gte", ("4",))),
        ("operator", {"key": CPU, "operator": "Lte", "values": ["8"]}, Requirement.of(CPU, "Lte", ("8",))),
        (
            "minValues",
            {"key": ZONE, "operator": "Exists", "minValues": 2},
            Requirement.of(ZONE, "Exists", (), min_values=2),
        ),
    )
    read = (Row(f"{path}[].{field}", [raw], f"{owner}.requirements[{one.key}]", one) for field, raw, one in entries)
    reserved = {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["reserved", "spot"]}
    dedicated = {"key": "karpenter.k8s.aws/instance-tenancy", "operator": "In", "values": ["dedicated"]}
    return (
        *read,
        warned(f"{path}[].values", [reserved], "nothing is bought as reserved"),
        warned(f"{path}[].values", [dedicated], "dedicated tenancy"),
    )


def node_rows(labels: str, annotations: str, node: str) -> tuple[Row, ...]:
    """What nodes carry; `node`: where taints and requirements stand."""
    taints = [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]
    read_taints = (Taint("gpu", "yes", "NoSchedule"),)
    return (
        Row(labels, {"team": "a"}, "pool.labels", {"team": "a"}),
        Row(annotations, {"note": "b"}, "pool.annotations", {"note": "b"}),
        *(Row(f"{node}.taints[].{field}", taints, "pool.taints", read_taints) for field in ("key", "value", "effect")),
        *(
            Row(f"{node}.startupTaints[].{field}", taints, "pool.startup_taints", read_taints)
            for field in ("key", "value", "effect")
        ),
        *requirement_rows(f"{node}.requirements"),
    )


def pool_rows() -> tuple[Row, ...]:
    """What pools of every kind have under one name."""
    return (
        Row("spec.weight", 10, "pool.weight", 10),
        Row(
            "metadata.annotations.nodewright\\.dev/limit-usd-per-hour",
            "1.5",
            "pool.limits",
            Limits({PRICE: 1_500_000_000}),
        ),
    )


def kubelet_rows(path: str, kubelet: str) -> tuple[Row, ...]:
    """Kubelet settings, whichever object they stand in."""
    soft, grace = {"memory.available": "10%"}, {"memory.available": "1m30s"}
    return (
        Row(f"{path}.clusterDNS", ["10.0.0.10"], f"{kubelet}.cluster_dns", ("10.0.0.10",)),
        Row(f"{path}.maxPods", 40, f"{kubelet}.max_pods", 40),
        Row(f"{path}.podsPerCore", 4, f"{kubelet}.pods_per_core", 4),
        Row(f"{path}.systemReserved", {"cpu": "100m"}, f"{kubelet}.system_reserved", {"cpu": "100m"}),
        Row(
            f"{path}.kubeReserved",
            {"memory": "1Gi", "pid": "100"},
            f"{kubelet}.kube_reserved",
            {"memory": "1Gi", "pid": "100"},
        ),
        Row(f"{path}.evictionHard", {"nodefs.available": "5%"}, f"{kubelet}.eviction_hard", {"nodefs.available": "5%"}),
        Row(
            f"{path}.evictionSoft",
            soft,
            f"{kubelet}.eviction_soft",
            soft,
            beside={f"{path}.evictionSoftGracePeriod": grace},
        ),
        Row(
            f"{path}.evictionSoftGracePeriod",
            grace,
            f"{kubelet}.eviction_soft_grace_period",
            grace,
            beside={f"{path}.evictionSoft": soft},
        ),
        Row(f"{path}.evictionMaxPodGracePeriod", 60, f"{kubelet}.eviction_max_pod_grace_period", 60),
        Row(f"{path}.imageGCHighThresholdPercent", 80, f"{kubelet}.image_gc_high_threshold_percent", 80),
        Row(f"{path}.imageGCLowThresholdPercent", 70, f"{kubelet}.image_gc_low_threshold_percent", 70),
        Row(f"{path}.cpuCFSQuota", False, f"{kubelet}.cpu_cfs_quota", False),
        implied(f"{path}.containerRuntime", "containerd"),
        warned(f"{path}.containerRuntime", "dockerd", "nodes run containerd"),
        warned(f"{path}.topologyManagerPolicy", "restricted", "not passed on to kubelet"),
        refused(f"{path}.registerWithTaints", [{"key": "a", "effect": "NoSchedule"}], "template's taints"),
        refused(f"{path}.maxPods", "max_pods - 2", "is not a whole number"),
    )


def launch_rows() -> tuple[Row, ...]:
    """What classes of every generation say of an instance alike."""
    cls = "node_class"
    return (
        Row("spec.userData", "#!/bin/sh\necho\n", f"{cls}.user_data", "#!/bin/sh\necho\n"),
        Row("spec.tags", {"team": "a", "Name": "b"}, f"{cls}.tags", {"team": "a", "Name": "b"}),
        *(
            warned("spec.tags", {key: "x"}, "set by the autoscaler itself", f"spec.tags.{key}")
            for key in (
                "eks:eks-cluster-name",
                "kubernetes.io/cluster/a",
                "karpenter.sh/nodepool",
                "karpenter.sh/nodeclaim",
                "karpenter.k8s.aws/ec2nodeclass",
                "nodewright.dev/stack",
            )
        ),
        Row("spec.blockDeviceMappings[].deviceName", [DISK], f"{cls}.block_devices", READ_DISK),
        Row("spec.blockDeviceMappings[].rootVolume", [DISK], f"{cls}.block_devices", READ_DISK),
        *(Row(f"spec.blockDeviceMappings[].ebs.{name}", [DISK], f"{cls}.block_devices", READ_DISK) for name in EBS),
        warned(
            "spec.blockDeviceMappings[].ebs.volumeInitializationRate",
            [{**DISK, "ebs": {**EBS, "volumeInitializationRate": 200}}],
            "EC2's own rate",
        ),
        *metadata_rows(),
        Row("spec.detailedMonitoring", True, f"{cls}.detailed_monitoring", True),
        Row("spec.context", "reserved-context", f"{cls}.context", "reserved-context"),
        Row("spec.instanceProfile", "nodes", f"{cls}.instance_profile", "nodes"),
    )


def metadata_rows() -> tuple[Row, ...]:
    """The instance metadata service."""
    path, options = "spec.metadataOptions", "node_class.metadata_options"
    return (
        Row(f"{path}.httpEndpoint", "disabled", f"{options}.http_endpoint", "disabled"),
        Row(f"{path}.httpProtocolIPv6", "enabled", f"{options}.http_protocol_ipv6", "enabled"),
        Row(f"{path}.httpPutResponseHopLimit", 3, f"{options}.http_put_response_hop_limit", 3),
        Row(f"{path}.httpTokens", "optional", f"{options}.http_tokens", "optional"),
    )


def image_rows() -> tuple[Row, ...]:
    """amiFamily and amiSelectorTerms."""
    terms, read = "spec.amiSelectorTerms", "node_class.ami_terms"
    family = {"spec.amiFamily": "AL2023"}
    named = {"name": "mine-*", "owner": "self", "tags": {"team": "a"}}
    read_named = (SelectorTerm(name="mine-*", owner="self", tags={"team": "a"}),)
    return (
        *(
            Row(f"{terms}[].alias", [{"alias": alias}], read, (SelectorTerm(alias=alias),))
            for alias in ("al2@latest", "al2023@v20260101", "bottlerocket@v1.50.0")
        ),
        refused(f"{terms}[].alias", [{"alias": "windows2022@latest"}], "is not supported"),
        *(Row(f"{terms}[].{name}", [named], read, read_named, beside=family) for name in named),
        Row(f"{terms}[].id", [{"id": "ami-1"}], read, (SelectorTerm(id="ami-1"),), beside=family),
        Row(
            f"{terms}[].ssmParameter",
            [{"ssmParameter": "/mine"}],
            read,
            (SelectorTerm(ssm_parameter="/mine"),),
            beside=family,
        ),
        Row("spec.amiFamily", "Custom", "node_class.ami_family", "Custom"),
        refused("spec.amiFamily", "Windows2022", "Windows nodes are not supported"),
        refused("spec.amiFamily", "Ubuntu", "use amiFamily Custom"),
    )


def class_rows() -> tuple[Row, ...]:
    """EC2NodeClass of v1 and v1beta1."""
    subnets, groups, cls = "spec.subnetSelectorTerms", "spec.securityGroupSelectorTerms", "node_class"
    profile = "spec.instanceProfile"
    return (
        Row(f"{subnets}[].id", [{"id": "subnet-1"}], f"{cls}.subnet_terms", (SelectorTerm(id="subnet-1"),)),
        Row(f"{subnets}[].tags", [{"tags": {"b": "*"}}], f"{cls}.subnet_terms", (SelectorTerm(tags={"b": "*"}),)),
        refused(f"{subnets}[].name", [{"name": "a"}], "a term has either an id or tags", f"{subnets}[0]"),
        Row(f"{groups}[].id", [{"id": "sg-2"}], f"{cls}.security_group_terms", (SelectorTerm(id="sg-2"),)),
        Row(
            f"{groups}[].tags", [{"tags": {"b": "c"}}], f"{cls}.security_group_terms", (SelectorTerm(tags={"b": "c"}),)
        ),
        Row(f"{groups}[].name", [{"name": "nodes"}], f"{cls}.security_group_terms", (SelectorTerm(name="nodes"),)),
        Row("spec.role", "other", f"{cls}.role", "other"),
        Row(profile, "nodes", f"{cls}.instance_profile", "nodes", beside={"spec.role": None}),
        Row(profile, "nodes", status="refused", message="exclude each other", beside={"spec.role": "other"}),
        Row("spec.associatePublicIPAddress", False, f"{cls}.associate_public_ip", False),
        Row("spec.instanceStorePolicy", "RAID0", f"{cls}.instance_store_raid0", True),
        *(row for row in launch_rows() if row.path != profile),
    )


def unused_class_rows() -> tuple[Row, ...]:
    """Fields of v1 that aren't acted on yet."""
    return (
        *(
            warned(
                f"spec.capacityReservationSelectorTerms[].{field}",
                [{field: value}],
                "its reservations are not used",
                "spec.capacityReservationSelectorTerms",
            )
            for field, value in (
                ("id", "cr-1"),
                ("tags", {"a": "b"}),
                ("ownerID", "123456789012"),
                ("instanceMatchCriteria", "open"),
            )
        ),
        *(
            warned(f"spec.placementGroupSelector.{field}", value, "outside of it", "spec.placementGroupSelector")
            for field, value in (("name", "a"), ("id", "pg-1"))
        ),
        *(
            warned(
                f"spec.networkInterfaces[].{field}",
                [{"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"}],
                "one network interface",
                "spec.networkInterfaces",
            )
            for field in ("networkCardIndex", "deviceIndex", "interfaceType")
        ),
        warned("spec.ipPrefixCount", 2, "no prefixes"),
        *(
            warned(f"spec.connectionTracking.{field}", seconds, "EC2's own timeouts", "spec.connectionTracking")
            for field, seconds in (("tcpEstablishedTimeout", 600), ("udpStreamTimeout", 90), ("udpTimeout", 40))
        ),
        warned("spec.cpuOptions.nestedVirtualization", "enabled", "EC2's own options", "spec.cpuOptions"),
    )


def disruption_rows() -> tuple[Row, ...]:
    """spec.disruption of NodePools."""
    section, pool = "spec.disruption", "pool"
    return (
        Row(f"{section}.consolidationPolicy", "WhenEmpty", f"{pool}.consolidation_policy", "WhenEmpty"),
        implied(f"{section}.consolidationPolicy", "WhenEmptyOrUnderutilized"),
        Row(f"{section}.consolidateAfter", "1h30m", f"{pool}.consolidate_after", timedelta(minutes=90)),
        Row(f"{section}.consolidateAfter", "Never", f"{pool}.consolidate_after", None),
        *(Row(f"{section}.budgets[].{field}", [BUDGET], f"{pool}.budgets", READ_BUDGET) for field in BUDGET),
        Row(
            f"{section}.budgets[].schedule",
            [{"schedule": "@daily", "duration": "1h"}],
            f"{pool}.budgets",
            (DisruptionBudget("10%", "@daily", timedelta(hours=1)),),
        ),
    )


def template_rows() -> tuple[Row, ...]:
    """spec.template of NodePools of either generation."""
    template = "spec.template"
    return (
        *node_rows(f"{template}.metadata.labels", f"{template}.metadata.annotations", f"{template}.spec"),
        Row(f"{template}.spec.nodeClassRef.name", "other", "pool.node_class", "other"),
        implied(f"{template}.spec.nodeClassRef.kind", "EC2NodeClass"),
        *pool_rows(),
        Row("spec.limits", {"cpu": "10", "nodes": 5}, "pool.limits", Limits({"cpu": 10_000, "nodes": 5})),
    )


def v1_pool() -> Table:
    """NodePool."""
    node = "spec.template.spec"
    rows = (
        *template_rows(),
        implied(f"{node}.nodeClassRef.group", "karpenter.k8s.aws"),
        Row(f"{node}.expireAfter", "24h", "pool.expire_after", DAY),
        Row(f"{node}.expireAfter", "1h30m15s", "pool.expire_after", timedelta(hours=1, minutes=30, seconds=15)),
        Row(f"{node}.expireAfter", "Never", "pool.expire_after", None),
        Row(f"{node}.terminationGracePeriod", "24h", "pool.termination_grace_period", DAY),
        *disruption_rows(),
        warned("spec.disruption.consolidationPolicy", "Balanced", "not told apart"),
        refused("spec.replicas", 3, "static capacity is not supported"),
    )
    return Table("NodePool", "v1", node_pool, read_pool, rows)


def v1beta1_pool() -> Table:
    """NodePool with v1beta1's names."""
    node = "spec.template.spec"
    rows = (
        *template_rows(),
        implied(f"{node}.nodeClassRef.apiVersion", "karpenter.k8s.aws/v1beta1"),
        warned(f"{node}.resources", {"requests": {"cpu": "1"}}, "no effect on a pool"),
        *kubelet_rows(f"{node}.kubelet", "kubelet"),
        Row("spec.disruption.expireAfter", "24h", "pool.expire_after", DAY),
        Row("spec.disruption.expireAfter", "Never", "pool.expire_after", None),
        implied("spec.disruption.consolidationPolicy", "WhenUnderutilized"),
        *(row for row in disruption_rows() if row.value != "WhenEmptyOrUnderutilized"),
    )
    return Table("NodePool", "v1beta1", _beta_pool, read_pool, rows)


def _beta_pool() -> Json:
    return node_pool(version="v1beta1", node={"nodeClassRef": {"name": "default"}})


def v1alpha5_pool() -> Table:
    """Provisioner."""
    selectors = {"subnetSelector": {"a": "b"}, "securityGroupSelector": {"a": "b"}}
    rows = (
        *node_rows("spec.labels", "spec.annotations", "spec"),
        *pool_rows(),
        Row("spec.limits.resources", {"cpu": "10"}, "pool.limits", Limits({"cpu": 10_000})),
        Row("spec.providerRef.name", "other", "pool.node_class", "other"),
        implied("spec.providerRef.kind", "AWSNodeTemplate"),
        implied("spec.providerRef.apiVersion", "karpenter.k8s.aws/v1alpha1"),
        Row(
            "spec.provider",
            selectors,
            "node_class.subnet_terms",
            (SelectorTerm(tags={"a": "b"}),),
            beside={"spec.providerRef": None},
        ),
        refused("spec.provider", selectors, "exclude each other"),
        Row("spec.consolidation.enabled", True, "pool.consolidation_policy", "WhenEmptyOrUnderutilized"),
        Row("spec.ttlSecondsAfterEmpty", 30, "pool.consolidate_after", timedelta(seconds=30)),
        Row("spec.ttlSecondsUntilExpired", 86400, "pool.expire_after", DAY),
        *kubelet_rows("spec.kubeletConfiguration", "kubelet"),
    )
    return Table("Provisioner", "v1alpha5", provisioner, read_provisioner, rows)


def v1_class() -> Table:
    """EC2NodeClass."""
    rows = (
        *class_rows(),
        *image_rows(),
        *unused_class_rows(),
        *kubelet_rows("spec.kubelet", "node_class.kubelet"),
    )
    return Table("EC2NodeClass", "v1", node_class, read_node_class, rows)


def v1beta1_class() -> Table:
    """EC2NodeClass, its images named by family."""
    rows = (
        *class_rows(),
        *(
            Row("spec.amiFamily", family, "node_class.ami_terms", (SelectorTerm(alias=f"{alias}@latest"),))
            for family, alias in (("AL2", "al2"), ("Bottlerocket", "bottlerocket"))
        ),
        *(row for row in image_rows() if "alias" not in row.path and row.value != "Custom"),
    )
    return Table("EC2NodeClass", "v1beta1", _beta_class, read_node_class, rows)


def _beta_class() -> Json:
    return node_class(version="v1beta1", amiFamily="AL2023", amiSelectorTerms=None, role=None)


def v1alpha1_class() -> Table:
    """AWSNodeTemplate."""
    either = (SelectorTerm(tags={"team": "a", "b": "1"}), SelectorTerm(tags={"team": "a", "b": "2"}))
    rows = (
        *launch_rows(),
        Row("spec.amiFamily", "Bottlerocket", "node_class.ami_family", "Bottlerocket"),
        Row("spec.amiSelector", {"aws::name": "mine-*"}, "node_class.ami_terms", (SelectorTerm(name="mine-*"),)),
        Row("spec.amiSelector", {"aws-ids": "ami-1"}, "node_class.ami_terms", (SelectorTerm(id="ami-1"),)),
        refused("spec.amiSelector", {"aws::owners": "self"}, "alone would take any"),
        refused("spec.amiSelector", {"aws::name": ""}, "it selects nothing"),
        Row(
            "spec.amiSelector",
            {"aws::owners": "self", "aws::name": "a", "team": "b"},
            "node_class.ami_terms",
            (SelectorTerm(name="a", owner="self", tags={"team": "b"}),),
        ),
        Row(
            "spec.blockDeviceMappings[].ebs.volumeSize",
            [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": 50}}],
            "node_class.block_devices",
            (BlockDevice("/dev/xvda", volume_size_gib=50),),
        ),
        Row("spec.subnetSelector", {"b": "1,2"}, "node_class.subnet_terms", either),
        warned("spec.subnetSelector", {"aws-ids": "subnet-1,subnet-2"}, "team is ignored"),
        Row(
            "spec.securityGroupSelector",
            {"aws-ids": "sg-2,sg-3"},
            "node_class.security_group_terms",
            (SelectorTerm(id="sg-2"), SelectorTerm(id="sg-3")),
        ),
        refused("spec.launchTemplate", "mine", "launch templates are not supported"),
        refused("spec.amiFamily", "Ubuntu", "use amiFamily Custom"),
    )
    return Table("AWSNodeTemplate", "v1alpha1", node_template, read_node_template, rows)


def v1alpha1_overlay() -> Table:
    """NodeOverlay."""
    overlay = "overlay"
    rows = (
        *requirement_rows("spec.requirements", overlay),
        Row("spec.price", "0.25", f"{overlay}.price", PriceChange(Fraction(0), 250_000_000)),
        Row("spec.priceAdjustment", "-10%", f"{overlay}.price", PriceChange(Fraction(9, 10))),
        Row("spec.priceAdjustment", "+0.25", f"{overlay}.price", PriceChange(nanos=250_000_000)),
        Row("spec.capacity", {"a/b": 2}, f"{overlay}.capacity", {"example.com/other": 1, "a/b": 2}),
        *(
            refused("spec.capacity", {name: "1"}, "only extended resources", f"spec.capacity.{name}")
            for name in ("cpu", "memory", "pods", "ephemeral-storage")
        ),
        Row("spec.weight", 7, f"{overlay}.weight", 7),
    )
    return Table("NodeOverlay", "v1alpha1", _overlay, read_overlay, rows)


def _overlay() -> Json:
    return node_overlay(capacity={"example.com/other": 1})


TABLES = (v1_pool(), v1beta1_pool(), v1alpha5_pool(), v1_class(), v1beta1_class(), v1alpha1_class(), v1alpha1_overlay())

JUNK: tuple[object, ...] = (
    -1,
    7,
    10**30,
    0.5,
    True,
    "",
    "x",
    "ä\n",
    [],
    [1],
    ["x"],
    [{}],
    {},
    {"a": []},
    {"a": {"b": [1]}},
    "9" * 5000,
)


def spoiled(value: object) -> Iterator[object]:
    """Junk instead of it, and instead of each thing inside of it."""
    yield from JUNK
    if isinstance(value, dict):
        yield from ({**value, name: junk} for name, inner in value.items() for junk in spoiled(inner))
    elif isinstance(value, list):
        yield from ([junk, *value[1:]] for junk in spoiled(value[0]))


def spoiled_rows(table: Table) -> Iterator[Row]:
    """Each field with everything that doesn't belong there, once."""
    for where, value in {(row.where, repr(row.value)): (row.where, row.value) for row in table.rows}.values():
        yield from (Row(where, junk) for junk in spoiled(value))
