"""An explanation counts what fell to which rule, names the nearest miss, and says what would help."""

from dataclasses import replace

import pytest

from nodewright.domain.host_ports import HostPort
from nodewright.domain.plans import Nomination, Plan, Unschedulable
from nodewright.domain.pods import Attachment, DaemonSet, Pod, PodKey
from nodewright.domain.requirements import Requirement
from nodewright.domain.scheduling import solve
from nodewright.domain.scheduling.explaining import explain_node, explain_pod, explain_pool
from nodewright.domain.scheduling.explanations import (
    Fallen,
    NewNodeExplanation,
    NodeExplanation,
    OnNewNode,
    OnNode,
    PodExplanation,
    Rule,
    Verdict,
    Waits,
)
from nodewright.domain.scheduling.plan_views import PlanView
from nodewright.domain.snapshot import PoolOptions, Room, Snapshot
from nodewright.domain.taints import Taint
from nodewright.domain.topology import (
    PodAffinityTerm,
    PodSelector,
    Preferences,
    PreferredNodes,
    TopologySpread,
    Weighted,
)
from tests.builders import (
    daemon_set,
    instance_type,
    offering,
    options,
    pod,
    pool,
    requirements,
    resources,
    room,
    snapshot,
    taint,
)

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
ON_DEMAND = ("karpenter.sh/capacity-type", "In", "on-demand")


def told(
    waiting: Pod, *pools: PoolOptions, rooms: tuple[Room, ...] = (), daemons: tuple[DaemonSet, ...] = ()
) -> PodExplanation:
    seen = snapshot([waiting], pools=pools or None, rooms=rooms, daemon_sets=daemons)
    return explain_pod(PlanView(seen, solve(seen)), waiting.key)


def left_waiting(waiting: Pod, seen: Snapshot) -> PodExplanation:
    """Whatever the planner thinks of it."""
    plan = Plan(unschedulable=(Unschedulable(waiting.key, "Rule", "said so"),))
    return explain_pod(PlanView(seen, plan), waiting.key)


def fallen(verdict: Verdict) -> list[tuple[Rule, int]]:
    return [(each.rule, each.count) for each in verdict.fallen]


def selecting(key: str, value: str) -> PodSelector:
    return PodSelector(requirements((key, "In", value)), frozenset({"default"}))


def test_a_type_falls_to_the_first_rule_that_rules_out_all_its_offerings() -> None:
    limited = options(pool("default", ("karpenter.k8s.aws/instance-family", "In", "x")), remaining=resources(cpu=4))
    explained = told(pod(cpu="3", selector={ZONE: "a"}), limited)
    (only,) = explained.pools
    assert only.candidates == 4
    assert fallen(only) == [(Rule.REQUIREMENTS, 1), (Rule.SIZE, 1), (Rule.LIMITS, 1)]
    assert only.left == 1


def test_details_say_how_many_types_each_requirement_excludes_alone() -> None:
    wanted = pod(terms=[requirements(("karpenter.k8s.aws/instance-cpu", "Gt", "2"), (ZONE, "In", "c"))])
    (only,) = told(wanted).pools
    assert only.fallen == (
        Fallen(Rule.LABELS, 3, "karpenter.k8s.aws/instance-cpu Gte 3 (1), topology.kubernetes.io/zone In [c] (2)"),
    )


