import pytest

from nodewright.adapters.manifests.label_syntax import check, key_problem, shown, value_problem


@pytest.mark.parametrize("key", ["app", "example.com/app", "a.b_c-d", "A", f"{'p' * 253}/{'n' * 63}"])
def test_keys_that_kubernetes_takes(key: str) -> None:
    assert key_problem(key) is None


@pytest.mark.parametrize(
    "key", ["", "/app", "a b", "-app", "app/", "Example.com/app", "a/b/c", "n" * 64, "p" * 254 + "/n"]
)
def test_keys_that_it_refuses(key: str) -> None:
    assert key_problem(key) is not None


@pytest.mark.parametrize("value", ["", "x", "1.2_3-4", "v" * 63])
def test_values_that_kubernetes_takes(value: str) -> None:
    assert value_problem(value) is None


@pytest.mark.parametrize("value", ["v" * 64, "a b", "-", "a/b", "é"])
def test_values_that_it_refuses(value: str) -> None:
    assert value_problem(value) is not None


def test_a_refusal_names_the_key_of_a_bad_value_and_stays_short() -> None:
    with pytest.raises(ValueError, match=r"^app: the value 'vvv.*10000 characters; at most 63") as refused:
        check("app", ["fine", "v" * 10_000])
    assert len(str(refused.value)) < 120


def test_long_texts_are_cut() -> None:
    assert shown("x" * 41) == f"'{'x' * 39}…'"
    assert shown("short") == "'short'"
