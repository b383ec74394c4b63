"""Tells at the end what the crash matrix covered."""

import pytest

from tests.harness.matrix import Coverage

_COVERAGE = Coverage()


@pytest.fixture(scope="session")
def coverage() -> Coverage:
    return _COVERAGE


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = list(_COVERAGE.lines())
    if lines:
        terminalreporter.section("crash matrix")
        for line in lines:
            terminalreporter.write_line(line)
