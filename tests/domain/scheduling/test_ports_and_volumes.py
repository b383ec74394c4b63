"""What pods take of a node besides resources: the reference cases 10, 11 and 12."""

from dataclasses import replace

from nodewright.domain.host_ports import HostPort
from nodewright.domain.nodes import ZONE_LABEL
from nodewright.domain.plans import Plan
from nodewright.domain.pods import Attachment, Pod
from nodewright.domain.scheduling import solve
from nodewright.domain.snapshot import PoolOptions
from tests import builders
from tests.builders import options, pod, requirements, room, snapshot

EBS = "ebs.csi.aws.com"
WEB = (HostPort(8080),)


def with_volumes(count: int, volume: str = "v") -> tuple[Pod, ...]:
    """Small pods with a volume each."""
    return tuple(
        pod(f"p{n:02}", cpu="50m", memory="10Mi", attachments=frozenset({Attachment(EBS, f"{volume}{n}")}))
        for n in range(count)
    )


def attaching(most: int) -> PoolOptions:
    return options(types=[replace(kind, volumes=most) for kind in builders.catalogue()])


def sizes(plan: Plan) -> list[int]:
    return sorted(len(node) for launch in plan.launches for node in launch.nodes)


class TestVolumes:
    def test_a_bound_volume_fixes_the_zone_also_where_it_is_dearer(self) -> None:
        plan = solve(snapshot([pod(volume_nodes=(requirements((ZONE_LABEL, "In", "b")),))]))

        assert [launch.zones for launch in plan.launches] == [("b",)]

    def test_one_of_several_places_is_enough(self) -> None:
        either = (requirements((ZONE_LABEL, "In", "z")), requirements((ZONE_LABEL, "In", "c")))

        plan = solve(snapshot([pod(volume_nodes=either)]))

        assert [launch.zones for launch in plan.launches] == [("c",)]

    def test_a_zone_that_no_pool_offers_is_a_reason(self) -> None:
        stuck = pod(
            volume_nodes=(requirements((ZONE_LABEL, "In", "z")),), attachments=frozenset({Attachment(EBS, "v")})
        )

        plan = solve(snapshot([stuck]))

        assert plan.unschedulable[0].reason == "VolumeZone"
        assert "topology.kubernetes.io/zone In [z]" in plan.unschedulable[0].message

    def test_thirty_pods_with_a_volume_each_need_two_nodes_of_twenty_five(self) -> None:
        assert sizes(solve(snapshot(with_volumes(30), pools=[attaching(25)]))) == [5, 25]

    def test_a_volume_that_pods_share_counts_once(self) -> None:
        shared = tuple(replace(each, attachments=frozenset({Attachment(EBS, "one")})) for each in with_volumes(10))

        assert sizes(solve(snapshot(shared, pools=[attaching(1)]))) == [10]

    def test_a_node_that_is_there_attaches_what_it_says_less_what_it_has(self) -> None:
        there = pod("there", attachments=frozenset({Attachment(EBS, "v0"), Attachment(EBS, "x")}))
        node = room("n", pods=(there,), attachable={EBS: 3})

        plan = solve(snapshot(with_volumes(3), rooms=[node], pools=()))

        assert [len(each.pods) for each in plan.nominations] == [2]

    def test_more_volumes_than_any_type_attaches_are_a_reason(self) -> None:
        many = pod(attachments=frozenset(Attachment(EBS, f"v{n}") for n in range(5)))

        plan = solve(snapshot([many], pools=[attaching(4)]))

        assert plan.unschedulable[0].reason == "AttachLimit"


class TestHostPorts:
    def test_a_daemon_sets_port_is_taken_on_every_node_of_the_pool(self) -> None:
        agent = replace(builders.daemon_set(), host_ports=WEB)

        plan = solve(snapshot([pod(host_ports=WEB)], daemon_sets=[agent]))

        assert plan.launches == ()
        assert plan.unschedulable[0].message.startswith("hostPort 8080/TCP taken by DaemonSet kube-system/agent")

    def test_another_protocol_fits(self) -> None:
        agent = replace(builders.daemon_set(), host_ports=WEB)

        plan = solve(snapshot([pod(host_ports=(HostPort(8080, "UDP"),))], daemon_sets=[agent]))

        assert sizes(plan) == [1]

    def test_a_daemon_set_that_stays_off_some_types_leaves_them(self) -> None:
        terms = [requirements(("node.kubernetes.io/instance-type", "In", "x.s"))]
        agent = replace(builders.daemon_set(terms=terms), host_ports=WEB)

        plan = solve(snapshot([pod(host_ports=WEB)], daemon_sets=[agent]))

        assert "x.s" not in plan.launches[0].instance_types

    def test_two_pods_with_one_port_need_two_nodes(self) -> None:
        assert sizes(solve(snapshot([pod("a", host_ports=WEB), pod("b", host_ports=WEB)]))) == [1, 1]

    def test_addresses_of_their_own_share_a_node_but_not_with_all_addresses(self) -> None:
        mine, theirs = (HostPort(80, "TCP", "10.0.0.1"),), (HostPort(80, "TCP", "10.0.0.2"),)

        plan = solve(
            snapshot([pod("a", host_ports=mine), pod("b", host_ports=theirs), pod("c", host_ports=(HostPort(80),))])
        )

        assert sizes(plan) == [1, 2]

    def test_a_port_taken_on_a_node_that_is_there_sends_the_pod_elsewhere(self) -> None:
        taken, free = room("n", host_ports=WEB), room("o")

        plan = solve(snapshot([pod(host_ports=WEB)], rooms=[taken, free]))

        assert [each.node for each in plan.nominations] == ["o"]
