import pytest

from nodewright.domain.taints import Effect, Taint, Toleration, is_ephemeral, tolerates, untolerated

T1 = Taint("a", "1", "NoSchedule")
T2 = Taint("a", "1", "NoExecute")
T3 = Taint("b", effect="PreferNoSchedule")


@pytest.mark.parametrize(
    ("toleration", "borne"),
    [
        (Toleration(operator="Exists"), [True, True, True]),
        (Toleration(operator="Exists", effect="NoExecute"), [False, True, False]),
        (Toleration("a", "Exists"), [True, True, False]),
        (Toleration("a", value="1"), [True, True, False]),
        (Toleration("a", value="1", effect="NoSchedule"), [True, False, False]),
        (Toleration("a"), [False, False, False]),
        (Toleration("b"), [False, False, True]),
        (Toleration("", value="1"), [False, False, False]),
    ],
)
def test_tolerations_follow_the_table(toleration: Toleration, borne: list[bool]) -> None:
    assert [tolerates([toleration], taint) for taint in (T1, T2, T3)] == borne


@pytest.mark.parametrize(
    ("toleration", "problem"),
    [
        (Toleration("", "Equal", "1"), "empty key"),
        (Toleration("a", "Exists", "1"), "takes no value"),
        (Toleration("a", "Gt", "1"), "operator 'Gt'"),  # type: ignore[arg-type]
        (Toleration("a", "Exists", effect="NoWay"), "effect 'NoWay'"),  # type: ignore[arg-type]
    ],
)
def test_an_invalid_toleration_says_what_is_wrong_and_bears_nothing(toleration: Toleration, problem: str) -> None:
    assert problem in (toleration.problem() or "")
    assert not toleration.matches(Taint("a", "1"))


@pytest.mark.parametrize("toleration", [Toleration(operator="Exists"), Toleration("a"), Toleration("a", value="1")])
def test_a_valid_toleration_has_no_problem(toleration: Toleration) -> None:
    assert toleration.problem() is None


def test_a_preference_never_blocks_but_can_be_listed() -> None:
    assert untolerated([], [T1, T2, T3]) == (T1, T2)
    assert untolerated([], [T1, T2, T3], soft=True) == (T1, T2, T3)
    assert untolerated([Toleration("a", "Exists", effect="NoSchedule")], [T1, T2, T3]) == (T2,)


@pytest.mark.parametrize(
    ("key", "effect", "goes"),
    [
        ("node.kubernetes.io/not-ready", "NoSchedule", True),
        ("node.kubernetes.io/not-ready", "NoExecute", True),
        ("node.kubernetes.io/not-ready", "PreferNoSchedule", False),
        ("node.kubernetes.io/unreachable", "NoSchedule", True),
        ("node.kubernetes.io/unreachable", "NoExecute", False),
        ("node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule", True),
        ("karpenter.sh/unregistered", "NoExecute", True),
        ("readiness.k8s.io/network", "NoSchedule", True),
        ("readiness.k8s.io.example.com/network", "NoSchedule", False),
        ("karpenter.sh/disrupted", "NoSchedule", False),
        ("node.kubernetes.io/memory-pressure", "NoSchedule", False),
    ],
)
def test_only_taints_of_starting_up_go_away_by_themselves(key: str, effect: Effect, goes: bool) -> None:
    assert is_ephemeral(Taint(key, effect=effect)) is goes


def test_a_taint_is_shown_as_kubectl_writes_it() -> None:
    assert (str(T1), str(T3)) == ("a=1:NoSchedule", "b:PreferNoSchedule")
