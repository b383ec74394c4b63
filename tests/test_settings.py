from dataclasses import fields

import pytest

from nodewright.settings import NAMES, OPTIONAL, Settings, SettingsError

ENVIRONMENT = {name: f"value of {field}" for field, name in NAMES.items()} | {"NODEWRIGHT_FUNCTION_TIMEOUT": "90"}


def test_every_field_has_a_variable_of_its_own() -> None:
    assert set(NAMES) == {field.name for field in fields(Settings)}
    assert len(set(NAMES.values())) == len(NAMES)


def test_all_variables_are_read() -> None:
    settings = Settings.from_env(ENVIRONMENT)
    assert settings.function_timeout_seconds == 90
    assert settings.table == "value of table"
    assert settings.region == "value of region"


@pytest.mark.parametrize("field", sorted(set(NAMES) - OPTIONAL))
def test_a_missing_variable_is_named_with_the_fix(field: str) -> None:
    lacking = {name: value for name, value in ENVIRONMENT.items() if name != NAMES[field]}
    with pytest.raises(SettingsError, match=f"environment lacks {NAMES[field]}: deploy the stack again"):
        Settings.from_env(lacking)


def test_an_empty_variable_is_missing() -> None:
    with pytest.raises(SettingsError, match="NODEWRIGHT_TABLE"):
        Settings.from_env({**ENVIRONMENT, "NODEWRIGHT_TABLE": ""})


def test_all_that_is_missing_is_named_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.from_env({})
    assert all(name in str(caught.value) for field, name in NAMES.items() if field not in OPTIONAL)


def test_aws_is_at_its_usual_address_unless_told_otherwise() -> None:
    usual = {name: value for name, value in ENVIRONMENT.items() if name != "AWS_ENDPOINT_URL"}
    assert Settings.from_env(usual).endpoint_url == ""
    assert Settings.from_env({**usual, "AWS_ENDPOINT_URL": "http://localhost:1"}).endpoint_url == "http://localhost:1"


@pytest.mark.parametrize("timeout", ["90s", "-1", "0", "1.5", "²"])
def test_a_timeout_that_is_no_number_of_seconds_is_named(timeout: str) -> None:
    with pytest.raises(SettingsError, match="NODEWRIGHT_FUNCTION_TIMEOUT"):
        Settings.from_env({**ENVIRONMENT, "NODEWRIGHT_FUNCTION_TIMEOUT": timeout})


def test_it_reads_this_processs_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    assert Settings.load() == Settings.from_env(ENVIRONMENT)
