"""The volumes of a pod that its node has to reach or to attach."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import msgspec

from nodewright.adapters.manifests.raw_specs import RawPodSpec, decoded
from nodewright.domain.pods import EBS_DRIVER, Attachment, ClaimTemplate


class _Claim(msgspec.Struct, rename="camel"):
    claim_name: str = ""


class _ClaimSpec(msgspec.Struct, rename="camel"):
    storage_class_name: str | None = None


class _ClaimTemplate(msgspec.Struct):
    spec: _ClaimSpec = msgspec.field(default_factory=_ClaimSpec)


class _Ephemeral(msgspec.Struct, rename="camel"):
    volume_claim_template: _ClaimTemplate = msgspec.field(default_factory=_ClaimTemplate)


class _Disk(msgspec.Struct):
    volume_id: str = msgspec.field(name="volumeID", default="")


class _Volume(msgspec.Struct, rename="camel"):
    name: str = ""
    persistent_volume_claim: _Claim | None = None
    ephemeral: _Ephemeral | None = None
    aws_elastic_block_store: _Disk | None = None


@dataclass(frozen=True, slots=True)
class PodVolumes:
    """What a spec's volumes need; `of` a pod its own claims are named after it."""

    claims: tuple[str, ...] = ()
    ephemeral: tuple[tuple[str, str | None], ...] = ()
    """(volume, storage class or None for the default one)."""
    attachments: frozenset[Attachment] = frozenset()
    problems: tuple[str, ...] = ()

    def templates(self, pod: str) -> tuple[ClaimTemplate, ...]:
        """The claims that Kubernetes makes for its ephemeral volumes."""
        if not self.ephemeral:
            return ()
        return tuple(ClaimTemplate(f"{pod}-{volume}", storage_class) for volume, storage_class in self.ephemeral)


NO_VOLUMES: Final = PodVolumes()


def claims_storage(spec: RawPodSpec) -> bool:
    """Whether it may: most pods don't, and a look at the bytes is enough to know."""
    text = bytes(spec.volumes)
    return b'"persistentVolumeClaim"' in text or b'"ephemeral"' in text or b'"awsElasticBlockStore"' in text


def read_volumes(spec: RawPodSpec) -> PodVolumes:
    """Names, and what is wrong with them."""
    try:
        volumes = decoded(_VOLUMES, spec.volumes, "spec.volumes")
    except ValueError as error:
        return PodVolumes(problems=(str(error),))
    return PodVolumes(
        claims=tuple(dict.fromkeys(_claims(volumes))),
        ephemeral=tuple(
            (volume.name, volume.ephemeral.volume_claim_template.spec.storage_class_name)
            for volume in volumes
            if volume.ephemeral is not None
        ),
        attachments=frozenset(
            Attachment(EBS_DRIVER, disk_id(volume.aws_elastic_block_store.volume_id))
            for volume in volumes
            if volume.aws_elastic_block_store is not None
        ),
        problems=tuple(
            f"spec.volumes[{i}].persistentVolumeClaim.claimName: it is empty; name a claim of the pod's namespace"
            for i, volume in enumerate(volumes)
            if volume.persistent_volume_claim is not None and not volume.persistent_volume_claim.claim_name
        ),
    )


def disk_id(volume: str) -> str:
    """`aws://us-east-1a/vol-1` and `vol-1` are the same disk."""
    return volume.rpartition("/")[2]


def _claims(volumes: Iterable[_Volume]) -> Iterable[str]:
    return (
        volume.persistent_volume_claim.claim_name
        for volume in volumes
        if volume.persistent_volume_claim is not None and volume.persistent_volume_claim.claim_name
    )


_VOLUMES = msgspec.json.Decoder(tuple[_Volume, ...])
