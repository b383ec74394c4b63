"""Volumes that people made and that nobody has yet: each serves one claim (kube-scheduler's VolumeBinding).

Claims that want the same ones count on a node like volumes that a driver attaches there: no more of them than there
are free ones within its reach. Where some claims suit fewer of them than others, both counts must hold.
"""

from collections.abc import Mapping
from typing import Final

from nodewright.domain.pods import Attachment
from nodewright.domain.requirements import Requirements

NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
"""Of classes whose volumes people make, such as local disks."""


class FreeVolumes:
    """Those that some claims could have."""

    def __init__(self, reach: Mapping[str, tuple[Requirements, ...]], suiting: Mapping[str, frozenset[str]]) -> None:
        """Volume → from where it can be reached; claim → volumes that would do."""
        self._reach = reach
        self._suiting = suiting
        self._served = _matched(suiting)
        wanted = {some: [each for each in suiting.values() if each <= some] for some in suiting.values()}
        contested = sorted(sorted(some) for some, by in wanted.items() if len(by) > 1)
        self._drivers = {frozenset(some): f"{NO_PROVISIONER}/{number}" for number, some in enumerate(contested)}

    def lacking(self, claim: str) -> bool:
        """Whether others take all that would do."""
        return claim in self._suiting and claim not in self._served

    def attachments(self, claim: str) -> frozenset[Attachment]:
        """What counts for the claim wherever its pod goes; nothing where no other wants the same."""
        mine = self._suiting.get(claim)
        if mine is None:
            return frozenset()
        return frozenset(Attachment(driver, claim) for some, driver in self._drivers.items() if mine <= some)

    def within(self, labels: Mapping[str, str]) -> Mapping[str, int]:
        """How many may count on a node of these labels."""
        return {driver: sum(self._reached(each, labels) for each in some) for some, driver in self._drivers.items()}

    def _reached(self, volume: str, labels: Mapping[str, str]) -> bool:
        return any(each.admits(labels) for each in self._reach[volume])


def _matched(suiting: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """As many claims as can each have one of its own (Kuhn's augmenting paths), the first ones rather."""
    holder: dict[str, str] = {}

    def find(claim: str, tried: set[str]) -> bool:
        for volume in sorted(suiting[claim] - tried):
            tried.add(volume)
            if volume not in holder or find(holder[volume], tried):
                holder[volume] = claim
                return True
        return False

    return frozenset(claim for claim in sorted(suiting) if find(claim, set()))


NO_FREE_VOLUMES: Final = FreeVolumes({}, {})
