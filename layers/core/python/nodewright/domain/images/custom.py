"""Images of the user's own: nothing is added to what the class says."""

from dataclasses import dataclass

from nodewright.domain.images.family import Bootstrap, ImageQuery
from nodewright.domain.nodeclasses import AmiFamily, BlockDevice


@dataclass(frozen=True, slots=True)
class Custom:
    """The family."""

    name: AmiFamily = "Custom"
    alias: str = ""
    block_devices: tuple[BlockDevice, ...] = ()

    def queries(self, kubernetes: str, version: str) -> tuple[ImageQuery, ...]:  # noqa: ARG002
        """None: its images are found by the class's terms."""
        return ()

    def user_data(self, bootstrap: Bootstrap) -> str:
        """The class's own, verbatim: its author joins the cluster, and sets taints and kubelet's settings."""
        return bootstrap.user_data


CUSTOM = Custom()
