"""Pods that came for what was expected become those their node was bought for: it is told of them, and they of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from nodewright.application.errors import ConflictError, OutsideError
from nodewright.application.ports import Ledger, Observer
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.plans import Nomination
from nodewright.domain.pods import PodKey

#: Claims written in one run, some 5 ms each; the pods of others find their place by themselves.
MOST = 100


def adopt(
    cluster: str, ledger: Ledger, observer: Observer, claims: Sequence[NodeClaim], sent: Iterable[Nomination]
) -> int:
    """How many pods were noted. Best effort: who isn't noted is placed there all the same, but not held to it."""
    noted = 0
    for claim, pods in islice(_newcomers(claims, {each.node: each.pods for each in sent}), MOST):
        try:
            ledger.save_claim(cluster, replace(claim, nominated_pods=(*claim.nominated_pods, *pods)))
        except ConflictError:
            continue  # somebody changed it this moment; the next run notes the same
        except OutsideError as error:
            observer.problem(cluster, "adopt", str(error))
            return noted
        noted += len(pods)
    return noted


def _newcomers(
    claims: Iterable[NodeClaim], sent: Mapping[str, tuple[PodKey, ...]]
) -> Iterator[tuple[NodeClaim, tuple[PodKey, ...]]]:
    """Of nodes that were bought for expected pods and are still starting; not while their launch is being settled."""
    for claim in claims:
        starts = bool(claim.instance_id) and claim.state.precedes(ClaimState.INITIALIZED)
        if claim.expected_pods and starts and claim.retirement is None:
            pods = sent.get(claim.node_name or claim.id, ())
            fresh = tuple(pod for pod in pods if pod not in claim.nominated_pods)
            if fresh:
                yield claim, fresh