@pytest.mark.parametrize(
    ("waiting", "offered", "rule", "nearest", "advice"),
    [
        (
            pod(),
            options(pool("default", (ZONE, "In", "z"))),
            Rule.REQUIREMENTS,
            "g.m fails only topology.kubernetes.io/zone In [z] (the pool has a, b, c)",
            "loosen the requirements of NodePool/default",
        ),
        (
            pod(),
            options(pool(taints=(taint("team", "blue"),))),
            Rule.TAINTS,
            "every node of NodePool/default has team=blue:NoSchedule",
            "tolerate team=blue:NoSchedule in the pod's spec.tolerations, or take it off NodePool/default",
        ),
        (
            pod(selector={"disk": "fast", ZONE: "a"}),
            options(),
            Rule.LABELS,
            "g.m fails only disk In [fast] (no type of the pool has the label)",
            "change the pod's node selector or affinity, or let NodePool/default have such nodes",
        ),
        (
            pod(volume_nodes=(requirements((ZONE, "In", "z")),)),
            options(),
            Rule.VOLUMES,
            "g.m fails only topology.kubernetes.io/zone In [z] (the pool has a, b, c)",
            "let the pod and NodePool/default use the zone of its volumes",
        ),
        (
            pod(cpu="9"),
            options(),
            Rule.SIZE,
            "x.l lacks cpu 1090m after DaemonSets",
            "ask for at most cpu 7910m, or allow larger types in NodePool/default",
        ),
        (
            pod(attachments=frozenset(Attachment("ebs.csi.aws.com", f"v{number}") for number in range(3))),
            options(types=[replace(instance_type(), volumes=2)]),
            Rule.ATTACHMENTS,
            "at most 2 can be attached",
            "mount fewer volumes in one pod",
        ),
        (
            pod(),
            options(types=[instance_type(offerings=[offering(available=False)])]),
            Rule.CAPACITY,
            "x.s would do",
            "it is tried again by itself; more types, zones or capacity types in NodePool/default make it likelier",
        ),
        (
            pod(),
            options(remaining=resources(cpu=1)),
            Rule.LIMITS,
            "the smallest, x.s, takes cpu 2 where 1 is left",
            "raise the limits of NodePool/default, or wait until nodes of it are gone",
        ),
    ],
    ids=lambda value: value.value if isinstance(value, Rule) else "",
)
def test_where_nothing_is_left_the_nearest_miss_and_the_cure_are_told(
    waiting: Pod, offered: PoolOptions, rule: Rule, nearest: str, advice: str
) -> None:
    explained = told(waiting, offered)
    (only,) = explained.pools
    assert (only.fallen[-1].rule, only.left) == (rule, 0)
    assert only.nearest == nearest
    assert explained.advice == (f"pool default: {advice}",)


def test_min_values_are_counted() -> None:
    wide = pool("default", Requirement.of("karpenter.k8s.aws/instance-family", "Exists", (), 3))
    (only,) = told(pod(), options(wide)).pools
    assert fallen(only)[-1] == (Rule.MIN_VALUES, 4)
    assert only.nearest == "karpenter.k8s.aws/instance-family: 2 of 3 values hold it"


def test_a_daemon_sets_host_port_rules_out_the_types_it_runs_on() -> None:
    edge = replace(daemon_set("edge"), host_ports=(HostPort(8080),))
    (only,) = told(pod(host_ports=(HostPort(8080),)), daemons=(edge,)).pools
    assert fallen(only) == [(Rule.HOST_PORTS, 4)]
    assert only.nearest == "hostPort 8080/TCP is taken by DaemonSet kube-system/edge"


def test_of_several_pools_the_advice_for_the_one_that_came_closest_is_first() -> None:
    near = options(pool("near"), remaining=resources(cpu=1))
    far = options(pool("far", taints=(taint("team", "blue"),), weight=10))
    explained = told(pod(), near, far)
    assert [each.name for each in explained.pools] == ["far", "near"]
    assert [each.split(":")[0] for each in explained.advice] == ["pool near", "pool far"]


def test_a_pool_without_types_says_so() -> None:
    (only,) = told(pod(), options(types=[])).pools
    assert (only.candidates, only.nearest) == (0, "no instance types are known for its class default")


def test_a_pod_with_a_problem_of_its_own_is_not_sifted() -> None:
    explained = told(pod(problems=("spec.resourceClaims: no",)))
    assert explained.outcome == Waits("Unsupported", "spec.resourceClaims: no")
    assert (explained.pools, explained.advice) == ((), ())


def test_a_pod_on_a_new_node_is_told_why_there() -> None:
    heavy = options(pool("heavy", ON_DEMAND, weight=10, taints=(taint("team", "blue"),)))
    other = options(pool("other", ON_DEMAND, ("node.kubernetes.io/instance-type", "In", "x.m")))
    seen = snapshot(
        [pod("p"), pod("q")], pools=[heavy, options(pool("main", ON_DEMAND)), other], rooms=[room(cpu="100m")]
    )
    explained = explain_pod(PlanView(seen, solve(seen)), PodKey("default", "p"))
    assert isinstance(explained.outcome, OnNewNode)
    assert (explained.outcome.node, explained.outcome.launch.pool, explained.outcome.others) == ("new-1", "main", 1)
    assert explained.why == (
        "no room is left for it on 1 node that is there",
        "pool heavy has more weight, but no type of it would do: every node of NodePool/heavy has team=blue:NoSchedule",
        "together with 1 other pod it is planned on x.s at 1.00 USD/h; the launch lists that type alone, in a, b, c",
        "pool other would do, too: x.m, on-demand, 2.00 USD/h in a, b, c",
    )
    assert explained.advice == ()


