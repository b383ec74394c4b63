"""Pods that a controller is about to make, known from those it made already (docs/decisions/0010).

A controller makes a thousand replicas at twenty a second. Planned one batch after the other they would come to many
small nodes; so those still missing are planned with the first ones, each like the youngest that waits.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count, islice
from typing import Final

from nodewright.domain.claims import NodeClaim
from nodewright.domain.pods import ClaimTemplate, Owner, Pod, PodKey
from nodewright.domain.storage import Storage
from nodewright.domain.workloads import Workload

#: Setting of a workload or its pods: `off`, and nothing is expected of it.
LOOK_AHEAD: Final = "nodewright.dev/look-ahead"
ON, OFF = "on", "off"
#: How long missing pods are waited for: after the last one that came none is expected, and a node that was bought for
#: some is an empty one so long after it was bought.
PATIENCE: Final = timedelta(minutes=2)
#: Whose pods can be foreseen.
KINDS: Final = frozenset({"ReplicaSet", "Job", "StatefulSet"})
#: More than this isn't foreseen of one workload at once.
MOST: Final = 5_000

#: What a controller writes on each pod for itself.
_OF_ONE_POD: Final = frozenset(
    {
        "statefulset.kubernetes.io/pod-name",
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/job-completion-index",
    }
)
#: Of which nothing can be told at a younger age.
_AT_LEAST: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Prospect:
    """A controller that was making pods lately, of which some wait."""

    namespace: str
    owner: Owner
    template: Pod
    """The youngest that waits."""
    pods: tuple[Pod, ...]
    """All it has that have not finished."""


def prospects(
    pods: Iterable[Pod], waiting: Iterable[Pod], set_aside: Collection[PodKey], now: datetime
) -> tuple[Prospect, ...]:
    """Those worth asking how many pods they want, the most active first; `waiting` are pods that want a node.

    None whose pods are gated, are set aside, can have no node or were told not to look ahead, and none that has made
    no pod for a while: its controller is stuck, done or out of quota.
    """
    templates = _templates(pod for pod in waiting if pod.key not in set_aside and not pod.problems)
    own: dict[tuple[str, str], list[Pod]] = {key: [] for key in templates}
    for pod in pods:
        if pod.owner is not None and (key := (pod.key.namespace, pod.owner.uid)) in own:
            own[key].append(pod)
    found = [
        Prospect(template.key.namespace, template.owner, template, tuple(own[key]))
        for key, template in templates.items()
        if template.owner is not None and _is_at_work(own[key], now)
    ]
    return tuple(sorted(found, key=lambda each: (-len(each.pods), each.namespace, each.owner.kind, each.owner.name)))


def expected_pods(
    prospect: Prospect, workload: Workload, taken: Collection[PodKey], storage: Storage, now: datetime
) -> tuple[Pod, ...]:
    """Those it still wants, as far as they may come while they are waited for; `taken` are names in use."""
    if workload.silent or workload.look_ahead == OFF or workload.owner.uid != prospect.owner.uid:
        return ()
    missing = min(workload.wanted - _present(prospect.pods, workload), _to_come(prospect.pods, now), MOST)
    return pods_like(prospect.template, prospect.owner.name, missing, taken, storage, now)


def pods_like(
    template: Pod, owner: str, number: int, taken: Collection[PodKey], storage: Storage, now: datetime
) -> tuple[Pod, ...]:
    """So many pods `OWNER-expected-0` …, each with volumes of its own where the template has such."""
    names = _names(template.key.namespace, owner, taken)
    return tuple(_pod(template, key, storage, now) for key in islice(names, max(0, number)))


def awaited(claim: NodeClaim, now: datetime) -> bool:
    """Whether its node still waits for pods that weren't there when it was bought.

    Headroom, too: while pods are expected it may lie elsewhere than who knows nothing of them thinks.
    """
    return bool(claim.expected_pods or claim.headroom) and now < claim.created + PATIENCE


def setting_problem(value: str) -> str:
    """What is wrong with a value of the setting, and the fix; nothing where it can be read."""
    if value in {"", ON, OFF}:
        return ""
    return f"{value!r} is not known; write {OFF} to expect no pods of it, or remove it; it counts as not set"


def _templates(waiting: Iterable[Pod]) -> Mapping[tuple[str, str], Pod]:
    """By namespace and owner."""
    found: dict[tuple[str, str], Pod] = {}
    for pod in waiting:
        if pod.owner is None or pod.owner.kind not in KINDS or not pod.owner.uid:
            continue
        key = (pod.key.namespace, pod.owner.uid)
        if key not in found or (found[key].created, found[key].key) < (pod.created, pod.key):
            found[key] = pod
    return found


def _is_at_work(pods: Sequence[Pod], now: datetime) -> bool:
    if any(pod.gated or pod.annotations.get(LOOK_AHEAD) == OFF for pod in pods):
        return False
    return any(now - pod.created < PATIENCE for pod in pods)


def _present(pods: Iterable[Pod], workload: Workload) -> int:
    return sum(workload.waits_for_the_dying or not pod.terminating for pod in pods)


def _to_come(pods: Iterable[Pod], now: datetime) -> int:
    """How many come within our patience if it goes on as it went: more would be nodes that stand empty."""
    ages = [max(_AT_LEAST, now - pod.created) for pod in pods if now - pod.created < PATIENCE]
    return int(len(ages) * (PATIENCE / max(ages))) if ages else 0


def _names(namespace: str, owner: str, taken: Collection[PodKey]) -> Iterator[PodKey]:
    keys = (PodKey(namespace, f"{owner}-expected-{number}") for number in count())
    return (key for key in keys if key not in taken)


def _pod(template: Pod, key: PodKey, storage: Storage, now: datetime) -> Pod:
    claims = tuple(_own(name, template.key.name, key.name) for name in template.claim_names)
    made = tuple(each._replace(name=_own(each.name, template.key.name, key.name)) for each in template.claim_templates)
    return replace(
        template,
        key=key,
        uid="",
        labels={name: value for name, value in template.labels.items() if name not in _OF_ONE_POD},
        created=now,
        nominated_node_name="",
        unschedulable=False,
        unschedulable_message="",
        claim_names=claims,
        claim_templates=(*made, *_claims_to_come(template, claims, made, storage)),
        stands_for="expected",
    )


def _own(claim: str, of: str, instead: str) -> str:
    """A StatefulSet's claim is called after its pod (`data-db-0`), an ephemeral volume's too (`web-x-tmp`)."""
    if claim.endswith(f"-{of}"):
        return f"{claim.removesuffix(of)}{instead}"
    return f"{instead}{claim.removeprefix(of)}" if claim.startswith(f"{of}-") else claim


def _claims_to_come(
    template: Pod, claims: Sequence[str], made: Collection[ClaimTemplate], storage: Storage
) -> Iterator[ClaimTemplate]:
    """Claims that a StatefulSet will make, of the storage class that the template's own have."""
    known = {each.name: each for each in storage.claims or () if each.namespace == template.key.namespace}
    promised = {each.name for each in made}
    for name, own in zip(template.claim_names, claims, strict=True):
        if own != name and own not in promised:
            yield ClaimTemplate(own, known[name].storage_class if name in known else None)
