from datetime import timedelta

from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.retirement import DISRUPTED, EXCLUDED
from nodewright.domain.retiring import begin
from nodewright.domain.stale_taints import AT_WORK, Stale, mark_labels, may_be_at_work, stale_marks
from tests.builders import NOW, claim, node, taint

MARKED = node("n", taints=(taint("team", "a"), DISRUPTED))


def member(**changes: object) -> NodeClaim:
    return claim("c", **{"state": ClaimState.INITIALIZED, "node_name": "n", **changes})


def test_a_mark_without_a_retirement_is_stale() -> None:
    assert stale_marks([MARKED, node("m")], [member()]) == (Stale(MARKED, member()),)


def test_a_mark_of_a_node_that_leaves_is_not() -> None:
    assert stale_marks([MARKED], [begin(member(), "empty", NOW) or member()]) == ()


def test_a_node_without_a_claim_is_not_ours_to_untaint() -> None:
    assert stale_marks([MARKED], [member(node_name="m"), member(node_name="")]) == ()


def test_another_taint_of_ours_is_no_mark() -> None:
    assert stale_marks([node("n", taints=(taint(DISRUPTED.key, "custom"),))], [member()]) == ()


def test_a_label_that_the_pool_itself_gives_is_left_alone() -> None:
    assert mark_labels(member()) == {EXCLUDED: "true"}
    assert mark_labels(member(labels={EXCLUDED: "true"})) == {}


def test_a_run_may_be_at_work_until_its_time_is_certainly_over() -> None:
    assert not may_be_at_work(None, NOW)
    assert may_be_at_work(NOW - AT_WORK + timedelta(seconds=1), NOW)
    assert not may_be_at_work(NOW - AT_WORK, NOW)
