from collections.abc import Iterator

import pytest

from tests.kube_scheduler.bench import Bench, bench


@pytest.fixture(scope="session")
def kube_scheduler() -> Iterator[Bench]:
    """One for all clusters."""
    with bench() as running:
        yield running