def test_a_lighter_pool_that_would_do_is_told_with_the_weights() -> None:
    explained = told(pod(), options(pool("main", ON_DEMAND, weight=2)), options(pool("light", ON_DEMAND, weight=1)))
    assert explained.why[-1] == (
        "pool light would do, too, but has less weight (1 < 2): x.s, on-demand, 1.00 USD/h in a, b, c"
    )


def test_a_pod_on_a_node_that_is_there_is_told_what_else_would_do() -> None:
    explained = told(pod(), rooms=(room("one"), room("two"), room("full", cpu="1m")))
    assert explained.outcome == OnNode("one", 0)
    assert explained.why == ("room that is there comes before new nodes", "2 of 3 nodes would do: one, two")
    assert explained.nodes.fallen == (Fallen(Rule.SIZE, 1, "full: cpu 499m short"),)


def test_a_pod_that_keeps_its_nomination_is_told() -> None:
    explained = told(pod(), rooms=(room("one"), room("two", nominated=(PodKey("default", "p"),))))
    assert explained.why[0] == "it was planned for this node before, and still fits"


def test_of_many_nodes_a_few_are_named() -> None:
    explained = told(pod(cpu="3"), rooms=tuple(room(f"n{number}", cpu="1") for number in range(5)))
    assert explained.nodes.fallen[0].detail == "n0: cpu 2 short; n1: cpu 2 short; n2: cpu 2 short; and 2 more"


@pytest.mark.parametrize(
    ("waiting", "there", "rule", "detail"),
    [
        (pod(), room(taints=(taint("a", "1"),)), Rule.TAINTS, "n: a=1:NoSchedule"),
        (pod(selector={"disk": "fast"}), room(), Rule.LABELS, "n: disk In [fast]"),
        (pod(volume_nodes=(requirements((ZONE, "In", "b")),)), room(), Rule.VOLUMES, "n: its volumes are elsewhere"),
        (
            pod(attachments=frozenset({Attachment("d", "v")})),
            room(attachable={"d": 1}, pods=(pod("r", attachments=frozenset({Attachment("d", "w")})),)),
            Rule.ATTACHMENTS,
            "n: 2 volumes of at most 1",
        ),
        (
            pod(host_ports=(HostPort(80),)),
            room(host_ports=(HostPort(80),)),
            Rule.HOST_PORTS,
            "n: hostPort 80/TCP is taken",
        ),
    ],
    ids=lambda value: value.value if isinstance(value, Rule) else "",
)
def test_nodes_fall_to_rules_too(waiting: Pod, there: Room, rule: Rule, detail: str) -> None:
    explained = left_waiting(waiting, snapshot([waiting], rooms=[there]))
    assert explained.nodes.fallen == (Fallen(rule, 1, detail),)


def test_a_volume_that_is_attached_there_already_is_no_further_one() -> None:
    shared = frozenset({Attachment("d", "v")})
    waiting = pod(attachments=shared)
    there = room(attachable={"d": 1}, pods=(pod("r", attachments=shared),))
    assert left_waiting(waiting, snapshot([waiting], rooms=[there])).nodes.left == 1


def zoned(name: str, zone: str, *there: Pod, taints: tuple[Taint, ...] = ()) -> Room:
    return room(name, cpu="1m", labels={ZONE: zone, HOST: name}, pods=there, taints=taints)


W = {"app": "w"}


def spread_pod(**overrides: object) -> Pod:
    spread = TopologySpread(ZONE, selecting("app", "w"), **overrides)  # type: ignore[arg-type]
    return pod(labels=W, spreads=(spread,))


def test_spread_leaves_the_zones_that_have_least() -> None:
    waiting = spread_pod()
    rooms = [zoned("n-a", "a", pod("r1", labels=W)), zoned("n-b", "b", pod("r2", labels=W)), zoned("n-c", "c")]
    explained = left_waiting(waiting, snapshot([waiting], rooms=rooms))
    (only,) = explained.pools
    assert fallen(only) == [(Rule.COMPANY, 2)]
    assert only.fallen[0].detail == (
        "spread over topology.kubernetes.io/zone (maxSkew 1, the least is 0): a has 1, b has 1"
    )
    assert only.best == "x.s, spot, 0.40 USD/h in c"


