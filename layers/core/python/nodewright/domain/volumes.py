"""Volumes: which nodes a pod's claims let it run on, and what is attached for it (karpenter-behaviour §6.10).

As kube-scheduler's plugins VolumeBinding, VolumeZone, VolumeRestrictions and NodeVolumeLimits see them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from nodewright.domain.free_volumes import NO_FREE_VOLUMES, NO_PROVISIONER, FreeVolumes
from nodewright.domain.nodes import NAME_FIELD
from nodewright.domain.pods import EBS_DRIVER, Attachment, ClaimTemplate, Pod, PodKey
from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.storage import ANYWHERE, PersistentVolume, PersistentVolumeClaim, Storage, StorageClass

ONE_POD_ONLY: Final = "ReadWriteOncePod"


def with_volumes(pods: Iterable[Pod], storage: Storage) -> tuple[Pod, ...]:
    """The same pods, with `volume_nodes`, `attachments` and `problems` of their volumes."""
    every = tuple(pods)
    if not any(pod.claim_names for pod in every):
        return every
    look = _Look(storage, every)
    return tuple(look.at(pod) if pod.claim_names else pod for pod in every)


def attached(storage: Storage) -> Mapping[str, frozenset[Attachment]]:
    """Node → what is attached there, for pods that are gone, too: a volume counts until it is detached."""
    known = {volume.name: volume.attachment for volume in storage.volumes or ()}
    found: defaultdict[str, set[Attachment]] = defaultdict(set)
    for each in storage.attachments:
        found[each.node].add(known.get(each.volume) or Attachment(each.driver, each.volume))
    return {node: frozenset(some) for node, some in found.items()}


def free_volumes(pods: Iterable[Pod], storage: Storage) -> FreeVolumes:
    """What their claims may have of volumes that people made."""
    every = tuple(pods)
    return _Look(storage, every).free if any(pod.claim_names for pod in every) else NO_FREE_VOLUMES


#: More places than this of one pod's volumes are not looked at.
_MOST_ALTERNATIVES: Final = 64
_AGAIN: Final = "run `nodewright connect` again to grant it"


@dataclass(frozen=True, slots=True)
class _Place:
    """What one claim means for a pod."""

    nodes: tuple[Requirements, ...] = ANYWHERE
    attachments: frozenset[Attachment] = frozenset()
    problem: str = ""


class _Look:
    """One reading of a cluster's storage, by name."""

    def __init__(self, storage: Storage, pods: Sequence[Pod]) -> None:
        self._unlisted = ", ".join(
            kind
            for kind, listed in (
                ("PersistentVolumeClaims", storage.claims),
                ("PersistentVolumes", storage.volumes),
                ("StorageClasses", storage.classes),
            )
            if listed is None
        )
        self._claims = {(claim.namespace, claim.name): claim for claim in storage.claims or ()}
        self._volumes = {volume.name: volume for volume in storage.volumes or ()}
        self._classes = {each.name: each for each in storage.classes or ()}
        self._places: dict[tuple[str, ClaimTemplate | str], _Place] = {}
        self._holders = self._users(pods)
        self.free = self._free(pods)

    def at(self, pod: Pod) -> Pod:
        """The pod with what its claims mean."""
        made = {template.name: template for template in pod.claim_templates}
        places = {name: self._place(pod.key.namespace, made.get(name, name)) for name in pod.claim_names}
        problems = [f"spec.volumes: claim {name} {place.problem}" for name, place in places.items() if place.problem]
        problems += self._held(pod)
        nodes = _everywhere_at_once([place.nodes for place in places.values()])
        if not nodes and not problems:
            problems.append(_apart(places))
        return replace(
            pod,
            volume_nodes=nodes,
            attachments=pod.attachments.union(*(place.attachments for place in places.values())),
            problems=(*pod.problems, *problems),
        )

    def _place(self, namespace: str, wanted: ClaimTemplate | str) -> _Place:
        key = (namespace, wanted)
        known = self._places.get(key)
        if known is None:
            known = self._places[key] = self._find(namespace, wanted)
        return known

    def _find(self, namespace: str, wanted: ClaimTemplate | str) -> _Place:
        if self._unlisted:
            return _Place(problem=f"can't be looked up, as {self._unlisted} may not be listed; {_AGAIN}")
        name = wanted if isinstance(wanted, str) else wanted.name
        claim = self._claims.get((namespace, name))
        if claim is None and isinstance(wanted, ClaimTemplate):
            claim = _to_come(namespace, wanted)
        if claim is None:
            return _Place(problem=f"doesn't exist; create PersistentVolumeClaim {namespace}/{name} or correct the name")
        return self._of_claim(claim)

    def _of_claim(self, claim: PersistentVolumeClaim) -> _Place:
        if claim.deleting:
            return _Place(problem="is being deleted; create it anew when it is gone")
        if claim.lost:
            return _Place(problem=f"has lost its volume {claim.volume}; restore the volume or create the claim anew")
        return self._of_volume(claim) if claim.bound else self._of_class(claim)

    def _of_volume(self, claim: PersistentVolumeClaim) -> _Place:
        volume = self._volumes.get(claim.volume)
        if volume is None:
            return _Place(problem=f"is bound to PersistentVolume {claim.volume}, which doesn't exist; restore it")
        if not volume.nodes:
            return _Place(problem=f"is bound to PersistentVolume {volume.name}, whose nodeAffinity no node can meet")
        return _Place(volume.nodes, frozenset(() if volume.attachment is None else (volume.attachment,)))

    def _of_class(self, claim: PersistentVolumeClaim) -> _Place:
        """Not bound yet: only a class that waits for the pod's node leaves us a choice."""
        storage_class = self._class_of(claim)
        if storage_class is None and claim.storage_class:
            return _Place(
                problem=f"names StorageClass {claim.storage_class}, which doesn't exist; create or correct it"
            )
        if storage_class is None or claim.volume:
            return _Place(problem=_waiting_for_a_volume(claim))
        if not storage_class.waits:
            return _Place(problem=_waiting_for_a_provisioner(storage_class))
        if claim.selected_node:
            here = Requirements((Requirement.of(NAME_FIELD, "In", (claim.selected_node,)),))
            return _Place((here,), _to_be_attached(claim, storage_class))
        if _waits_for_a_free_one(claim, storage_class):
            return self._of_free_volumes(claim, storage_class)
        return _Place(storage_class.topologies, _to_be_attached(claim, storage_class))

    def _of_free_volumes(self, claim: PersistentVolumeClaim, storage_class: StorageClass) -> _Place:
        nodes = _merged(alternative for volume in self._suiting(claim, storage_class) for alternative in volume.nodes)
        if not nodes:
            return _Place(
                problem=f"waits for a free PersistentVolume of class {storage_class.name} that suits; create one"
            )
        if self.free.lacking(str(claim)):
            taken = f"waits for a free PersistentVolume of class {storage_class.name}"
            return _Place(problem=f"{taken}: others have claimed all that suit; create one more")
        return _Place(nodes, self.free.attachments(str(claim)))

    def _suiting(self, claim: PersistentVolumeClaim, storage_class: StorageClass) -> list[PersistentVolume]:
        return [volume for volume in self._volumes.values() if _suits(volume, claim, storage_class)]

    def _free(self, pods: Iterable[Pod]) -> FreeVolumes:
        """For all claims of these that wait for one that people made."""
        names = {(pod.key.namespace, template.name): template for pod in pods for template in pod.claim_templates}
        wanted = {(pod.key.namespace, name) for pod in pods for name in pod.claim_names}
        suiting: dict[str, frozenset[str]] = {}
        for key in sorted(wanted):
            claim = self._claims.get(key) or (_to_come(key[0], names[key]) if key in names else None)
            of = None if claim is None else self._class_of(claim)
            if claim is None or of is None or not _waits_for_a_free_one(claim, of):
                continue
            volumes = frozenset(volume.name for volume in self._suiting(claim, of))
            if volumes:
                suiting[str(claim)] = volumes
        return FreeVolumes({name: each.nodes for name, each in self._volumes.items()}, suiting)

    def _class_of(self, claim: PersistentVolumeClaim) -> StorageClass | None:
        return self._default() if claim.storage_class is None else self._classes.get(claim.storage_class)

    def _default(self) -> StorageClass | None:
        """The newest of those marked so."""
        marked = [each for each in self._classes.values() if each.default]
        return min(marked, key=lambda each: (-each.created.timestamp(), each.name), default=None)

    def _users(self, pods: Sequence[Pod]) -> dict[tuple[str, str], PodKey]:
        """Who holds each claim that only one pod may use."""
        single = {key for key, claim in self._claims.items() if ONE_POD_ONLY in claim.access_modes}
        bound = (pod for pod in pods if single and pod.node_name and not pod.is_terminal)
        used = ((pod, (pod.key.namespace, name)) for pod in bound for name in pod.claim_names)
        return {key: pod.key for pod, key in used if key in single}

    def _held(self, pod: Pod) -> Iterable[str]:
        for name in pod.claim_names:
            holder = self._holders.get((pod.key.namespace, name), pod.key)
            if holder != pod.key:
                yield f"spec.volumes: claim {name} is {ONE_POD_ONLY} and used by {holder}; it waits for that to end"


