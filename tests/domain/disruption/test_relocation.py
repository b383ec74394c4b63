from nodewright.domain.disruption.method import Relocation
from nodewright.domain.disruption.relocation import relocation
from nodewright.domain.plans import Launch, LaunchOffering, Nomination, Plan, Unschedulable
from nodewright.domain.pods import PodKey
from tests.builders import USD, resources

MINE, YOURS, HIS = (PodKey("default", name) for name in ("mine", "yours", "his"))


def launch(*nodes: tuple[PodKey, ...]) -> Launch:
    return Launch("default", "spot", (LaunchOffering("x.s", "a", USD),), USD, resources(cpu=1), nodes)


def test_nodes_that_take_one_of_its_pods_are_bought_and_those_for_others_alone_are_not() -> None:
    plan = Plan(launches=(launch((MINE, HIS), (YOURS,)), launch((YOURS, HIS))))
    assert relocation(plan, [MINE], {}).launches == (launch((MINE, HIS)),)


def test_nodes_on_their_way_that_take_some_are_awaited_and_those_that_are_there_are_not() -> None:
    plan = Plan(nominations=(Nomination("coming", (MINE,)), Nomination("there", (MINE,)), Nomination("later", (HIS,))))
    assert relocation(plan, [MINE], {"coming": "c-1", "later": "c-2"}).awaited == ("c-1",)


def test_only_its_own_pods_are_missed() -> None:
    lost, other = Unschedulable(MINE, "NoPool", "…"), Unschedulable(YOURS, "NoPool", "…")
    assert relocation(Plan(unschedulable=(lost, other)), [MINE], {}) == Relocation(homeless=(lost,))