def test_spread_counts_what_the_plan_places() -> None:
    waiting, placed = spread_pod(), pod("q", labels=W)
    seen = snapshot(
        [waiting, placed], rooms=[zoned("n-a", "a")], pools=[options(pool("default", (ZONE, "In", "a", "b")))]
    )
    plan = Plan(nominations=(Nomination("n-a", (placed.key,)),), unschedulable=(Unschedulable(waiting.key, "R", "m"),))
    (only,) = explain_pod(PlanView(seen, plan), waiting.key).pools
    assert only.best == "x.s, spot, 0.40 USD/h in b"


def test_spread_with_too_few_domains_says_how_many_can_be_reached() -> None:
    waiting = spread_pod(min_domains=3)
    rooms = [zoned("n-a", "a", pod("r1", labels=W)), zoned("n-b", "b", pod("r2", labels=W))]
    seen = snapshot([waiting], rooms=rooms, pools=[options(pool("default", (ZONE, "In", "a", "b")))])
    (only,) = left_waiting(waiting, seen).pools
    assert only.nearest == "spread over topology.kubernetes.io/zone needs 3 domains, 2 reachable: a has 1"


def test_spread_over_a_label_nobody_has_says_so() -> None:
    waiting = pod(labels=W, spreads=(TopologySpread("rack", selecting("app", "w")),))
    (only,) = left_waiting(waiting, snapshot([waiting])).pools
    assert only.nearest == "spread over rack: the label is missing"


@pytest.mark.parametrize(
    ("honors", "left"), [({}, True), ({"honors_affinity": False}, False)], ids=["honoring affinity", "ignoring it"]
)
def test_spread_counts_zones_the_pod_may_not_use_only_if_told_to(honors: dict[str, bool], left: bool) -> None:
    spread = TopologySpread(ZONE, selecting("app", "w"), **honors)
    waiting = pod(labels=W, spreads=(spread,), terms=[requirements((ZONE, "In", "a"))])
    seen = snapshot([waiting], rooms=[zoned("n-a", "a", pod("r", labels=W)), zoned("n-b", "b")])
    (only,) = left_waiting(waiting, seen).pools
    assert bool(only.left) is left


def test_tainted_nodes_are_no_domain_where_taints_are_honored() -> None:
    rooms = [zoned("n-a", "a", pod("r", labels=W)), zoned("n-z", "z", taints=(taint("a", "1"),))]
    of_a = [options(pool("default", (ZONE, "In", "a")))]
    honoring, ignoring = spread_pod(honors_taints=True), spread_pod()
    assert left_waiting(honoring, snapshot([honoring], rooms=rooms, pools=of_a)).pools[0].left
    assert not left_waiting(ignoring, snapshot([ignoring], rooms=rooms, pools=of_a)).pools[0].left


def term(key: str = ZONE, app: str = "w") -> PodAffinityTerm:
    return PodAffinityTerm(key, selecting("app", app))


def test_affinity_leaves_the_zone_of_the_pods_it_is_to() -> None:
    waiting = pod(affinity=(term(),))
    (only,) = left_waiting(waiting, snapshot([waiting], rooms=[zoned("n-c", "c", pod("r", labels=W))])).pools
    assert only.best == "x.s, spot, 0.40 USD/h in c"
    assert only.fallen[0].detail == f"affinity over {ZONE} to pods with app In [w]: none in a, none in b"


def test_affinity_to_one_host_leaves_no_new_node() -> None:
    waiting = pod(affinity=(term(HOST),))
    (only,) = left_waiting(waiting, snapshot([waiting], rooms=[zoned("n-c", "c", pod("r", labels=W))])).pools
    assert only.nearest == f"affinity over {HOST} to pods with app In [w]: none on a new node"


def test_a_pod_that_matches_its_own_affinity_may_start_anywhere() -> None:
    waiting = pod(labels=W, affinity=(term(),))
    assert left_waiting(waiting, snapshot([waiting])).pools[0].left == 3


