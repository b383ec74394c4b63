"""blockDeviceMappings of a class."""

import math

from nodewright.adapters.manifests.fields import Fields
from nodewright.domain.nodeclasses import BlockDevice
from nodewright.domain.quantities import parse_quantity

_GIB = 2**30
_TYPES = frozenset({"standard", "io1", "io2", "gp2", "sc1", "st1", "gp3"})
_UNITS = ("Gi", "G", "Ti", "T")


def read_block_devices(spec: Fields, *, bare_gib: bool = False) -> tuple[BlockDevice, ...]:
    """The mappings; none where the class leaves its disks to the image family.

    `bare_gib`: a size without a unit is in GiB, as v1alpha1's documentation had it.
    """
    devices = tuple(_read_device(entry, bare_gib=bare_gib) for entry in spec.children("blockDeviceMappings"))
    if [device.root_volume for device in devices].count(True) > 1:
        spec.refuse("blockDeviceMappings", "only one of them can have rootVolume: true")
    return devices


def _read_device(entry: Fields, *, bare_gib: bool) -> BlockDevice:
    ebs = entry.child("ebs")
    ebs.not_honoured({"volumeInitializationRate": "the snapshot is loaded at EC2's own rate"})
    device = BlockDevice(
        device_name=entry.text("deviceName"),
        volume_size_gib=_size(ebs, bare_gib=bare_gib),
        volume_type=_volume_type(ebs),
        iops=ebs.whole("iops"),
        throughput=ebs.whole("throughput"),
        encrypted=ebs.flag("encrypted"),
        kms_key_id=ebs.text("kmsKeyID"),
        snapshot_id=ebs.text("snapshotID"),
        delete_on_termination=ebs.flag("deleteOnTermination"),
        root_volume=entry.flag("rootVolume") or False,
    )
    if not device.device_name:
        entry.refuse("deviceName", "it is missing; write one like /dev/xvda")
    if device.volume_size_gib is None and not device.snapshot_id:
        ebs.refuse("volumeSize", "neither a size nor a snapshot is given; write a size like 20Gi")
    return device


def _size(ebs: Fields, *, bare_gib: bool) -> int | None:
    """In GiB, rounded up, as EC2 takes it."""
    if "volumeSize" not in ebs:
        return None
    text = ebs.text("volumeSize")
    if bare_gib and text.isdecimal():
        text += "Gi"
    try:
        size = math.ceil(parse_quantity(text) / _GIB)
    except ValueError:
        size = 0
    if size <= 0 or not text.endswith(_UNITS):
        ebs.refuse("volumeSize", f"{text!r} is not a size; write it in {', '.join(_UNITS)}, like 20Gi")
        return None
    return size


def _volume_type(ebs: Fields) -> str:
    text = ebs.text("volumeType")
    if text and text not in _TYPES:
        ebs.refuse("volumeType", f"{text!r} is not known; use one of {', '.join(sorted(_TYPES))}")
    return text
