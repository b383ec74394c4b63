"""Tags in selector terms."""

from collections.abc import Mapping

from nodewright.adapters.manifests.fields import Fields


def read_tag_filter(entry: Fields) -> Mapping[str, str]:
    """Tags a thing must carry; `*` as a value asks for the key alone."""
    tags = entry.pairs("tags")
    for key, value in tags.items():
        if not key or not value:
            entry.refuse(f"tags.{key}", "an empty key or value; write * for any value")
    return tags
