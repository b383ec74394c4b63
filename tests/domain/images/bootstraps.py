"""What a node is to be told, with keyword overrides."""

from dataclasses import replace

from nodewright.domain.images import Bootstrap
from nodewright.domain.nodeclasses import Kubelet
from nodewright.domain.taints import Taint

ALL_SETTINGS = Kubelet(
    cluster_dns=("10.100.0.53",),
    max_pods=58,
    pods_per_core=10,
    system_reserved={"cpu": "100m"},
    kube_reserved={"memory": "300Mi"},
    eviction_hard={"memory.available": "5%"},
    eviction_soft={"memory.available": "10%"},
    eviction_soft_grace_period={"memory.available": "1m"},
    eviction_max_pod_grace_period=60,
    image_gc_high_threshold_percent=85,
    image_gc_low_threshold_percent=80,
    cpu_cfs_quota=False,
)
TAINTS = (Taint("dedicated", "web", "NoSchedule"), Taint("dedicated", "", "NoExecute"), Taint("boot", "", "NoSchedule"))


def bootstrap(**changes: object) -> Bootstrap:
    base = Bootstrap(
        cluster="prod",
        endpoint="https://k8s.example",
        certificate_authority="Q0E=",
        service_cidr="10.100.0.0/16",
        dns_ip="10.100.0.10",
        labels={"team": "a", "example.com/disk": "fast"},
    )
    return replace(base, **changes)  # type: ignore[arg-type]
