"""Tags of one EC2 resource by its id: moto matches a pattern with every tag there is, for every instance it shows."""

from typing import Any

from moto.ec2.models.core import TaggedEC2Resource
from moto.ec2.models.tags import TagBackend

from sandbox.aws.patches import Patches


class Tags:
    """The same answer, without the search."""

    def install(self, patches: Patches) -> None:
        """From now on."""

        def get_tags(resource: Any) -> list[dict[str, str]]:
            if not resource.id:
                return []
            alone = TagBackend()
            if resource.id in resource.ec2_backend.tags:
                alone.tags[resource.id] = resource.ec2_backend.tags[resource.id]
            return alone.describe_tags()

        patches.replace(TaggedEC2Resource, "get_tags", get_tags)
