"""Reading one claim, in memory and on the table."""

from dataclasses import replace

import pytest

from nodewright.application.errors import NotFoundError
from nodewright.application.ports import Ledger
from nodewright.domain.claims import ClaimState
from tests.adapters.builders import claims, launch


def test_one_claim_is_read_as_it_is_stored(ledger: Ledger) -> None:
    first, second = claims("l1", 2)
    ledger.reserve("prod", 0, launch(count=2), [first, second])
    assert ledger.claim("prod", first.id) == first
    changed = ledger.save_claim("prod", replace(second, state=ClaimState.REGISTERED))
    assert ledger.claim("prod", second.id) == changed


def test_a_claim_that_is_gone_or_another_clusters_is_not_found(ledger: Ledger) -> None:
    (one,) = claims("l1", 1)
    ledger.reserve("prod", 0, launch(count=1), [one])
    with pytest.raises(NotFoundError, match=one.id):
        ledger.claim("test", one.id)
    ledger.save_claim("prod", replace(one, state=ClaimState.GONE))
    with pytest.raises(NotFoundError, match=one.id):
        ledger.claim("prod", one.id)