def test_anti_affinity_of_either_side_rules_out_a_zone() -> None:
    mine = pod(anti_affinity=(term(),))
    (only,) = left_waiting(mine, snapshot([mine], rooms=[zoned("n-a", "a", pod("r", labels=W))])).pools
    assert only.fallen[0].detail == f"anti-affinity over {ZONE} to pods with app In [w]: default/r in a"

    theirs = pod(labels=W)
    owner = pod("r", anti_affinity=(term(),))
    (only,) = left_waiting(theirs, snapshot([theirs], rooms=[zoned("n-a", "a", owner)])).pools
    assert only.fallen[0].detail == f"anti-affinity over {ZONE} of others: default/r in a"


def arm_options(**settings: str) -> PoolOptions:
    types = [instance_type("amd.s"), instance_type("arm.s", arch="arm64", on_demand=0.5, spot=0.2)]
    return options(pool(settings=settings), types)


def test_a_pod_silent_about_architectures_is_told_that_amd64_is_preferred() -> None:
    (warning,) = told(pod(), arm_options()).warnings
    assert warning == (
        "it says nothing about architectures, so amd64 (from 0.40 USD/h) is preferred to arm64 (from 0.20) in"
        " NodePool/default; if its images are built for both, select kubernetes.io/arch In [amd64, arm64], or set the"
        " pool's annotation nodewright.dev/assume-arch: any"
    )


def test_what_is_kept_for_others_is_told_apart_from_what_would_not_do() -> None:
    (only,) = told(pod(), arm_options()).pools
    assert only.fallen == (Fallen(Rule.SPARED, 1, "1 of another architecture than amd64: for pods that ask for such"),)
    assert (only.left, only.best) == (1, "amd.s, spot, 0.40 USD/h in a, b, c")


def test_a_pod_that_may_come_to_arm64_unasked_is_told() -> None:
    (warning,) = told(pod(), arm_options(**{"nodewright.dev/assume-arch": "any"})).warnings
    assert "may come to arm64 in NodePool/default" in warning
    arm = room("graviton", labels={"kubernetes.io/arch": "arm64"})
    (warning,) = told(pod(), rooms=(arm,)).warnings
    assert "goes to graviton, which is arm64" in warning


def test_a_pod_that_selects_its_architecture_is_told_nothing() -> None:
    assert told(pod(selector={"kubernetes.io/arch": "arm64"}), arm_options()).warnings == ()
    assert told(pod()).warnings == ()


def test_what_a_pod_asks_for_is_said_in_words() -> None:
    waiting = pod(
        selector={ZONE: "a"},
        tolerates=(),
        labels=W,
        spreads=(TopologySpread(HOST, selecting("app", "w"), min_domains=2),),
        affinity=(term(app="db"),),
        anti_affinity=(term(HOST),),
        host_ports=(HostPort(80),),
        attachments=frozenset({Attachment("d", "v")}),
        volume_nodes=(requirements((ZONE, "In", "a")),),
    )
    assert left_waiting(waiting, snapshot([waiting])).constraints == (
        "only nodes with topology.kubernetes.io/zone In [a]",
        "its volumes are where topology.kubernetes.io/zone In [a]",
        "spread over kubernetes.io/hostname, maxSkew 1, over 2 at least, of pods with app In [w]",
        "with pods with app In [db] in one topology.kubernetes.io/zone",
        "not with pods with app In [w] in one kubernetes.io/hostname",
        "host ports 80/TCP",
        "1 volume to attach",
    )


def test_a_node_says_what_it_gets_and_why_nothing_else() -> None:
    seen = snapshot([pod("small"), pod("big", cpu="3"), pod("tied", selector={"disk": "fast"})], rooms=[room()])
    explained = explain_node(PlanView(seen, solve(seen)), "n")
    assert isinstance(explained, NodeExplanation)
    assert explained.nominated == (PodKey("default", "small"),)
    assert explained.fallen == (
        Fallen(Rule.LABELS, 1, "disk In [fast]: default/tied"),
        Fallen(Rule.SIZE, 1, "cpu 1500m short: default/big"),
    )
    assert (explained.takes_pods, explained.would_do) == (True, 0)


def test_a_node_says_how_many_pods_elsewhere_it_would_hold() -> None:
    seen = snapshot([pod()], rooms=[room("one"), room("two")])
    explained = explain_node(PlanView(seen, solve(seen)), "two")
    assert isinstance(explained, NodeExplanation)
    assert explained.would_do == 1


def test_a_node_that_takes_no_pods_is_told_apart() -> None:
    seen = replace(snapshot([pod()]), bystanders=(room("cordoned"),))
    explained = explain_node(PlanView(seen, solve(seen)), "cordoned")
    assert isinstance(explained, NodeExplanation)
    assert (explained.takes_pods, explained.fallen) == (False, ())


