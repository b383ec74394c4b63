"""Nodes that are there, with pods on them, and what DaemonSets bring."""

from dataclasses import replace

from hypothesis import strategies as st

from nodewright.domain.host_ports import HostPort
from nodewright.domain.pods import DaemonSet, Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.snapshot import Room
from nodewright.domain.taints import Taint, Toleration
from tests.builders import EXISTS, resources, taint
from tests.worlds.catalogues import ZONES
from tests.worlds.pools import TEAM_TAINT

EBS = "ebs.csi.aws.com"
_TAINTS: tuple[tuple[Taint, ...], ...] = ((), (), (), (TEAM_TAINT,), (taint("old", "", "PreferNoSchedule"),))
_ARM_ONLY = Requirements([Requirement.of("kubernetes.io/arch", "In", ["arm64"])])
_ONLY_A = Requirements([Requirement.of("topology.kubernetes.io/zone", "In", ["a"])])
_ONLY_SMALL = Requirements([Requirement.of("node.kubernetes.io/instance-type", "In", ["x.s", "y.s"])])
_REGISTERED = Requirements([Requirement.of("karpenter.sh/registered", "In", ["true"])])


@st.composite
def rooms(draw: st.DrawFn, name: str, apps: tuple[Pod, ...], pool_names: tuple[str, ...]) -> Room:
    """A node with up to four pods of the apps on it."""
    pods = tuple(draw(st.lists(st.sampled_from(apps), max_size=4))) if apps else ()
    leaving = draw(st.sampled_from([False] * 5 + [True]))
    standing = tuple(_bound(each, name, number, terminating=leaving) for number, each in enumerate(pods))
    initialized = draw(st.booleans())
    last = {"karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"} if initialized else {}
    return Room(
        name=name,
        labels=draw(_labels(name, pool_names)) | last,
        taints=draw(st.sampled_from(_TAINTS)),
        available=resources(cpu=draw(st.sampled_from(["0", "500m", "2", "4"])), memory="6Gi", pods=6),
        initialized=initialized,
        pool=pool_names[0],
        pods=standing,
        host_ports=tuple(port for each in standing for port in each.host_ports),
        attachable=draw(st.sampled_from([{}, {}, {EBS: 2}, {EBS: 5}])),
    )


@st.composite
def daemon_sets(draw: st.DrawFn, name: str) -> DaemonSet:
    """Small ones, some picky, some with a port that pods want too."""
    terms = draw(st.sampled_from([Requirements(), Requirements(), _ARM_ONLY, _ONLY_A, _ONLY_SMALL, _REGISTERED]))
    tolerations: tuple[Toleration, ...] = draw(st.sampled_from([EXISTS, EXISTS, ()]))
    return DaemonSet(
        PodKey(draw(st.sampled_from(["kube-system", "default"])), name),
        resources(cpu=draw(st.sampled_from(["100m", "300m"])), memory="128Mi", pods=1),
        (terms,),
        tolerations,
        draw(st.sampled_from([{"app": name}, {"app": name}, {"app": "web"}])),
        draw(st.sampled_from([*[()] * 6, (HostPort(8080),)])),
    )


@st.composite
def _labels(draw: st.DrawFn, name: str, pool_names: tuple[str, ...]) -> dict[str, str]:
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": draw(st.sampled_from(["amd64", "amd64", "arm64"])),
        "node.kubernetes.io/instance-type": "x.m",
        "karpenter.k8s.aws/instance-cpu": "4",
        "karpenter.sh/capacity-type": draw(st.sampled_from(["on-demand", "spot"])),
        "karpenter.sh/nodepool": draw(st.sampled_from(pool_names)),
        "topology.kubernetes.io/zone": draw(st.sampled_from([*ZONES, *ZONES, "old-zone"])),
    }
    more = draw(st.sampled_from([{}, {}, {"team": "blue"}, {"team": "red"}, {"rack": "r1"}, {"rack": "r2"}]))
    without = draw(st.sampled_from(["", "", "", "", "topology.kubernetes.io/zone"]))
    return {key: value for key, value in {**labels, **more}.items() if key != without}


def _bound(app: Pod, node: str, number: int, *, terminating: bool) -> Pod:
    """One that was started before, of the same app; perhaps the first is on its way out."""
    return replace(
        app,
        key=PodKey(app.key.namespace, f"{app.key.name}-on-{node}-{number}"),
        node_name=node,
        phase="Running",
        terminating=terminating and number == 0,
        requests=Resources(),
        priority=0,
        host_ports=app.host_ports if number == 0 else (),
    )
