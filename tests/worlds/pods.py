"""Apps whose replicas wait: plain ones, with a few twists each."""

from collections.abc import Callable
from dataclasses import replace

from hypothesis import strategies as st

from nodewright.domain.host_ports import HostPort
from nodewright.domain.pods import Attachment, Pod, PodKey
from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.taints import Toleration
from nodewright.domain.topology import (
    PodAffinityTerm,
    PodSelector,
    Preferences,
    PreferredNodes,
    TopologySpread,
    Weighted,
)
from tests.builders import pod, requirements, resources
from tests.worlds.nodes import EBS

APPS = ("web", "db", "cache", "batch")
NAMESPACES = {"default": {"env": "prod"}, "other": {"env": "prod"}, "lab": {"env": "test"}}
ZONE, HOST, RACK, TEAM = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "rack", "team"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
_KEYS = (*[ZONE] * 9, *[HOST] * 6, *[CAPACITY_TYPE] * 2, RACK, TEAM)

_KINDS = (("affinity",), ("anti_affinity",), ("affinity", "anti_affinity"), ("affinity", "affinity"))
EVERYBODY = PodSelector(Requirements(), frozenset(), Requirements())
Twist = Callable[[Pod], Pod]


def _select(*terms: Requirements) -> Twist:
    return lambda of: replace(of, alternatives=tuple(one.intersect(two) for one in of.alternatives for two in terms))


def _with_port(port: HostPort) -> Twist:
    return lambda of: replace(of, host_ports=(*of.host_ports, port))


def _asking(**amounts: str | int) -> Twist:
    return lambda of: replace(of, requests=of.requests + resources(**amounts))


NODE_TWISTS: dict[str, Twist] = {
    "in-a": _select(requirements((ZONE, "In", "a"))),
    "in-bc": _select(requirements((ZONE, "In", "b", "c"))),
    "not-a": _select(requirements((ZONE, "NotIn", "a"))),
    "arm": _select(requirements(("kubernetes.io/arch", "In", "arm64"))),
    "amd": _select(requirements(("kubernetes.io/arch", "In", "amd64"))),
    "blue": _select(requirements((TEAM, "In", "blue"))),
    "not-blue": _select(requirements((TEAM, "NotIn", "blue"))),
    "no-team": _select(requirements((TEAM, "DoesNotExist"))),
    "racked": _select(requirements((RACK, "Exists"))),
    "big-or-in-b": _select(
        requirements(("karpenter.k8s.aws/instance-cpu", "Gt", "2")), requirements((ZONE, "In", "b"))
    ),
    "small": _select(requirements(("karpenter.k8s.aws/instance-cpu", "Lt", "4"))),
    "blue-or-arm": _select(requirements((TEAM, "In", "blue")), requirements(("kubernetes.io/arch", "In", "arm64"))),
    "spot": _select(requirements((CAPACITY_TYPE, "In", "spot"))),
    "tolerant": lambda of: replace(of, tolerations=(Toleration("team", "Exists"),)),
    "gpu": _asking(gpu=1),
    "fpga": _asking(**{"example.com/fpga": 1}),
    "important": lambda of: replace(of, priority=10),
    "problem": lambda of: replace(of, problems=("spec.resourceClaims: not honoured; remove them",)),
}
EASY = ("amd", "not-blue", "not-a", "tolerant", "important", "big-or-in-b")
PICKY = (*EASY * 5, *NODE_TWISTS)
SHARING_TWISTS: dict[str, Twist] = {
    "port": _with_port(HostPort(8080)),
    "udp": _with_port(HostPort(8080, "UDP")),
    "port-on-9": _with_port(HostPort(8080, "TCP", "10.0.0.9")),
    "shared-volume": lambda of: replace(of, attachments=of.attachments | {Attachment(EBS, f"shared-{of.key.name}")}),
    "volume": lambda of: replace(of, claim_names=("own",)),
    "volume-in-b": lambda of: replace(of, volume_nodes=(requirements((ZONE, "In", "b")),)),
    "volume-in-a-or-c": lambda of: replace(
        of, volume_nodes=(requirements((ZONE, "In", "a")), requirements((ZONE, "In", "c")))
    ),
}


WISHES: dict[str, Preferences] = {
    "none": Preferences(),
    "zone-a": Preferences(nodes=(PreferredNodes(10, requirements((ZONE, "In", "a"))),)),
    "arm-or-nothing": Preferences(nodes=(PreferredNodes(100, requirements(("kubernetes.io/arch", "In", "arm64"))),)),
    "apart": Preferences(anti_affinity=(Weighted(100, PodAffinityTerm(HOST, EVERYBODY)),)),
    "together": Preferences(affinity=(Weighted(50, PodAffinityTerm(ZONE, EVERYBODY)),)),
}


