"""What holds for every handler."""

from pathlib import Path

import pytest

from tests.functions.conftest import Context, Load, Told, hint

HANDLERS = sorted(Path(__file__).parents[2].glob("functions/*/handler.py"))
VERBS = [path.parent.name for path in HANDLERS]
HINTED = ("provision", "reconcile", "disrupt")


@pytest.mark.parametrize("path", HANDLERS, ids=VERBS)
def test_a_handler_is_at_most_forty_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 40


@pytest.mark.parametrize("verb", VERBS)
def test_a_function_starts_under_its_environment(verb: str, load: Load) -> None:
    assert callable(load(verb).handler)


@pytest.mark.parametrize("verb", VERBS)
def test_a_function_whose_environment_lacks_something_says_what(
    verb: str, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NODEWRIGHT_TABLE")
    with pytest.raises(Exception, match="NODEWRIGHT_TABLE: deploy the stack again"):
        load(verb)


@pytest.mark.parametrize("verb", HINTED)
def test_what_is_no_hint_is_told_and_dropped(verb: str, load: Load, told: Told) -> None:
    handler = load(verb).handler
    for body in ("not json", "[]", "{}", '{"cluster": 3}', '{"cluster": ""}'):
        assert handler(hint(body), Context()) == {"batchItemFailures": []}
        assert f"not a hint: {body!r}" in told()


@pytest.mark.parametrize("verb", HINTED)
def test_a_hint_at_a_cluster_that_is_not_connected_is_told_and_dropped(verb: str, load: Load, told: Told) -> None:
    assert load(verb).handler(hint('{"cluster": "stranger"}'), Context()) == {"batchItemFailures": []}
    assert "nodewright connect stranger" in told()