def _to_come(namespace: str, template: ClaimTemplate) -> PersistentVolumeClaim:
    return PersistentVolumeClaim(namespace, template.name, template.storage_class)


def _waiting_for_a_volume(claim: PersistentVolumeClaim) -> str:
    if claim.volume:
        return f"waits to be bound to PersistentVolume {claim.volume}; create that, or see the claim's events"
    if claim.storage_class is None:
        return "isn't bound and has no StorageClass; set its storageClassName or mark a class as the default one"
    return "isn't bound and wants no StorageClass; create a PersistentVolume for it or set its storageClassName"


def _waiting_for_a_provisioner(storage_class: StorageClass) -> str:
    return (
        f"isn't bound yet, which class {storage_class.name} (Immediate) has {storage_class.provisioner} do before "
        "the pod may start; see the claim's events, or use a class with volumeBindingMode WaitForFirstConsumer"
    )


def _to_be_attached(claim: PersistentVolumeClaim, storage_class: StorageClass) -> frozenset[Attachment]:
    if storage_class.provisioner == NO_PROVISIONER:
        return frozenset()
    driver = EBS_DRIVER if storage_class.provisioner == "kubernetes.io/aws-ebs" else storage_class.provisioner
    return frozenset((Attachment(driver, str(claim)),))