@st.composite
def apps(draw: st.DrawFn, *, ruled: bool) -> tuple[Pod, ...]:
    """One pod of each app, which its replicas are like; the first may go to most nodes."""
    names = draw(st.lists(st.sampled_from(APPS), min_size=1, max_size=3, unique=True))
    home = draw(st.sampled_from(["default", "lab"]))
    return tuple(draw(_app(name, home, names, ruled=ruled, picky=name != names[0])) for name in names)


@st.composite
def replicas(draw: st.DrawFn, app: Pod) -> tuple[Pod, ...]:
    """Up to eight."""
    count = draw(st.integers(min_value=1, max_value=8))
    return tuple(_replica(app, number) for number in range(count))


@st.composite
def _app(draw: st.DrawFn, name: str, home: str, names: list[str], *, ruled: bool, picky: bool) -> Pod:
    cpu = draw(st.sampled_from(["100m", "500m", "500m", "1", "1800m", "2500m"]))
    made = replace(
        pod(name, cpu=cpu, memory=draw(st.sampled_from(["128Mi", "1Gi"]))),
        key=PodKey(draw(st.sampled_from([*[home] * 5, "other"])), name),
        labels={"app": name, "tier": draw(st.sampled_from(["front", "back"]))},
    )
    for twist in draw(st.lists(st.sampled_from(PICKY if picky else EASY), max_size=2)):
        made = NODE_TWISTS[twist](made)
    made = replace(made, preferences=WISHES[draw(st.sampled_from(["none"] * 5 + list(WISHES)))])
    if not ruled:
        return made
    for twist in draw(st.lists(st.sampled_from(list(SHARING_TWISTS)), max_size=1)):
        made = SHARING_TWISTS[twist](made)
    return draw(_with_rules(made, names))


@st.composite
def _with_rules(draw: st.DrawFn, of: Pod, names: list[str]) -> Pod:
    spreads = draw(st.lists(_spreads(of, names), max_size=2, unique_by=lambda each: (each.topology_key, each.hard)))
    kinds = draw(st.sampled_from([(), (), *_KINDS]))
    made = replace(of, spreads=tuple(spreads))
    own = PodSelector(Requirements.from_labels({"app": of.key.name}), frozenset({of.key.namespace}))
    for kind in kinds:
        term = PodAffinityTerm(
            draw(st.sampled_from(_KEYS)), draw(st.one_of(*[st.just(own)] * 2, _selectors(of, names)))
        )
        made = (
            replace(made, affinity=(*made.affinity, term))
            if kind == "affinity"
            else replace(made, anti_affinity=(*made.anti_affinity, term))
        )
    return made


@st.composite
def _spreads(draw: st.DrawFn, of: Pod, names: list[str]) -> TopologySpread:
    labels = draw(_pod_labels(of, names))
    return TopologySpread(
        topology_key=draw(st.sampled_from(_KEYS)),
        selector=PodSelector(labels, frozenset({of.key.namespace})),
        max_skew=draw(st.sampled_from([1, 1, 2, 3])),
        min_domains=draw(st.sampled_from([1, 1, 1, 1, 2, 2, 3])),
        hard=draw(st.sampled_from([True, True, True, False])),
        honors_affinity=draw(st.sampled_from([True, True, False])),
        honors_taints=draw(st.sampled_from([False, False, True])),
    )


@st.composite
def _selectors(draw: st.DrawFn, of: Pod, names: list[str]) -> PodSelector:
    own = frozenset({of.key.namespace})
    namespaces, by_label = draw(
        st.sampled_from(
            [
                *[(own, None)] * 6,
                (frozenset({"other"}), None),
                (frozenset(), Requirements()),
                (frozenset(), Requirements([Requirement.of("env", "In", ["prod"])])),
            ]
        )
    )
    return PodSelector(draw(_pod_labels(of, names)), namespaces, by_label)


def _pod_labels(of: Pod, names: list[str]) -> st.SearchStrategy[Requirements | None]:
    """Mostly the app itself; sometimes another, a whole tier, everybody or nobody."""
    own = Requirements.from_labels({"app": of.key.name})
    others = [Requirements.from_labels({"app": name}) for name in names]
    tiers = [Requirements.from_labels({"tier": tier}) for tier in ("front", "back")]
    not_me = Requirements([Requirement.of("app", "NotIn", [of.key.name])])
    return st.sampled_from([*[own] * 16, *others * 2, *tiers, not_me, Requirements(), None])


def _replica(app: Pod, number: int) -> Pod:
    name = f"{app.key.name}-{number}"
    own = {Attachment(EBS, f"{name}-{claim}") for claim in app.claim_names}
    return replace(
        app,
        key=PodKey(app.key.namespace, name),
        uid=f"uid-{name}",
        attachments=app.attachments | own,
        priority=app.priority + number % 2 if app.priority else 0,
    )
