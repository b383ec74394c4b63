"""The judge is judged on rules between pods: spread, affinity and anti-affinity, in any order of binding."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.snapshot import Room, Snapshot
from nodewright.domain.taints import Toleration
from nodewright.domain.topology import NAMESPACE_NAME, PodSelector
from tests.builders import daemon_pod, daemon_set, options, pod, pods, pool, requirements, snapshot, taint
from tests.oracle import check
from tests.oracles.plans import HOST, WEB, ZONE, launch, node, plan, spread, term

LABELS = {"app": "web"}
CAPACITY_TYPE = "karpenter.sh/capacity-type"


def faults(world: Snapshot, of: Plan) -> str:
    return "; ".join(check(world, of)) or "fine"


def in_zones(waiting: Sequence[Pod], zones: str, *rooms: Room) -> str:
    """Each of the pods on a new node of its own, in these zones."""
    world = snapshot(waiting, rooms=rooms)
    made = [launch(world, [each], zones=[zone]) for each, zone in zip(waiting, zones, strict=True)]
    return faults(world, plan(world, *made))


def in_rooms(placed: Mapping[str, Sequence[Pod]], *rooms: Room, **others: object) -> str:
    world = replace(snapshot([each for some in placed.values() for each in some], rooms=rooms), **others)  # type: ignore[arg-type]
    return faults(world, plan(world, rooms=placed))


def web(number: int = 0, **overrides: object) -> Pod:
    return pod(f"web-{number}", labels=LABELS, **overrides)  # type: ignore[arg-type]


class TestSpread:
    """cases.md 5, 6, 7."""

    def test_domains_may_differ_by_max_skew(self) -> None:
        four = pods(4, labels=LABELS, spreads=(spread(),))
        assert in_zones(four, "abca") == "fine"
        assert "maxSkew 1" in in_zones(four, "abaa")
        wide = pods(4, labels=LABELS, spreads=(spread(max_skew=3),))
        assert in_zones(wide, "abaa") == "fine"

    def test_a_soft_one_binds_nobody(self) -> None:
        assert in_zones(pods(3, labels=LABELS, spreads=(spread(hard=False),)), "aab") == "fine"

    def test_pods_that_are_there_count(self) -> None:
        rooms = [node("n-a", "a", web(1), web(2)), node("n-b", "b", web(3))]
        one = web(spreads=(spread(),))
        assert "n-a would be number 3" in in_rooms({"n-a": [one]}, *rooms)
        assert in_rooms({"n-b": [one]}, *rooms) == "fine"

    def test_so_do_those_on_nodes_that_take_no_pods(self) -> None:
        one = web(spreads=(spread(),))
        assert "would be number 1" not in in_rooms({"n-a": [one]}, node("n-a", "a"), bystanders=(node("b", "b"),))
        there = node("n-a", "a", web(1))
        assert "would be number 2" in in_rooms({"n-a": [one]}, there, bystanders=(node("b", "b"),))
        full = node("b", "b", web(2))
        assert in_rooms({"n-a": [one]}, there, bystanders=(full,)) == "fine"

    def test_other_namespaces_and_terminating_pods_do_not(self) -> None:
        one = web(spreads=(spread(),))
        foreign = replace(web(1), key=PodKey("other", "web"))
        leaving = web(2, terminating=True)
        assert in_rooms({"n-a": [one]}, node("n-a", "a", foreign, leaving), node("n-b", "b")) == "fine"

    def test_min_domains(self) -> None:
        rooms = [node("n-a", "a", web(1)), node("n-b", "b", web(2))]
        assert in_rooms({"n-a": [web(spreads=(spread(min_domains=2),))]}, *rooms) == "fine"
        assert "minDomains 3" in in_rooms({"n-a": [web(spreads=(spread(min_domains=3),))]}, *rooms)

    def test_a_node_without_the_key_is_no_domain_and_takes_nobody(self) -> None:
        bare = replace(node("bare"), labels={HOST: "bare"})
        one = web(spreads=(spread(),))
        assert "no label" in in_rooms({"bare": [one]}, bare)
        assert in_rooms({"n-a": [one]}, node("n-a", "a"), bare) == "fine"

    def test_nodes_without_all_keys_count_for_none(self) -> None:
        both = (spread(), spread("rack"))
        racked, unracked = node("n-a", "a", web(1), labels={"rack": "r"}), node("n-b", "b")
        assert in_rooms({"n-a": [web(spreads=both, uid="x")]}, racked, unracked) == "fine"
        assert "would be number 2" in in_rooms({"n-a": [web(spreads=both[:1])]}, racked, unracked)

    def test_node_affinity_policy(self) -> None:
        there = [node("n-a", "a", web(1)), node("n-b", "b", web(2)), node("n-c", "c")]
        in_ab = [requirements((ZONE, "In", "a", "b"))]
        honest = web(terms=in_ab, spreads=(spread(),))
        blind = web(terms=in_ab, spreads=(spread(honors_affinity=False),))
        assert in_rooms({"n-a": [honest]}, *there) == "fine"
        assert "'c': 0" in in_rooms({"n-a": [blind]}, *there)

    def test_node_taints_policy(self) -> None:
        old = node("n-c", "c", taints=(taint("old"),))
        there = [node("n-a", "a", web(1)), node("n-b", "b", web(2)), old]
        assert "'c': 0" in in_rooms({"n-a": [web(spreads=(spread(),))]}, *there)
        assert in_rooms({"n-a": [web(spreads=(spread(honors_taints=True),))]}, *there) == "fine"
        bearing = web(spreads=(spread(honors_taints=True),), tolerates=[Toleration("old", "Exists")])
        assert "'c': 0" in in_rooms({"n-a": [bearing]}, *there)

    def test_a_zone_without_nodes_is_no_domain(self) -> None:
        assert in_zones(pods(2, labels=LABELS, spreads=(spread(),)), "ab") == "fine"

    def test_merged_match_label_keys_count_one_revision(self) -> None:
        def revision(number: int, name: str, **more: object) -> Pod:
            return replace(web(number, **more), labels={**LABELS, "hash": name})

        new = PodSelector(requirements(("app", "In", "web"), ("hash", "In", "new")), frozenset({"default"}))
        a = node("n-a", "a", revision(1, "old"), revision(2, "old"))
        b = node("n-b", "b", revision(3, "old"), revision(4, "new"))
        c = node("n-c", "c", revision(5, "new"))
        one = revision(0, "new", spreads=(replace(spread(), selector=new),))
        assert in_rooms({"n-a": [one]}, a, b, c) == "fine"
        assert "would be number 2" in in_rooms({"n-c": [one]}, a, b, c)

    def test_an_empty_selector_counts_nobody(self) -> None:
        everyone = replace(spread(), selector=PodSelector(Requirements(), frozenset({"default"})))
        one = web(spreads=(everyone,))
        assert in_rooms({"n-a": [one]}, node("n-a", "a", web(1), web(2)), node("n-b", "b")) == "fine"

    def test_one_per_host(self) -> None:
        two = pods(2, labels=LABELS, spreads=(spread(HOST),))
        world = snapshot(two, rooms=[node("n")])
        assert "maxSkew 1" in faults(world, plan(world, launch(world, two)))
        assert faults(world, plan(world, launch(world, [two[0]], [two[1]]))) == "fine"

    def test_capacity_types_are_domains_like_others(self) -> None:
        two = pods(2, labels=LABELS, spreads=(spread(CAPACITY_TYPE),))
        world = snapshot(two, rooms=[node("n", labels={CAPACITY_TYPE: "spot"})])
        spot = launch(world, two, capacity_type="spot")
        assert faults(world, plan(world, spot)) == "fine", "there is no on-demand node"
        mixed = [launch(world, [two[0]], capacity_type="spot"), launch(world, [two[1]])]
        assert faults(world, plan(world, *mixed)) == "fine"

    def test_whichever_zone_comes_must_do(self) -> None:
        four = pods(4, labels=LABELS, spreads=(spread(),))
        world = snapshot(four)
        fixed = [launch(world, [four[0]], zones=["a"]), launch(world, [four[1]], zones=["b"])]
        loose = [launch(world, [each], zones=["a", "b"]) for each in four[2:]]
        assert faults(world, plan(world, *fixed, loose[0])) == "fine"
        assert "stays pending" in faults(world, plan(world, *fixed, *loose))

    def test_every_order_of_binding_must_do(self) -> None:
        """Who comes to a waits for webs in b, which wait for it: unless it comes before the webs in a."""
        peers = PodSelector(Requirements.from_labels({"app": "peer"}), frozenset({"default"}))
        peer = pod("peer", labels={"app": "peer"}, spreads=(spread(),))
        webs = [web(number, spreads=(replace(spread(), selector=peers),)) for number in range(4)]
        there = [pod(f"peer-{number}", labels={"app": "peer"}) for number in range(2)]
        rooms = [node("n-a", "a", cpu="8"), node("n-b", "b", *there, cpu="8")]
        assert in_rooms({"n-a": [peer, webs[0]], "n-b": webs[2:]}, *rooms) == "fine"
        assert "default/peer stays pending" in in_rooms({"n-a": [peer, *webs[:2]], "n-b": webs[2:]}, *rooms)

    def test_pods_of_daemon_sets_count(self) -> None:
        two = pods(2, labels=LABELS, spreads=(spread(),))
        everywhere = replace(daemon_set(), labels=LABELS, key=PodKey("default", "agent"))
        world = replace(snapshot(two), daemon_sets=(everywhere,))
        assert faults(world, plan(world, launch(world, [two[0]]), launch(world, [two[1]], zones=["b"]))) == "fine"
        bare = node("n-b", "b", cpu="0", taints=(taint("old"),))
        lonely = replace(snapshot(two[:1], rooms=[bare]), daemon_sets=(replace(everywhere, tolerations=()),))
        assert "number 2" in faults(lonely, plan(lonely, launch(lonely, two[:1])))

    def test_pods_of_daemon_sets_that_are_to_come_to_a_node_count_once(self) -> None:
        agent = replace(daemon_set(), labels=LABELS, key=PodKey("default", "agent"))
        there = daemon_pod("agent-x", "n-a", "agent", namespace="default", labels=LABELS)
        one = web(spreads=(spread(),))
        bare = node("n-b", "b", web(1))
        assert in_rooms({"n-a": [one]}, node("n-a", "a", there), bare, daemon_sets=(agent,)) == "fine"
        assert "number 2" in in_rooms({"n-a": [one]}, node("n-a", "a", there), node("n-c", "c"))
        assert in_rooms({"n-a": [one]}, node("n-a", "a", there), node("n-c", "c"), daemon_sets=(agent,)) == "fine"

    def test_but_not_those_that_a_pods_anti_affinity_keeps_off(self) -> None:
        agent = replace(daemon_set(), labels=LABELS, key=PodKey("default", "agent"))
        there = daemon_pod("agent-x", "n-b", "agent", namespace="default", labels=LABELS)
        full, free = node("n-b", "b", there, web(1)), node("n-a", "a")
        guarded = node("n-a", "a", pod("guard", anti_affinity=(term(),)))
        one = pod("one", spreads=(spread(),))
        assert in_rooms({"n-b": [one]}, full, free, daemon_sets=(agent,)) == "fine"
        assert "number 3" in in_rooms({"n-b": [one]}, full, guarded, daemon_sets=(agent,))


class TestAntiAffinity:
    def test_it_keeps_its_own_apart(self) -> None:
        two = pods(2, labels=LABELS, anti_affinity=(term(),))
        assert in_zones(two, "ab") == "fine"
        assert "anti-affinity" in in_zones(two, "aa")

    def test_it_keeps_off_who_is_there(self) -> None:
        one = pod(anti_affinity=(term(HOST),))
        assert "keeps it off n" in in_rooms({"n": [one]}, node("n", "a", web()))
        assert in_rooms({"m": [one]}, node("n", "a", web()), node("m")) == "fine"

    def test_who_is_there_keeps_others_off(self) -> None:
        guard = pod("guard", anti_affinity=(term(),))
        assert "keeps default/web-0 off m" in in_rooms({"m": [web()]}, node("n", "a", guard), node("m", "a"))
        assert in_rooms({"m": [web()]}, node("n", "a", guard), node("m", "b")) == "fine"

    def test_a_guard_on_a_node_that_takes_no_pods_does_too(self) -> None:
        guard = pod("guard", anti_affinity=(term(),))
        told = in_rooms({"m": [web()]}, node("m", "a"), bystanders=(node("n", "a", guard),))
        assert "keeps default/web-0 off m" in told

    def test_one_that_waits_keeps_others_off_when_it_comes_first(self) -> None:
        guard = pod("guard", anti_affinity=(term(HOST),))
        assert "stays pending" in in_rooms({"n": [guard, web()]}, node("n"))

    def test_a_node_without_the_key_is_in_nobodys_way(self) -> None:
        one = web(anti_affinity=(term("rack"),))
        assert in_rooms({"n": [one]}, node("n", "a", web(1))) == "fine"

    def test_a_launch_of_several_zones_may_come_to_one(self) -> None:
        two = pods(2, labels=LABELS, anti_affinity=(term(),))
        world = snapshot(two)
        loose = launch(world, [two[0]], [two[1]], zones=["a", "b"])
        assert "anti-affinity" in faults(world, plan(world, loose))

    def test_pods_of_daemon_sets_are_others(self) -> None:
        one = pod(anti_affinity=(term(HOST),))
        agent = replace(daemon_set(), labels=LABELS, key=PodKey("default", "agent"))
        world = replace(snapshot([one]), daemon_sets=(agent,))
        assert "keeps it off" in faults(world, plan(world, launch(world, [one])))

    def test_namespaces(self) -> None:
        foreign = replace(web(1), key=PodKey("lab", "web"))
        n = node("n", "a", foreign)

        def judged(selector: PodSelector) -> bool:
            one = pod(anti_affinity=(term(HOST, selector),))
            return in_rooms({"n": [one]}, n, namespaces={"lab": {"env": "test"}}) == "fine"

        labels = WEB.labels
        assert judged(WEB)
        assert not judged(PodSelector(labels, frozenset({"lab"})))
        assert not judged(PodSelector(labels, frozenset(), Requirements()))
        assert not judged(PodSelector(labels, frozenset(), requirements(("env", "In", "test"))))
        assert judged(PodSelector(labels, frozenset(), requirements(("env", "In", "prod"))))
        assert not judged(PodSelector(labels, frozenset(), requirements((NAMESPACE_NAME, "In", "lab"))))
        assert judged(PodSelector(None, frozenset({"lab"})))


class TestAffinity:
    def test_it_follows_who_is_there(self) -> None:
        one = pod(affinity=(term(),))
        rooms = [node("n", "a", web()), node("m", "a"), node("o", "b")]
        assert in_rooms({"m": [one]}, *rooms) == "fine"
        assert "nobody default/p wants to be with" in in_rooms({"o": [one]}, *rooms)

    def test_it_waits_for_who_comes(self) -> None:
        one = pod(affinity=(term(HOST),))
        assert in_rooms({"n": [one, web()]}, node("n")) == "fine"
        assert "stays pending" in in_rooms({"n": [one], "m": [web()]}, node("n"), node("m"))

    def test_the_first_of_a_group_may_start_it(self) -> None:
        two = pods(2, labels=LABELS, affinity=(term(),))
        assert in_zones(two, "aa") == "fine"
        assert "nobody" in in_zones(two, "ab")

    def test_but_not_away_from_those_that_are_there(self) -> None:
        one = web(affinity=(term(),))
        assert "nobody" in in_rooms({"m": [one]}, node("n", "a", web(1)), node("m", "b"))

    def test_who_matches_others_only_can_not_start(self) -> None:
        assert "nobody" in in_rooms({"n": [pod(affinity=(term(),))]}, node("n"))

    def test_two_that_wait_for_each_other_wait_for_ever(self) -> None:
        def of(name: str) -> PodSelector:
            return PodSelector(Requirements.from_labels({"app": name}), frozenset({"default"}))

        x = pod("x", labels={"app": "x"}, affinity=(term(HOST, of("y")),))
        y = pod("y", labels={"app": "y"}, affinity=(term(HOST, of("x")),))
        assert "default/x stays pending" in in_rooms({"n": [x, y]}, node("n"))

    def test_the_node_must_have_every_key(self) -> None:
        assert "has no label rack" in in_rooms({"n": [web(affinity=(term("rack"),))]}, node("n"))

    def test_only_pods_that_match_all_terms_count(self) -> None:
        back = PodSelector(Requirements.from_labels({"tier": "back"}), frozenset({"default"}))
        one = pod(affinity=(term(HOST), term(HOST, back)))
        half = [web(1), pod("half", labels={"tier": "back"})]
        assert "nobody" in in_rooms({"n": [one]}, node("n", "a", *half))
        assert in_rooms({"n": [one]}, node("n", "a", pod("all", labels={**LABELS, "tier": "back"}))) == "fine"

    def test_a_group_in_a_launch_of_several_zones_may_be_torn_apart(self) -> None:
        two = pods(2, labels=LABELS, affinity=(term(),))
        world = snapshot(two)
        assert "nobody" in faults(world, plan(world, launch(world, [two[0]], [two[1]], zones=["a", "b"])))
        assert faults(world, plan(world, launch(world, two, zones=["a", "b"]))) == "fine"

    def test_pods_of_daemon_sets_are_company(self) -> None:
        agent = replace(daemon_set(), labels=LABELS, key=PodKey("default", "agent"))
        one = pod(affinity=(term(HOST),))
        world = replace(snapshot([one]), daemon_sets=(agent,))
        assert faults(world, plan(world, launch(world, [one]))) == "fine"

    def test_over_a_label_that_the_pool_leaves_open(self) -> None:
        two = pods(2, labels=LABELS, affinity=(term("rack"),))
        open_rack = Requirement.of("rack", "In", ["r1", "r2"])
        world = snapshot(two, pools=[options(pool("default", open_rack))])
        assert "has no label rack" in faults(world, plan(world, launch(world, two)))
        assert faults(world, plan(world, launch(world, two, labels={"rack": "r1"}))) == "fine"
        apart = [launch(world, [each], labels={"rack": f"r{n}"}) for n, each in enumerate(two, start=1)]
        assert "nobody" in faults(world, plan(world, *apart))