def test_a_new_node_says_what_it_holds_and_what_daemon_sets_take() -> None:
    seen = snapshot([pod()], daemon_sets=[daemon_set(cpu="300m")])
    explained = explain_node(PlanView(seen, solve(seen)), "new-1")
    assert isinstance(explained, NewNodeExplanation)
    assert explained.pods == (PodKey("default", "p"),)
    assert (explained.daemons.get("cpu"), explained.allocatable.get("cpu")) == (300, 1930)


def test_a_pool_says_what_it_sells_and_who_finds_nothing_there() -> None:
    sold = options(
        pool("default", ON_DEMAND, ("karpenter.k8s.aws/instance-family", "In", "x"), weight=5),
        remaining=resources(cpu=4),
    )
    waiting = [pod("p"), pod("big", cpu="20"), pod("tied", selector={"disk": "fast"})]
    seen = snapshot(waiting, pools=[sold], daemon_sets=[daemon_set()])
    explained = explain_pool(PlanView(seen, solve(seen)), "default")
    assert (explained.weight, explained.limits) == (5, ("cpu 4 left",))
    assert fallen(explained.shelf) == [(Rule.REQUIREMENTS, 1), (Rule.LIMITS, 1)]
    assert explained.shelf.best == "x.s, on-demand, 1.00 USD/h in a, b, c"
    assert explained.daemons == ("kube-system/agent: cpu 300m, memory 256Mi",)
    assert [name for name, _ in explained.bought] == ["new-1"]
    assert [(each.rule, each.count) for each in explained.waiting] == [(Rule.LABELS, 1), (Rule.SIZE, 1)]


def test_a_pool_being_deleted_says_so() -> None:
    seen = snapshot([pod()], pools=[options(pool(terminating=True))])
    explained = explain_pool(PlanView(seen, solve(seen)), "default")
    assert explained.warnings == ("NodePool/default is being deleted: nothing is bought for it",)


def test_limits_of_a_pod_that_waits_are_what_the_plan_leaves() -> None:
    sold = options(pool("default", ON_DEMAND), [instance_type()], remaining=resources(cpu=2))
    seen = snapshot([pod("a", cpu="1900m"), pod("b", cpu="1900m")], pools=[sold])
    plan = solve(seen)
    (left,) = plan.unschedulable
    (only,) = explain_pod(PlanView(seen, plan), left.pod).pools
    assert only.nearest == "the smallest, x.s, takes cpu 2 where 0 is left"


@pytest.mark.parametrize("ask", [explain_node, explain_pool])
def test_what_is_not_there_is_a_key_error(ask: object) -> None:
    seen = snapshot([pod()])
    with pytest.raises(KeyError):
        ask(PlanView(seen, solve(seen)), "nobody")  # type: ignore[operator]


def test_preferences_that_do_not_hold_where_it_goes_are_told() -> None:
    wishes = Preferences(
        nodes=(
            PreferredNodes(10, requirements((ZONE, "In", "a"))),
            PreferredNodes(20, requirements((ZONE, "In", "b"))),
        ),
        affinity=(Weighted(30, term(app="db")), Weighted(40, term(app="web"))),
        anti_affinity=(Weighted(50, term(HOST, app="web")), Weighted(60, term(HOST, app="db"))),
    )
    spread = TopologySpread(ZONE, selecting("app", "web"), hard=False)
    waiting = pod(labels={"app": "web"}, preferences=wishes, spreads=(spread,))
    there = room("n", labels={ZONE: "a", HOST: "n"}, pods=(pod("r", labels={"app": "web"}),))
    seen = snapshot([waiting], rooms=[there], pools=[options(pool("default", (ZONE, "In", "a", "b")))])
    plan = Plan(nominations=(Nomination("n", (waiting.key,)),))
    assert explain_pod(PlanView(seen, plan), waiting.key).unmet == (
        "nodes with topology.kubernetes.io/zone In [b] (weight 20)",
        "one topology.kubernetes.io/zone with pods with app In [db] (weight 30)",
        "another kubernetes.io/hostname than pods with app In [web]: default/r in n (weight 50)",
        "an even spread over topology.kubernetes.io/zone (maxSkew 1, the least is 0): a has 1",
    )


