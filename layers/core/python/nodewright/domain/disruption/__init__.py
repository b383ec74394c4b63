"""Nodes that may go although nothing is wrong with them: who proposes, in which order."""

from typing import Final

from nodewright.domain.disruption.emptiness import Emptiness
from nodewright.domain.disruption.expiration import Expiration
from nodewright.domain.disruption.method import Method

#: The order is policy. What must go comes before what may: an expired node that is empty goes as expired, under
#: the budget that holds expiry. Of what may go, removing comes before moving: an empty node costs nobody a restart.
METHODS: Final[tuple[Method, ...]] = (Expiration(), Emptiness())