def _waits_for_a_free_one(claim: PersistentVolumeClaim, storage_class: StorageClass) -> bool:
    settled = claim.bound or claim.volume or claim.selected_node or claim.deleting or claim.lost
    return storage_class.provisioner == NO_PROVISIONER and storage_class.waits and not settled


def _suits(volume: PersistentVolume, claim: PersistentVolumeClaim, storage_class: StorageClass) -> bool:
    kept = volume.claimed_by == str(claim) or (volume.available and not volume.claimed_by)
    fits = volume.size >= claim.size and claim.access_modes <= volume.access_modes
    return kept and fits and volume.storage_class == storage_class.name


def _everywhere_at_once(places: Iterable[tuple[Requirements, ...]]) -> tuple[Requirements, ...]:
    """Alternatives that satisfy one of each; none where volumes are apart."""
    found: tuple[Requirements, ...] = ANYWHERE
    for alternatives in places:
        if alternatives != ANYWHERE:
            both = (mine.intersect(its) for mine in found for its in alternatives)
            found = _merged(each for each in both if not any(requirement.is_empty for requirement in each.values()))
            found = found[:_MOST_ALTERNATIVES]
    return found


def _merged(alternatives: Iterable[Requirements]) -> tuple[Requirements, ...]:
    """Without duplicates; those that only list values of one same label become one."""
    lists: dict[str, frozenset[str]] = {}
    others: dict[Requirements, None] = {}
    for each in alternatives:
        key = _lone_list(each)
        if key is None:
            others[each] = None
        else:
            lists[key] = lists.get(key, frozenset()) | each[key].values
    listed = (Requirements((Requirement.of(key, "In", sorted(values)),)) for key, values in sorted(lists.items()))
    return (*listed, *others)


def _lone_list(requirements: Requirements) -> str | None:
    if len(requirements) != 1:
        return None
    (requirement,) = requirements.values()
    return None if requirement.complement or requirement.allows_absent else requirement.key


def _apart(places: Mapping[str, _Place]) -> str:
    shown = (f"{name} ({' or '.join(map(str, p.nodes))})" for name, p in places.items() if p.nodes != ANYWHERE)
    return f"spec.volumes: no node reaches all of its volumes: {', '.join(shown)}; move them to one zone"