@pytest.mark.parametrize(
    ("waiting", "advice"),
    [
        (spread_pod(min_domains=9), "lower minDomains, or let a pool be bought in more domains"),
        (
            pod(affinity=(term(app="ghost"),)),
            "create a pod it wants to be with, correct the term, or prefer instead of require it",
        ),
        (
            pod(labels=W, spreads=(TopologySpread("rack", selecting("app", "w")),)),
            "use a label that nodes have instead of rack, or let the pool's nodes carry it",
        ),
    ],
)
def test_the_cure_fits_the_rule_between_pods(waiting: Pod, advice: str) -> None:
    rooms = [zoned(f"n-{zone}", zone, pod(f"r-{zone}", labels=W)) for zone in "abc"]
    assert left_waiting(waiting, snapshot([waiting], rooms=rooms)).advice == (f"pool default: {advice}",)


def test_daemon_sets_keep_company_on_a_new_node() -> None:
    agent = replace(daemon_set("agent"), labels={"app": "agent"}, key=PodKey("default", "agent"))
    near, far = pod(affinity=(term(HOST, "agent"),)), pod(anti_affinity=(term(HOST, "agent"),))
    assert left_waiting(near, snapshot([near], daemon_sets=[agent])).pools[0].left
    (only,) = left_waiting(far, snapshot([far], daemon_sets=[agent])).pools
    assert only.nearest == (
        "anti-affinity over kubernetes.io/hostname to pods with app In [agent]:"
        " DaemonSet default/agent on every such node"
    )


def test_the_first_node_of_each_launch_is_named() -> None:
    names = ("one", "two")
    sold = [options(pool(name, ON_DEMAND), [instance_type()]) for name in names]
    selecting_pools = [(f"{name}-{number}", {"karpenter.sh/nodepool": name}) for name in names for number in (0, 1)]
    seen = snapshot([pod(name, cpu="1900m", selector=selector) for name, selector in selecting_pools], pools=sold)
    view = PlanView(seen, solve(seen))
    assert [explain_pool(view, name).bought[0][0] for name in names] == ["new-1", "new-3"]


def test_what_would_be_next_is_told_and_a_cure_that_is_not_enough_is_not_advised() -> None:
    windows = pod(selector={"kubernetes.io/os": "windows"})
    explained = told(windows, options(pool("plain")), options(pool("tainted", taints=(taint("team", "blue"),))))
    plain, tainted = explained.pools
    assert plain.then == ""
    assert tainted.then == "g.m fails only kubernetes.io/os In [windows] (the pool has linux)"
    assert [each.partition(":")[0] for each in explained.advice] == ["pool plain"]


def test_where_no_cure_is_enough_all_are_told() -> None:
    windows = pod(cpu="99", selector={"kubernetes.io/os": "windows"})
    (only,) = told(windows).pools
    assert (only.fallen[-1].rule, only.then) == (Rule.LABELS, "x.l lacks cpu 91090m after DaemonSets")
    assert told(windows).advice != ()


def test_a_pool_without_types_explains_that() -> None:
    seen = snapshot([pod()], pools=[options(types=[])])
    explained = explain_pool(PlanView(seen, solve(seen)), "default")
    assert explained.shelf.nearest == "no instance types are known for its class default"


def test_preferences_say_why_the_plan_does_not_keep_them() -> None:
    dear = instance_type(spot=None, offerings=[offering("a", price=1.0), offering("c", price=1.5)])
    wishes = Preferences(
        nodes=(
            PreferredNodes(10, requirements((ZONE, "In", "c"))),
            PreferredNodes(20, requirements((ZONE, "In", "z"))),
        ),
        anti_affinity=(Weighted(50, term(HOST, app="web")),),
    )
    waiting = [pod(f"w-{n}", labels={"app": "web"}, preferences=wishes) for n in range(2)]
    seen = snapshot(waiting, pools=[options(types=[dear])])
    assert explain_pod(PlanView(seen, solve(seen)), waiting[0].key).unmet == (
        (
            "nodes with topology.kubernetes.io/zone In [c] (weight 10);"
            " keeping it, the plan would cost 1.50 instead of 1.00 USD/h, and it may cost 10 % more"
        ),
        "nodes with topology.kubernetes.io/zone In [z] (weight 20); no node that is there or could be bought would do",
        (
            "another kubernetes.io/hostname than pods with app In [web]: default/w-1 in new-1 (weight 50);"
            " it would take more nodes, or pods of equal size to change places with"
        ),
    )
